package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/steno-io/steno/schema"
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
	limit := q.limit(usualPage, sink.MaxPage)
	if err := q.err(); err != nil {
		return nil, err
	}
	out := listed{Transcripts: []sink.Summary{}}
	if !s.narrow(&asked.Filter) {
		return encode(out)
	}
	status := asked.Status
	if status == schema.StatusParked { // the ledger does not know all of them
		asked.Status = ""
	}
	out.Transcripts, out.Next, err = gather(limit, asked.After, func(n int, after string) ([]sink.Summary, string, error) {
		asked.Limit, asked.After = n, after
		p, err := s.o.Ledger.Transcripts(ctx, asked)
		if err == nil {
			err = s.markParked(ctx, p.Transcripts)
		}
		return p.Transcripts, p.Next, err
	}, func(t sink.Summary) bool {
		return s.serves(t.Transcript.Namespace) && (status == "" || t.Status == status)
	})
	if err != nil {
		return nil, err
	}
	return encode(out)
}

// narrow makes a filter ask for what is served only, where one namespace says it, and reports whether
// anything is left.
func (s *Server) narrow(f *sink.Filter) bool {
	if f.Namespace == "" && len(s.o.Namespaces) == 1 {
		f.Namespace = s.o.Namespaces[0]
	}
	return f.Namespace == "" || s.serves(f.Namespace)
}

// maxRounds bounds how often a page is filled up; a page may be short.
const maxRounds = 64

// gather reads pages until it has limit entries that are to be kept. Each page is used up, so that the
// next cursor skips and repeats nothing.
func gather[T any](limit int, after string, read func(limit int, after string) ([]T, string, error), keep func(T) bool) (kept []T, next string, err error) {
	kept, next = []T{}, after
	for range maxRounds {
		var found []T
		if found, next, err = read(limit-len(kept), next); err != nil {
			return nil, "", err
		}
		kept = append(kept, slices.DeleteFunc(found, func(t T) bool { return !keep(t) })...)
		if len(kept) == limit || next == "" {
			break
		}
	}
	return kept, next, nil
}

func (s *Server) transcript(ctx context.Context, r *http.Request) ([]byte, error) {
	if _, err := readQuery(r, nil); err != nil {
		return nil, err
	}
	t, err := s.find(ctx, r)
	if err != nil {
		return nil, err
	}
	one := []sink.Summary{t}
	if err := s.markParked(ctx, one); err != nil {
		return nil, err
	}
	return encode(&one[0])
}
