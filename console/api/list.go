package api

import (
	"context"
	"net/http"

	"github.com/steno-io/steno/sink"
)

// usualPage is how many lines a page of the list has where no limit is given.
const usualPage = 100

// listed is a page of the list.
type listed struct {
	Transcripts []sink.Summary `json:"transcripts"`
	Next        string         `json:"next"`
}

func (s *Server) list(ctx context.Context, r *http.Request) ([]byte, error) {
	q, err := readQuery(r, append([]string{"text", "limit", "after"}, filterNames...), labelName)
	if err != nil {
		return nil, err
	}
	asked := sink.Query{Filter: q.filter(), Text: q.text("text"), After: q.text("after")}
	asked.Limit = q.limit(usualPage, sink.MaxPage)
	if err := q.err(); err != nil {
		return nil, err
	}
	out := listed{Transcripts: []sink.Summary{}}
	if !s.narrow(&asked.Filter) {
		return encode(out)
	}
	page, err := s.view.Transcripts(ctx, asked)
	if err != nil {
		return nil, err
	}
	out.Transcripts, out.Next = append(out.Transcripts, page.Transcripts...), page.Next
	return encode(out)
}

// narrow makes a filter ask for what is served only, and reports whether anything is left. The ledger
// leaves out the rest: a cursor, or the time that a page takes, would tell of rows that it had read.
func (s *Server) narrow(f *sink.Filter) bool {
	f.Namespaces = s.o.Namespaces
	return f.Namespace == "" || s.serves(f.Namespace)
}

func (s *Server) transcript(ctx context.Context, r *http.Request) ([]byte, error) {
	if _, err := readQuery(r, nil); err != nil {
		return nil, err
	}
	t, err := s.find(ctx, r, s.view)
	if err != nil {
		return nil, err
	}
	return encode(&t)
}
