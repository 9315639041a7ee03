package topology

import (
	"strconv"
	"time"
)

// Mark is a partition's low-water mark, a key of STENO_PARKED: each frame of the partition up to it is
// covered by an acknowledged record or a stored snapshot, or its capture is parked. It is a hint: one that
// is too low costs work, and one that does not fit the streams is not used. Record is the newest one that
// was acknowledged then: where the stream has another one there, or none, it has lost records, perhaps
// those that the mark counted on. So neither message may be purged while a mark names it.
type Mark struct {
	Writer string `json:"writer"` // whoever stored it; another one on each taking of a partition
	Frame  Place  `json:"frame"`
	Record Place  `json:"record"`
}

// Place is a message of a stream, as a mark names it; sequence 0 is before the first.
type Place struct {
	Created time.Time `json:"created"` // of the stream
	Seq     uint64    `json:"seq"`
	Chain   string    `json:"chain"`
}

// MarkKey is the key of a partition's mark, which is no identity's.
func MarkKey(partition uint32) string { return "low." + strconv.FormatUint(uint64(partition), 10) }
