// Package stage folds the frames of STENO_RAW into records on STENO_EVENTS, each event once.
//
//	STENO_RAW ──consume──▶ partition ──▶ capture: check · fold ──▶ pending ──▶ committers ──▶ STENO_EVENTS
//	   ▲                                    │                                    │  fenced on the
//	   └── frames of a capture first seen   ├─▶ deltas, heads (core NATS)        │  capture's subject
//	                                        └─▶ open replies                     └─ refused: read the last
//	                                                                                record, drop what it covers
//
// A partition is one ordered, ack-less consumer, read from its low-water mark: starting too early is
// always right, since what the last record covers is folded and compared but not stored again. A capture
// is the unit of folding and of fencing. Its record is published with the sequence of the subject's last
// record, one at a time; any other worker's record is as good, since the fold is pure, and is compared
// with ours where it can be.
//
// Two things save reading frames again, and neither is trusted. A snapshot is the fold as it stood behind
// a frame, stored once the record of its last event is acknowledged; it is used only if it fits the last
// record and the frames, and a fold that began from one and fails begins again without. A mark is where
// the partition may be read from: each frame before it is covered by a record or a snapshot, or its capture
// is parked; one that does not fit the streams is not used. Hence:
//
//	killed before the record            the next worker folds the frames and stores it
//	killed between record and snapshot  it folds from the snapshot before, or from frame 1
//	killed between snapshot and mark    it reads from the mark before, and passes over what it knows
//	a snapshot, and its record lost     ahead of the last record: ignored
//	a zombie's older snapshot           refused: it is written behind another than the one that stands
//	a snapshot older than what stands   not written, even by who distrusts that one: frames are given back up to it
//	frames given back while it reads    it begins again with what stands by then; else it is parked, or folds them
//	                                    out of the archive
//	a zombie's mark                     refused: whoever takes a partition writes the key first
//	the store's tail is lost            mark and record are not where they were: the partition is taken
//	                                    anew from its first frame; until that is known nothing is folded, and
//	                                    nothing of a new past takes the place of what is to be looked for
//	another worker made records again   what a record says is compared after each reconnect, not its number
//	redriven, and the owner killed      the request is the parked key itself, and goes only when a record
//	                                    or a snapshot covers the frames that the mark has passed
//
// A record that was on its way when the store lost its tail may still be stored; then the frames that
// gave it are gone, and the capture is parked.
//
// What fails for a while (the server, the bucket) is retried until it works, and holds the partition.
// What fails in the same way on every run (a broken chain, a gap in the numbers, a panic of the fold)
// parks the capture, and that capture only.
package stage
