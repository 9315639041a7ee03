package tables

import (
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// DroppedColumns are those that ScanDropped reads; d is dropped.
const DroppedColumns = `d.first, d.last, d.archive, d.seal, d.digests`

// ScanDropped reads a row of DroppedColumns of a transcript.
func ScanDropped(from Row, key schema.Transcript) (*sink.Dropped, error) {
	d := sink.Dropped{Transcript: key}
	var first, last, seal int64
	if err := from.Scan(&first, &last, &d.Archive, &seal, &d.Digests); err != nil {
		return nil, err
	}
	d.First, d.Last, d.Seal = uint64(first), uint64(last), uint64(seal)
	return &d, nil
}

// Errors of dropping.
var (
	// ErrDroppedAlready ends a transaction that has nothing to do.
	ErrDroppedAlready = errors.New("dropped already")
	// ErrNotIndexed ends a transaction that would take away what is not indexed yet.
	ErrNotIndexed = errors.New("not indexed yet")
)

// MayDrop checks a piece against what is kept of its transcript.
func MayDrop(d *sink.Dropped, t *sink.Transcript) error {
	if err := d.Check(); err != nil {
		return err
	}
	switch {
	case d.Last <= t.Dropped:
		return ErrDroppedAlready
	case d.First != t.Dropped+1:
		return fmt.Errorf("events %d to %d: the next to be dropped is %d", d.First, d.Last, t.Dropped+1)
	case d.Last >= t.Head:
		return fmt.Errorf("events %d to %d: the last one, %d, stays", d.First, d.Last, t.Head)
	}
	return nil
}
