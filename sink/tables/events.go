package tables

import (
	"iter"
	"math"

	"github.com/steno-io/steno/sink"
)

// A page of events is read at once, so that a reader who takes his time holds up nobody: no
// transaction stays open while he thinks. The event that reaches PageBytes is its last.
const (
	pageEvents = 512
	PageBytes  = 4 << 20
)

// Events reads the events above a number page by page; page appends at most limit of them to dst, as they are at one
// moment. Where the next one is not there, and one behind it is, dropped is asked for the piece that it is in, nil if it
// was not dropped: that ends them with a *sink.DroppedError. It is asked behind the page, so that what is dropped
// meanwhile is no gap. The last event of a transcript is never dropped: a page with nothing on it is the end, and
// nothing is asked.
func Events(
	after uint64, limit int, page func(dst []sink.Event, after uint64, limit int) ([]sink.Event, error), dropped func(seq uint64) (*sink.Dropped, error),
) iter.Seq2[sink.Event, error] {
	return func(yield func(sink.Event, error) bool) {
		left := limit
		if limit <= 0 {
			left = math.MaxInt
		}
		events := make([]sink.Event, 0, min(left, pageEvents))
		after := after
		for left > 0 && after < math.MaxInt64 { // no number is higher
			var err error
			if events, err = page(events[:0], after, min(left, pageEvents)); err != nil {
				yield(sink.Event{}, err)
				return
			}
			if len(events) == 0 {
				return
			}
			if events[0].Seq > after+1 {
				piece, err := dropped(after + 1)
				if err == nil && piece != nil {
					err = &sink.DroppedError{Dropped: *piece}
				}
				if err != nil {
					yield(sink.Event{}, err)
					return
				}
			}
			left -= len(events)
			after = events[len(events)-1].Seq
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// ScanEvents appends events, each a row of its number and bytes, until a page is full. Bytes are
// read by scan, which gives what is the caller's.
func ScanEvents(dst []sink.Event, rows Rows, scan func(seq *int64, event *[]byte) error) ([]sink.Event, error) {
	for size := 0; size < PageBytes && rows.Next(); {
		var e sink.Event
		var seq int64
		if err := scan(&seq, &e.Bytes); err != nil {
			return nil, err
		}
		e.Seq = uint64(seq)
		dst, size = append(dst, e), size+len(e.Bytes)
	}
	return dst, rows.Err()
}
