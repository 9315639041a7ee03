package stage

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// Options make a Worker. JS and Catalogue must be set; the zero value of the rest is the default.
type Options struct {
	JS        jetstream.JetStream
	Catalogue *translate.Catalogue
	// Partitions that the worker owns; nil is all of the streams'.
	Partitions []uint32
	// Leases share the partitions with other workers instead; nil: those above are owned.
	Leases *Leases
	// InFlight is how many captures commit at the same time; 0 is 64.
	InFlight int
	// Backlog bounds, for each partition, the bytes of events folded and not yet acknowledged; above
	// it the partition's frames wait. 0 is 8 MiB. One frame's events may exceed it.
	Backlog int
	// SnapshotEvery is after how many frames a capture's next snapshot is due; 0 is 10,000.
	SnapshotEvery int
	// IdleAfter is when a capture that nobody needs leaves memory, in steps of MarkEvery; 0 is 5 minutes.
	IdleAfter time.Duration
	// MarkEvery is how often the low-water mark of a partition is stored if it has moved; 0 is 2 seconds.
	MarkEvery time.Duration
	// Returned is for a capture whose snapshot cannot be used. nil: such a capture is parked.
	Returned Returned
	Log      zerolog.Logger
}

// Returned gives a capture's frames from first to last out of the archive that they were given back to. An error
// that wraps topology.ErrAway is tried again; any other parks the capture.
type Returned func(ctx context.Context, id schema.Identity, first, last uint64) iter.Seq2[schema.Frame, error]

// Leases make a worker one of several.
type Leases struct {
	Worker string        // a token, unlike every other worker's
	TTL    time.Duration // of a lease that is not renewed; 0: lease.DefaultTTL
}

// Bounds of a record of several frames; a record of one frame may exceed them.
const (
	maxRecordEvents = 2000
	maxRecordBytes  = schema.MaxInline
)

const (
	defaultInFlight = 64
	defaultBacklog  = 8 << 20

	defaultSnapshotEvery = 10_000
	defaultIdleAfter     = 5 * time.Minute
	defaultMarkEvery     = 2 * time.Second
)

func (o Options) withDefaults() (Options, error) {
	if o.JS == nil {
		return o, fmt.Errorf("make stage worker: no JetStream")
	}
	if o.Catalogue == nil {
		return o, fmt.Errorf("make stage worker: no catalogue of translators")
	}
	if o.InFlight < 0 || o.Backlog < 0 {
		return o, fmt.Errorf("make stage worker: in flight %d, backlog %d: want 0 or more", o.InFlight, o.Backlog)
	}
	if o.SnapshotEvery < 0 || o.IdleAfter < 0 || o.MarkEvery < 0 {
		return o, fmt.Errorf("make stage worker: snapshot every %d frames, idle after %s, mark every %s: want 0 or more",
			o.SnapshotEvery, o.IdleAfter, o.MarkEvery)
	}
	if o.SnapshotEvery == 0 {
		o.SnapshotEvery = defaultSnapshotEvery
	}
	if o.IdleAfter == 0 {
		o.IdleAfter = defaultIdleAfter
	}
	if o.MarkEvery == 0 {
		o.MarkEvery = defaultMarkEvery
	}
	if o.InFlight == 0 {
		o.InFlight = defaultInFlight
	}
	if o.Backlog == 0 {
		o.Backlog = defaultBacklog
	}
	return o, nil
}

// owned lists the worker's partitions of n, each once.
func (o Options) owned(n uint32) ([]uint32, error) {
	if o.Partitions == nil {
		all := make([]uint32, n)
		for p := range all {
			all[p] = uint32(p)
		}
		return all, nil
	}
	seen := map[uint32]bool{}
	for _, p := range o.Partitions {
		if p >= n || seen[p] {
			return nil, fmt.Errorf("own partition %d: want each of 0 to %d at most once", p, n-1)
		}
		seen[p] = true
	}
	return o.Partitions, nil
}
