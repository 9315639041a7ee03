//go:build unfenced

package stage

import "github.com/nats-io/nats.go/jetstream"

// fenced leaves the fence away. Only the fault suite builds this: it must find what then goes wrong.
func fenced(uint64) []jetstream.PublishOpt { return nil }
