// Package topology is everything that steno asks of NATS: its streams and buckets, and the ways in
// which they are read.
package topology

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
)

// The streams and buckets.
const (
	Raw    = "STENO_RAW"    // frames
	Events = "STENO_EVENTS" // records
	State  = "STENO_STATE"  // the last snapshot of each fold: a cache
	Parked = "STENO_PARKED" // key-value bucket: parked captures, low-water marks, what was given back
	Filed  = "STENO_FILED"  // key-value bucket: which capture an A2A task, or an exchange, belongs to
	Leases = "STENO_LEASES" // key-value bucket: which worker serves a partition
	Blob   = "STENO_BLOBS"  // object store: what is above schema.MaxInline
)

// partitionsKey is the number of partitions in a stream's metadata.
const partitionsKey = "steno-partitions"

// The server makes a bucket of a stream with these names.
const (
	parkedStream = "KV_" + Parked
	filedStream  = "KV_" + Filed
	leasesStream = "KV_" + Leases
	blobStream   = "OBJ_" + Blob
)

// ParkedStream is the stream of the bucket STENO_PARKED, on which each key has a subject.
const ParkedStream = parkedStream

// ParkedSubject is the subject of a key of STENO_PARKED, for a write that states what it stands behind.
func ParkedSubject(key string) string { return "$KV." + Parked + "." + key }

// ParkedKey reads such a subject.
func ParkedKey(subject string) string { return strings.TrimPrefix(subject, "$KV."+Parked+".") }

// dedupWindow is the shortest that the server takes. No message has a Nats-Msg-Id: fences, not
// windows, keep a frame from being stored twice, and a longer window only costs memory.
const dedupWindow = 100 * time.Millisecond

var (
	// ErrMissing marks a stream or bucket that does not exist: nobody has applied the topology.
	ErrMissing = errors.New("missing")
	// ErrDrifted marks a stream whose settings are not those of this package.
	ErrDrifted = errors.New("drifted")
	// ErrPartitions marks another number of partitions than the one the streams were made with.
	ErrPartitions = errors.New("the number of partitions is fixed for the streams' life")
)

// Config is what a deployment chooses.
type Config struct {
	Replicas   int    // of every stream and bucket: 1, 3 or 5; 0 is 1
	Partitions uint32 // 0 is what the streams have, or schema.Partitions for new ones
	// MaxBytes bounds STENO_RAW and STENO_EVENTS, each; 0 leaves them as they are, new ones without a
	// bound, and Unbounded takes a bound away. A full stream refuses new messages and forgets none.
	MaxBytes int64
}

// Unbounded takes the bound on bytes away.
const Unbounded int64 = -1

func (c Config) validate() error {
	switch c.Replicas {
	case 0, 1, 3, 5:
	default:
		return fmt.Errorf("check topology: %d replicas: want 1, 3 or 5", c.Replicas)
	}
	if c.MaxBytes < Unbounded {
		return fmt.Errorf("check topology: a bound of %d bytes: want 0 or more, or Unbounded", c.MaxBytes)
	}
	return nil
}

// streams is the wanted configuration of the three streams.
func (c Config) streams() []jetstream.StreamConfig {
	base := jetstream.StreamConfig{
		Retention:         jetstream.LimitsPolicy,
		Storage:           jetstream.FileStorage,
		Discard:           jetstream.DiscardNew,
		MaxConsumers:      -1,
		MaxMsgs:           -1,
		MaxBytes:          -1,
		MaxMsgsPerSubject: -1,
		MaxMsgSize:        -1,
		Duplicates:        dedupWindow,
		Replicas:          max(c.Replicas, 1),
		Metadata:          map[string]string{partitionsKey: strconv.FormatUint(uint64(c.Partitions), 10)},
	}
	raw, events, state := base, base, base

	raw.Name, raw.Subjects = Raw, []string{schema.RawSubjects}
	raw.DenyDelete, raw.AllowAtomicPublish = true, true

	events.Name, events.Subjects = Events, []string{schema.EventSubjects}
	events.DenyDelete, events.AllowAtomicPublish = true, true

	state.Name, state.Subjects = State, []string{schema.StateSubjects}
	state.MaxMsgsPerSubject = 1

	if c.MaxBytes > 0 {
		raw.MaxBytes, events.MaxBytes = c.MaxBytes, c.MaxBytes
	}
	return []jetstream.StreamConfig{raw, events, state}
}

// Difference is one setting that is not as it should be.
type Difference struct {
	Setting string `json:"setting"`
	Want    string `json:"want"`
	Got     string `json:"got"`
}

// String writes the setting with both values.
func (d Difference) String() string {
	return fmt.Sprintf("%s: want %s, got %s", d.Setting, d.Want, d.Got)
}

// Change is what Apply does to one stream or bucket: it creates it, or mends the differences.
type Change struct {
	Stream      string       `json:"stream"`
	Create      bool         `json:"create"`
	Differences []Difference `json:"differences,omitempty"`
}

// String writes the change in one line.
func (c Change) String() string {
	if c.Create {
		return "create " + c.Stream
	}
	return "update " + c.Stream + ": " + join(c.Differences)
}

func join(differences []Difference) string {
	parts := make([]string, len(differences))
	for i, d := range differences {
		parts[i] = d.String()
	}
	return strings.Join(parts, "; ")
}
