package api

import (
	"context"
	"net/http"

	"github.com/steno-io/steno/sink"
)

// hitPage is a page of hits. Indexing counts the whole ledger, and is not told where a part of it is served.
type hitPage struct {
	Hits     []sink.Hit     `json:"hits"`
	Next     string         `json:"next"`
	Indexing *sink.Indexing `json:"indexing,omitempty"`
}

func (s *Server) search(ctx context.Context, r *http.Request) ([]byte, error) {
	q, err := readQuery(r, append([]string{"q", "limit", "after"}, filterNames...), labelName)
	if err != nil {
		return nil, err
	}
	asked := sink.SearchQuery{Filter: q.filter(), Text: q.text("q"), After: q.text("after")}
	asked.Limit = q.limit(sink.DefaultHits, sink.MaxHits)
	if err := q.err(); err != nil {
		return nil, err
	}
	out := hitPage{Hits: []sink.Hit{}}
	if !s.narrow(&asked.Filter) {
		return encode(out)
	}
	page, err := s.view.Search(ctx, asked)
	if err != nil {
		return nil, err
	}
	out.Hits, out.Next = append(out.Hits, page.Hits...), page.Next
	if len(s.o.Namespaces) == 0 {
		out.Indexing = &page.Indexing
	}
	return encode(out)
}
