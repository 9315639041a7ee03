package tables

import (
	"errors"
	"math"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/search"
)

// Place is where a hit is. Hits are in descending order of it.
type Place struct {
	At         int64 // nanoseconds since 1970; what does not fit is as near as can be
	Transcript int64 // id
	Seq        int64
}

// Hits is a query for a page of hits.
type Hits struct {
	Filter sink.Filter
	Agents []string // whose names the filter leaves, if it asks for one
	Query  search.Query
	Limit  int
	Below  Place // the cursor
}

// ReadSearch reads what is asked for.
func ReadSearch(q sink.SearchQuery) (Hits, error) {
	h := Hits{Filter: q.Filter, Limit: q.Limit, Below: Place{math.MaxInt64, math.MaxInt64, math.MaxInt64}}
	var err error
	if h.Query, err = search.Parse(q.Text); err != nil {
		return Hits{}, err
	}
	if h.Limit <= 0 {
		h.Limit = sink.DefaultHits
	}
	h.Limit = min(h.Limit, sink.MaxHits)
	if q.After != "" {
		cursor, err := readCursor(q.After, 3)
		if err != nil {
			return Hits{}, err
		}
		h.Below = Place{cursor[0], cursor[1], cursor[2]}
	}
	return h, nil
}

// Where adds the page's conditions on a place, whose columns are named at, transcript and seq.
// transcripts is the query of their ids, joined with captures.
func (h Hits) Where(w *Where, at, transcript, seq, transcripts string) {
	w.And(`(%s, %s, %s) < (%s, %s, %s)`, at, transcript, seq, w.Arg(h.Below.At), w.Arg(h.Below.Transcript), w.Arg(h.Below.Seq))
	if !h.Filter.Since.IsZero() {
		w.And(`%s >= %s`, at, w.Arg(nanoseconds(h.Filter.Since)))
	}
	if !h.Filter.Until.IsZero() {
		w.And(`%s < %s`, at, w.Arg(nanoseconds(h.Filter.Until)))
	}
	about := Where{Dialect: w.Dialect, Args: w.Args}
	about.About(h.Filter, h.Agents)
	if len(about.conditions) > 0 {
		w.Args = about.Args
		w.And(`%s IN (%s WHERE %s)`, transcript, transcripts, about.String())
	}
}

// Source is what a page of hits is read from, at one moment.
type Source interface {
	// Places gives at most so many places of a page, in order.
	Places(h Hits, limit int) ([]Place, error)
	// Summary gives a transcript's line; sink.ErrNotFound if there is none.
	Summary(transcript int64) (sink.Summary, error)
	// Event gives an event's bytes; sink.ErrNotFound if there is none.
	Event(p Place) ([]byte, error)
	// Dropped tells in which archive an event is that was dropped, as a piece of it alone: a page may have hundreds, and
	// the digests of a whole piece are 128 KiB. nil if it was not.
	Dropped(p Place, key schema.Transcript) (*sink.Dropped, error)
}

// mostPlaces is how many places are read at once.
const mostPlaces = 10_000

// Read reads the page.
func (h Hits) Read(from Source) (sink.HitPage, error) {
	out := sink.HitPage{Hits: []sink.Hit{}}
	summaries := map[int64]sink.Summary{}
	next := ""
	for limit := h.Limit + 1; ; limit = min(4*limit, mostPlaces) { // the filter left too few
		places, err := from.Places(h, limit)
		if err != nil {
			return sink.HitPage{}, err
		}
		for _, p := range places {
			h.Below = p
			summary, ok := summaries[p.Transcript]
			if !ok {
				if summary, err = from.Summary(p.Transcript); errors.Is(err, sink.ErrNotFound) {
					continue
				} else if err != nil {
					return sink.HitPage{}, err
				}
				summaries[p.Transcript] = summary
			}
			if !h.Filter.About(summary) {
				continue
			}
			if len(out.Hits) == h.Limit { // there is more
				out.Next = next
				return out, nil
			}
			hit, err := h.hit(from, p, summary)
			if errors.Is(err, sink.ErrNotFound) {
				continue
			}
			if err != nil {
				return sink.HitPage{}, err
			}
			out.Hits, next = append(out.Hits, hit), writeCursor(p.At, p.Transcript, p.Seq)
		}
		if len(places) < limit {
			return out, nil
		}
	}
}

// hit reads the event at a place. What was dropped is left to whoever has the archive.
func (h Hits) hit(from Source, p Place, summary sink.Summary) (sink.Hit, error) {
	hit := sink.Hit{Summary: summary, Seq: uint64(p.Seq), At: time.Unix(0, p.At).UTC(), Matches: [][2]int{}}
	bytes, err := from.Event(p)
	if errors.Is(err, sink.ErrNotFound) {
		piece, lost := from.Dropped(p, summary.Transcript)
		switch {
		case lost != nil:
			return sink.Hit{}, lost
		case piece == nil:
			return sink.Hit{}, err
		}
		hit.Dropped = piece
		return hit, nil
	}
	if err != nil {
		return sink.Hit{}, err
	}
	return hit, search.Read(&hit, h.Query, bytes)
}

// Words is what an index takes of a stored event: nothing where At is 0 and Texts are nil.
type Words struct {
	Place
	Texts search.Texts
}

// ReadWords reads a stored event of a transcript for its index. What cannot be read says so, and what says
// nothing has no texts.
func ReadWords(m *search.Memory, transcript, seq int64, event []byte) (Words, error) {
	w := Words{Place: Place{Transcript: transcript, Seq: seq}}
	if search.Silent(event) {
		return w, nil
	}
	e, err := schema.DecodeEvent(event)
	if err != nil {
		return w, err
	}
	w.At = nanoseconds(e.EmittedAt)
	tool, _ := search.Tool(&e)
	w.Texts = m.Fresh(transcript, tool, search.Of(&e))
	return w, nil
}

// Bounds of what nanoseconds since 1970 can say: from 1677 to 2262.
var earliest, latest = time.Unix(0, math.MinInt64), time.Unix(0, math.MaxInt64)

// nanoseconds since 1970, or those of the nearest time that there is.
func nanoseconds(t time.Time) int64 {
	switch {
	case t.Before(earliest):
		return math.MinInt64
	case t.After(latest):
		return math.MaxInt64
	}
	return t.UnixNano()
}
