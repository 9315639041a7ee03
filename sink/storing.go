package sink

import (
	"context"
	"errors"
	"fmt"
)

// Store stores a batch in as few transactions as the database takes it in. A batch that it refuses
// is halved until the record is found that it does not take; that one's capture is parked.
// Everything else that Ledger.Store can answer is passed on, with what was stored before it.
func Store(ctx context.Context, l Ledger, b Batch) (Stored, error) {
	out, err := l.Store(ctx, b)
	if !errors.Is(err, ErrRefused) {
		return out, err
	}
	if len(b.Entries) == 1 {
		e := b.Entries[0]
		if e.Refused != nil {
			return Stored{}, fmt.Errorf("park %s at record %d: %w", e.Capture, e.Seq, err)
		}
		b.Entries = []Entry{RefusedEntry(e.Capture, e.Seq, e.At, e.Digest, err)}
		return l.Store(ctx, b)
	}
	half := len(b.Entries) / 2
	first, second := b, b
	first.Entries, second.Entries = b.Entries[:half], b.Entries[half:]
	end := &first.Entries[half-1]
	first.Position.Seq, first.Position.Digest = end.Seq, end.Digest
	out, err = Store(ctx, l, first)
	if err != nil {
		return out, err
	}
	rest, err := Store(ctx, l, second)
	out.Heads = append(out.Heads, rest.Heads...)
	out.Parked = append(out.Parked, rest.Parked...)
	out.Events += rest.Events
	return out, err
}
