package tables

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/steno-io/steno/sink"
)

// ScanSummary reads a row of CaptureColumns and TranscriptColumns.
func ScanSummary(from Row) (sink.Summary, error) {
	s, _, err := scanSummary(from)
	return s, err
}

func scanSummary(from Row) (sink.Summary, *sink.Transcript, error) {
	var cr captureRow
	var tr transcriptRow
	if err := from.Scan(append(cr.dest(), tr.dest()...)...); err != nil {
		return sink.Summary{}, nil, err
	}
	c, err := cr.capture()
	if err != nil {
		return sink.Summary{}, nil, err
	}
	t, err := tr.transcript()
	if err != nil {
		return sink.Summary{}, nil, err
	}
	return sink.Summarise(c, t), t, nil
}

// Page is a query for a page of the list: rows of CaptureColumns and TranscriptColumns in descending
// order of (added_at, id), below the cursor's.
type Page struct {
	Filter    sink.Filter
	Agents    []string // whose names the filter leaves, if it asks for one
	Limit     int
	Added, ID int64 // the cursor
}

// ReadQuery reads what is asked for.
func ReadQuery(q sink.Query) (Page, error) {
	p := Page{Filter: q.Filter, Limit: q.Limit, Added: math.MaxInt64, ID: math.MaxInt64}
	if p.Limit <= 0 || p.Limit > sink.MaxPage {
		p.Limit = sink.MaxPage
	}
	if q.After == "" {
		return p, nil
	}
	cursor, err := readCursor(q.After, 2)
	if err != nil {
		return Page{}, err
	}
	p.Added, p.ID = cursor[0], cursor[1]
	return p, nil
}

// Where adds the page's conditions.
func (p Page) Where(w *Where) {
	w.And(`(t.added_at, t.id) < (%s, %s)`, w.Arg(p.Added), w.Arg(p.ID))
	w.About(p.Filter, p.Agents)
	w.Spoken(p.Filter)
}

// leastRows is how many rows are read at once where the filter may leave few of them.
const leastRows = 256

// Read reads the page. fetch gives at most so many rows of a page, in order, to scan; it is asked again
// while the filter left too few.
func (p Page) Read(fetch func(p Page, limit int, scan func(Rows) error) error) (sink.Page, error) {
	var out sink.Page
	next := ""
	for limit := p.Limit + 1; ; limit = max(limit, leastRows) {
		n := 0
		err := fetch(p, limit, func(rows Rows) error {
			for rows.Next() && len(out.Transcripts) <= p.Limit {
				s, t, err := scanSummary(rows)
				if err != nil {
					return err
				}
				n++
				p.Added, p.ID = t.AddedAt.UnixNano(), t.ID
				if !p.Filter.Match(s) {
					continue
				}
				if out.Transcripts = append(out.Transcripts, s); len(out.Transcripts) == p.Limit {
					next = writeCursor(p.Added, p.ID)
				}
			}
			return rows.Err()
		})
		switch {
		case err != nil:
			return sink.Page{}, err
		case len(out.Transcripts) > p.Limit: // the one beyond the limit only says that there is more
			out.Transcripts, out.Next = out.Transcripts[:p.Limit], next
			return out, nil
		case n < limit:
			return out, nil
		}
	}
}

func writeCursor(numbers ...int64) string {
	var parts []string
	for _, n := range numbers {
		parts = append(parts, strconv.FormatInt(n, 10))
	}
	return strings.Join(parts, ".")
}

// readCursor reads what writeCursor wrote of so many numbers.
func readCursor(text string, count int) ([]int64, error) {
	var numbers []int64
	for part := range strings.SplitSeq(text, ".") {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read page cursor %q: %w", text, sink.ErrCursor)
		}
		numbers = append(numbers, n)
	}
	if len(numbers) != count {
		return nil, fmt.Errorf("read page cursor %q: %w", text, sink.ErrCursor)
	}
	return numbers, nil
}
