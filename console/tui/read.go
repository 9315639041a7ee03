package tui

import (
	"context"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// read reads events behind a number: at most limit, and no more when they get large.
func read(ctx context.Context, r sink.Reader, key schema.Transcript, after uint64, limit int) ([]schema.Event, error) {
	var out []schema.Event
	bytes := 0
	for e, err := range r.Events(ctx, key, after, limit) {
		if err != nil {
			return nil, err
		}
		event, err := schema.DecodeEvent(e.Bytes)
		if err != nil {
			return nil, fmt.Errorf("read event %d of %s: %w", e.Seq, key, err)
		}
		event.StoreSeq = e.Seq
		out = append(out, event)
		if bytes += len(e.Bytes); bytes > readBytes {
			break
		}
	}
	return out, nil
}

// readSpan reads the events behind after and before a number: the last of them where they are too large.
func readSpan(ctx context.Context, r sink.Reader, key schema.Transcript, after, before uint64) ([]schema.Event, error) {
	var out []schema.Event
	bytes := 0
	if before <= after+1 {
		return nil, nil
	}
	for e, err := range r.Events(ctx, key, after, int(before-after-1)) {
		if err != nil {
			return nil, err
		}
		event, err := schema.DecodeEvent(e.Bytes)
		if err != nil {
			return nil, fmt.Errorf("read event %d of %s: %w", e.Seq, key, err)
		}
		event.StoreSeq = e.Seq
		out = append(out, event)
		for bytes += weight(&event); len(out) > 1 && bytes > readBytes; out = out[1:] {
			bytes -= weight(&out[0])
		}
	}
	return out, nil
}
