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

// Transcripts implements sink.Reader. A page may be shorter than its limit and have a next one.
func (v View) Transcripts(ctx context.Context, q sink.Query) (sink.Page, error) {
	parked, err := v.Parked(ctx)
	if err != nil {
		return sink.Page{}, err
	}
	if q.Limit <= 0 || q.Limit > sink.MaxPage {
		q.Limit = sink.MaxPage
	}
	status := q.Status
	q.Status = asked(status, parked)
	var page sink.Page
	page.Transcripts, page.Next, err = gather(q.Limit, q.After, func(limit int, after string) ([]sink.Summary, string, error) {
		q.Limit, q.After = limit, after
		p, err := v.Reader.Transcripts(ctx, q)
		return p.Transcripts, p.Next, err
	}, func(s *sink.Summary) bool { return marked(s, parked, status) })
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
		marked(&s, parked, "")
	}
	return s, err
}

// Search gives a page of hits as sink.Searcher does. A page may be shorter than its limit and have a next
// one.
func (v View) Search(ctx context.Context, q sink.SearchQuery) (sink.HitPage, error) {
	parked, err := v.Parked(ctx)
	if err != nil {
		return sink.HitPage{}, err
	}
	if q.Limit <= 0 {
		q.Limit = sink.DefaultHits
	}
	q.Limit = min(q.Limit, sink.MaxHits)
	status := q.Status
	q.Status = asked(status, parked)
	var page sink.HitPage
	page.Hits, page.Next, err = gather(q.Limit, q.After, func(limit int, after string) ([]sink.Hit, string, error) {
		q.Limit, q.After = limit, after
		p, err := v.Searcher.Search(ctx, q)
		page.Indexing = p.Indexing
		return p.Hits, p.Next, err
	}, func(h *sink.Hit) bool { return marked(&h.Summary, parked, status) })
	return page, err
}

// asked is the status that the ledger can be asked for: it does not know all that is parked. What it has
// with another status has that one, or is parked.
func asked(status schema.Status, parked map[schema.Identity]bool) schema.Status {
	if status == schema.StatusParked && len(parked) > 0 {
		return ""
	}
	return status
}

// marked marks a transcript, and reports whether it then has the status that is asked for; empty = any.
func marked(s *sink.Summary, parked map[schema.Identity]bool, status schema.Status) bool {
	if parked[s.Transcript.Identity] {
		s.Status, s.IdleSince = schema.StatusParked, time.Time{}
	}
	return status == "" || s.Status == status
}

// maxRounds bounds how often a page is filled up.
const maxRounds = 64

// gather reads pages until it has limit entries that are to be kept. Each page is used up, so that the
// next cursor skips and repeats nothing.
func gather[T any](limit int, after string, read func(limit int, after string) ([]T, string, error), keep func(*T) bool) (kept []T, next string, err error) {
	kept, next = []T{}, after
	for range maxRounds {
		var found []T
		if found, next, err = read(limit-len(kept), next); err != nil {
			return nil, "", err
		}
		for i := range found {
			if keep(&found[i]) {
				kept = append(kept, found[i])
			}
		}
		if len(kept) == limit || next == "" {
			break
		}
	}
	return kept, next, nil
}
