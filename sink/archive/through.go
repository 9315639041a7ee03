package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/search"
)

// Kept is a ledger that is read.
type Kept interface {
	sink.Reader
	sink.Auditor
	sink.Searcher
	io.Closer
}

// Through is a ledger that reads what it has dropped in the archives that have it: nobody need know what is where.
type Through struct {
	Kept
	Dropped *Dropped
}

// Events implements sink.Reader.
func (t Through) Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error] {
	return t.Dropped.Through(ctx, t.Kept, key, after, limit)
}

// Search implements sink.Searcher.
func (t Through) Search(ctx context.Context, q sink.SearchQuery) (sink.HitPage, error) {
	page, err := t.Kept.Search(ctx, q)
	if err == nil {
		err = t.Dropped.complete(ctx, q.Text, page.Hits)
	}
	if err != nil {
		return sink.HitPage{}, err
	}
	return page, nil
}

// Through gives a transcript's events as sink.Reader does, those that the ledger has dropped out of the archive.
// Events may be dropped while they are read.
func (r *Dropped) Through(ctx context.Context, l interface {
	Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error]
}, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error] {
	return func(yield func(sink.Event, error) bool) {
		after, left := after, limit
		give := func(e sink.Event, err error) bool {
			if !yield(e, err) || err != nil {
				return false
			}
			after, left = e.Seq, left-1
			return limit <= 0 || left > 0
		}
		for {
			var dropped *sink.DroppedError
			for e, err := range l.Events(ctx, key, after, max(left, 0)) {
				if errors.As(err, &dropped) {
					break
				}
				if !give(e, err) {
					return
				}
			}
			if dropped == nil {
				return
			}
			for e, err := range r.Events(ctx, dropped.Dropped, after+1) {
				if !give(e, err) {
					return
				}
			}
		}
	}
}

// complete fills in what hits say of events that were dropped.
func (r *Dropped) complete(ctx context.Context, text string, hits []sink.Hit) error {
	q, err := search.Parse(text)
	if err != nil {
		return err
	}
	for i := range hits {
		h := &hits[i]
		if h.Dropped == nil {
			continue
		}
		for e, err := range r.Events(ctx, *h.Dropped, h.Seq) {
			if err == nil {
				err = search.Read(h, q, e.Bytes)
			}
			if err != nil {
				return fmt.Errorf("read what was found: %w", err)
			}
			break
		}
		h.Dropped = nil
	}
	return nil
}
