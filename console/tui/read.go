package tui

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// read reads events behind a number: at most limit, and no more when they get large.
func read(ctx context.Context, r sink.Reader, key schema.Transcript, after uint64, limit int) ([]schema.Event, error) {
	var out []schema.Event
	bytes := 0
	for e, err := range decoded(ctx, r, key, after, limit) {
		if err != nil {
			return nil, err
		}
		out = append(out, e)
		if bytes += weight(&e); bytes > readBytes {
			break
		}
	}
	return out, nil
}

// readSpan reads the events behind after and before a number: the last of them where they are too large.
func readSpan(ctx context.Context, r sink.Reader, key schema.Transcript, after, before uint64) ([]schema.Event, error) {
	if before <= after+1 {
		return nil, nil
	}
	var out []schema.Event
	bytes, left := 0, 0
	for e, err := range decoded(ctx, r, key, after, int(before-after-1)) {
		if err != nil {
			return nil, err
		}
		out = append(out, e)
		for bytes += weight(&e); left < len(out)-1 && bytes > readBytes; left++ {
			bytes -= weight(&out[left])
			out[left] = schema.Event{} // its bytes are let go at once
		}
	}
	return slices.Clone(out[left:]), nil
}

// readAround reads what is around a number, which is among it however large the events are.
func readAround(ctx context.Context, r sink.Reader, key schema.Transcript, seq uint64) ([]schema.Event, error) {
	const above = readEvents / 3
	before, err := readSpan(ctx, r, key, seq-min(seq, above+1), seq)
	if err != nil {
		return nil, err
	}
	behind, err := read(ctx, r, key, seq-min(seq, 1), readEvents-above)
	return append(before, behind...), err
}

// decoded gives events behind a number, at most limit, with their numbers.
func decoded(ctx context.Context, r sink.Reader, key schema.Transcript, after uint64, limit int) iter.Seq2[schema.Event, error] {
	return func(yield func(schema.Event, error) bool) {
		for e, err := range r.Events(ctx, key, after, limit) {
			if err != nil {
				yield(schema.Event{}, err)
				return
			}
			event, err := schema.DecodeEvent(e.Bytes)
			if err != nil {
				yield(event, fmt.Errorf("read event %d of %s: %w", e.Seq, key, err))
				return
			}
			event.StoreSeq = e.Seq
			if !yield(event, nil) {
				return
			}
		}
	}
}
