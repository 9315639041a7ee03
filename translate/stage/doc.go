// Package stage folds the frames of STENO_RAW into records on STENO_EVENTS, each event once.
//
//	STENO_RAW ──consume──▶ partition ──▶ capture: check · fold ──▶ pending ──▶ committers ──▶ STENO_EVENTS
//	   ▲                                    │                                    │  fenced on the
//	   └── frames of a capture first seen   ├─▶ deltas, heads (core NATS)        │  capture's subject
//	                                        └─▶ open replies                     └─ refused: read the last
//	                                                                                record, drop what it covers
//
// A partition is one ordered, ack-less consumer, read from the stream's first message: starting too
// early is always right, since what the last record covers is folded and compared but not stored
// again. A capture is the unit of folding and of fencing. Its record is published with the sequence
// of the subject's last record, one at a time; any other worker's record is as good, since the fold
// is pure, and is compared with ours where it can be.
//
// What fails for a while (the server, the bucket) is retried until it works, and holds the partition.
// What fails in the same way on every run (a broken chain, a gap in the numbers, a panic of the fold)
// parks the capture, and that capture only.
package stage
