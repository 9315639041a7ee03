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
// order of (added_at, id), below the cursor's, at most Limit+1 of them.
type Page struct {
	Limit     int
	Added, ID int64 // the cursor
}

// ReadQuery reads what is asked for.
func ReadQuery(q sink.Query) (Page, error) {
	p := Page{Limit: q.Limit, Added: math.MaxInt64, ID: math.MaxInt64}
	if p.Limit <= 0 || p.Limit > sink.MaxPage {
		p.Limit = sink.MaxPage
	}
	if q.After == "" {
		return p, nil
	}
	added, id, _ := strings.Cut(q.After, ".")
	var err error
	p.Added, err = strconv.ParseInt(added, 10, 64)
	if err == nil {
		p.ID, err = strconv.ParseInt(id, 10, 64)
	}
	if err != nil {
		return Page{}, fmt.Errorf("read page cursor %q: %w", q.After, err)
	}
	return p, nil
}

// Scan reads the page's rows. The one beyond the limit only says that there is more.
func (p Page) Scan(rows Rows) (sink.Page, error) {
	var page sink.Page
	var last *sink.Transcript
	for rows.Next() {
		s, t, err := scanSummary(rows)
		if err != nil {
			return sink.Page{}, err
		}
		if len(page.Transcripts) == p.Limit {
			page.Next = fmt.Sprintf("%d.%d", last.AddedAt.UnixNano(), last.ID)
			break
		}
		page.Transcripts, last = append(page.Transcripts, s), t
	}
	return page, rows.Err()
}
