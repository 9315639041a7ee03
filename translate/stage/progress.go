package stage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/steno-io/steno/schema/topology"
)

// counts are a worker's, since its start.
type counts struct {
	frames, events, records, fenced, retries, parked, strays, deltas, deltasLeftOut atomic.Uint64
	reread, left, marks                                                             atomic.Uint64
	snapshots, snapshotsUsed, snapshotsIgnored, snapshotsDistrusted                 atomic.Uint64
}

// Progress is how far a worker is. Counts are since its start.
type Progress struct {
	Frames  uint64 // folded, those folded again included
	Events  uint64 // durable ones folded and not covered by a record at that time
	Records uint64 // stored by this worker
	Fenced  uint64 // records refused because the subject's last record was another
	Retries uint64 // failures that were tried again
	Parked  uint64 // captures, those parked before the start included
	Strays  uint64 // frames on subjects that are no capture's
	Deltas  uint64 // sent, heads included
	// DeltasLeftOut were too large or met a lost connection; consoles ask for the open reply instead.
	DeltasLeftOut uint64
	Reread        uint64 // frames read when a capture came into memory, beside those delivered
	Left          uint64 // captures that left memory because nobody needed them
	Marks         uint64 // stored
	Snapshots     uint64 // stored
	// SnapshotsUsed are those that a fold began from, SnapshotsIgnored those that did not fit, and
	// SnapshotsDistrusted those whose fold failed and was begun again without.
	SnapshotsUsed, SnapshotsIgnored, SnapshotsDistrusted uint64

	Partitions []PartitionProgress // by number
}

// PartitionProgress is how far a worker is with one partition. Lag is Last − Folded, in sequences of
// STENO_RAW; frames of other partitions in between are counted too, so it never says too little.
type PartitionProgress struct {
	Partition uint32
	Mark      uint64 // stream sequence up to which a worker that takes the partition need not read
	Last      uint64 // stream sequence of the partition's last frame
	Folded    uint64 // and of the last one folded, or of the mark
	Lag       uint64
	Backlog   int // bytes of events folded and not acknowledged
	Captures  int // in memory
}

// Progress asks the stream for each partition's last frame. Before Run it is empty.
func (w *Worker) Progress(ctx context.Context) (Progress, error) {
	select {
	case <-w.ready:
	default:
		return Progress{}, nil
	}
	out := Progress{
		Frames: w.counts.frames.Load(), Events: w.counts.events.Load(), Records: w.counts.records.Load(),
		Fenced: w.counts.fenced.Load(), Retries: w.counts.retries.Load(), Parked: w.counts.parked.Load(),
		Reread: w.counts.reread.Load(), Left: w.counts.left.Load(), Marks: w.counts.marks.Load(), Snapshots: w.counts.snapshots.Load(),
		SnapshotsUsed: w.counts.snapshotsUsed.Load(), SnapshotsIgnored: w.counts.snapshotsIgnored.Load(),
		SnapshotsDistrusted: w.counts.snapshotsDistrusted.Load(),
		Strays:              w.counts.strays.Load(), Deltas: w.counts.deltas.Load(), DeltasLeftOut: w.counts.deltasLeftOut.Load(),
	}
	for _, p := range w.serving.all() {
		folded := p.folded.Load() // before the question, so that lag never says too little
		last, _, err := topology.Last(ctx, w.js, topology.Raw, p.subject)
		if err != nil {
			return Progress{}, fmt.Errorf("ask progress of partition %d: %w", p.number, err)
		}
		p.mu.Lock()
		captures := len(p.captures)
		p.mu.Unlock()
		one := PartitionProgress{Partition: p.number, Mark: p.stored.Load(), Last: last.Seq, Folded: folded, Backlog: p.backlog.size(), Captures: captures}
		if last.Seq > folded {
			one.Lag = last.Seq - folded
		}
		out.Partitions = append(out.Partitions, one)
	}
	slices.SortFunc(out.Partitions, func(a, b PartitionProgress) int { return cmp.Compare(a.Partition, b.Partition) })
	return out, nil
}
