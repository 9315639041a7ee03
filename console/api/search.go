package api

import (
	"context"
	"net/http"

	"github.com/steno-io/steno/sink"
)

func (s *Server) search(ctx context.Context, r *http.Request) ([]byte, error) {
	q, err := readQuery(r, append([]string{"q", "limit", "after"}, filterNames...), labelName)
	if err != nil {
		return nil, err
	}
	asked := sink.SearchQuery{Filter: q.filter(), Text: q.text("q"), After: q.text("after")}
	limit := q.limit(sink.DefaultHits, sink.MaxHits)
	if err := q.err(); err != nil {
		return nil, err
	}
	out := sink.HitPage{Hits: []sink.Hit{}}
	if !s.narrow(&asked.Filter) {
		return encode(out)
	}
	out.Hits, out.Next, err = gather(limit, asked.After, func(n int, after string) ([]sink.Hit, string, error) {
		asked.Limit, asked.After = n, after
		p, err := s.o.Search.Search(ctx, asked)
		out.Indexing = p.Indexing
		return p.Hits, p.Next, err
	}, func(h sink.Hit) bool { return s.serves(h.Summary.Transcript.Namespace) })
	if err != nil {
		return nil, err
	}
	return encode(out)
}
