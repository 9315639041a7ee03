package schema

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Headers of a page of an open reply.
const (
	HeaderPage  = "Steno-Page"  // number/count, from 1
	HeaderReply = "Steno-Reply" // a token that is the same on all pages of one reply
)

// MaxOpenPages bounds the pages of one open reply that a reader takes: 2 GiB of JSON.
const MaxOpenPages = 4096

// ErrOpenPage marks a page that is not one of an open reply.
var ErrOpenPage = errors.New("not a page of an open reply")

// OpenPage is one message of an open reply. The pages' data, joined, are the reply's JSON; a text or a
// value may be cut anywhere.
type OpenPage struct {
	Header map[string][]string
	Data   []byte
}

// CutOpenPages cuts an encoded reply into pages of at most MaxInline bytes, at least one. The pages
// share the reply's memory.
func CutOpenPages(reply []byte, token string) []OpenPage {
	count := max(1, (len(reply)+MaxInline-1)/MaxInline)
	pages := make([]OpenPage, 0, count)
	for n := 1; n <= count; n++ {
		size := min(len(reply), MaxInline)
		pages = append(pages, OpenPage{
			Header: map[string][]string{
				HeaderPage:  {strconv.Itoa(n) + "/" + strconv.Itoa(count)},
				HeaderReply: {token},
			},
			Data: reply[:size],
		})
		reply = reply[size:]
	}
	return pages
}

// OpenPages joins the pages of open replies. While a partition changes hands several owners may
// answer one request; their pages are told apart by the reply's token. The zero value is ready. It is
// not safe for concurrent use.
type OpenPages struct {
	replies map[string][][]byte
}

// Add takes a page, in any order, and gives the reply when it was the last one missing. A page that
// does not belong wraps ErrOpenPage.
func (p *OpenPages) Add(header map[string][]string, data []byte) (reply OpenReply, whole bool, err error) {
	get := func(name string) string {
		if v := header[name]; len(v) > 0 {
			return v[0]
		}
		return ""
	}
	token := get(HeaderReply)
	number, count, err := parsePage(get(HeaderPage))
	if err != nil || token == "" {
		return OpenReply{}, false, fmt.Errorf("read page %q of open reply %q: %w", get(HeaderPage), token, ErrOpenPage)
	}
	pages := p.replies[token]
	if pages == nil {
		pages = make([][]byte, count)
		if p.replies == nil {
			p.replies = map[string][][]byte{}
		}
		p.replies[token] = pages
	}
	if len(pages) != count {
		return OpenReply{}, false, fmt.Errorf("read page %d of open reply %q: of %d pages, others said %d: %w", number, token, count, len(pages), ErrOpenPage)
	}
	pages[number-1] = append([]byte{}, data...) // not nil, even if empty
	for _, page := range pages {
		if page == nil {
			return OpenReply{}, false, nil
		}
	}
	delete(p.replies, token)
	reply, err = DecodeOpenReply(bytes.Join(pages, nil))
	return reply, err == nil, err
}

func parsePage(s string) (number, count int, err error) {
	head, tail, ok := strings.Cut(s, "/")
	if !ok {
		return 0, 0, fmt.Errorf("want number/count")
	}
	n, err := parseNumber(head, 32)
	if err != nil {
		return 0, 0, err
	}
	c, err := parseNumber(tail, 32)
	if err != nil {
		return 0, 0, err
	}
	if n < 1 || n > c || c > MaxOpenPages {
		return 0, 0, fmt.Errorf("page %d of %d is outside 1 to %d", n, c, MaxOpenPages)
	}
	return int(n), int(c), nil
}
