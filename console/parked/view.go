package parked

import (
	"context"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// View is a ledger whose transcripts are parked if their captures are, whatever the ledger says of them.
// Statuses are asked for behind that.
type View struct {
	sink.Reader
	Searcher sink.Searcher
	// Parked gives the captures that the translators have parked. The map is read only.
	Parked func(context.Context) (map[schema.Identity]bool, error)
}

// Of is the view with these captures parked.
func Of(r sink.Reader, s sink.Searcher, captures ...schema.Identity) View {
	parked := map[schema.Identity]bool{}
	for _, id := range captures {
		parked[id] = true
	}
	return View{Reader: r, Searcher: s, Parked: func(context.Context) (map[schema.Identity]bool, error) { return parked, nil }}
}

// Transcripts implements sink.Reader.
func (v View) Transcripts(ctx context.Context, q sink.Query) (sink.Page, error) {
	parked, err := v.Parked(ctx)
	if err != nil {
		return sink.Page{}, err
	}
	q.Parked = parked
	page, err := v.Reader.Transcripts(ctx, q)
	for i := range page.Transcripts {
		mark(&page.Transcripts[i], parked)
	}
	return page, err
}

// Transcript implements sink.Reader.
func (v View) Transcript(ctx context.Context, key schema.Transcript) (sink.Summary, error) {
	parked, err := v.Parked(ctx)
	if err != nil {
		return sink.Summary{}, err
	}
	s, err := v.Reader.Transcript(ctx, key)
	if err == nil {
		mark(&s, parked)
	}
	return s, err
}

// Search gives a page of hits as sink.Searcher does.
func (v View) Search(ctx context.Context, q sink.SearchQuery) (sink.HitPage, error) {
	parked, err := v.Parked(ctx)
	if err != nil {
		return sink.HitPage{}, err
	}
	q.Parked = parked
	page, err := v.Searcher.Search(ctx, q)
	for i := range page.Hits {
		mark(&page.Hits[i].Summary, parked)
	}
	return page, err
}

// mark marks a transcript if its capture is parked.
func mark(s *sink.Summary, parked map[schema.Identity]bool) {
	if parked[s.Transcript.Identity] {
		s.Status, s.IdleSince = schema.StatusParked, time.Time{}
	}
}
