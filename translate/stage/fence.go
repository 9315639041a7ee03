//go:build !unfenced

package stage

import "github.com/nats-io/nats.go/jetstream"

// fenced makes a publish one that is refused unless the subject's last sequence is the expected one.
func fenced(last uint64) []jetstream.PublishOpt {
	return []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(last)}
}
