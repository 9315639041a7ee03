package api

import (
	"context"
	"net/http"
	"strconv"
)

// Bounds of a page of events or frames. It ends once it has so many bytes, however few entries those are.
const (
	usualEntries = 200
	maxEntries   = 1000
	maxPageBytes = 4 << 20
)

// entries is a page of events or frames in the making: {"<name>":[…],"next_after":n,"head_seq":n}.
type entries struct {
	body  []byte
	after uint64 // the last one on the page, or where it began
	n     int
	limit int
}

func newEntries(name string, after uint64, limit int) *entries {
	return &entries{body: append(append([]byte(`{"`), name...), `":[`...), after: after, limit: limit}
}

// add puts an entry on the page and reports whether another one has a place.
func (e *entries) add(seq uint64, data []byte) bool {
	if e.n > 0 {
		e.body = append(e.body, ',')
	}
	e.body, e.after = append(e.body, data...), seq
	e.n++
	return e.n < e.limit && len(e.body) < maxPageBytes
}

// close gives the page. More may have been stored than head says, which was read first.
func (e *entries) close(head uint64) []byte {
	e.body = append(e.body, `],"next_after":`...)
	e.body = strconv.AppendUint(e.body, e.after, 10)
	e.body = append(e.body, `,"head_seq":`...)
	if e.n > 0 {
		head = max(head, e.after)
	}
	e.body = strconv.AppendUint(e.body, head, 10)
	return append(e.body, '}', '\n')
}

// pageNames are the parameters of such a page.
var pageNames = []string{"after", "limit", "last"}

func (s *Server) events(ctx context.Context, r *http.Request) ([]byte, error) {
	q, err := readQuery(r, pageNames)
	if err != nil {
		return nil, err
	}
	t, err := s.find(ctx, r, s.o.Ledger)
	if err != nil {
		return nil, err
	}
	page := newEntries("events", q.from(t.Head), q.limit(usualEntries, maxEntries))
	if err := q.err(); err != nil {
		return nil, err
	}
	for e, err := range s.o.Ledger.Events(ctx, t.Transcript, page.after, page.limit) {
		if err != nil {
			return nil, err
		}
		if !page.add(e.Seq, e.Bytes) {
			break
		}
	}
	return page.close(t.Head), nil
}
