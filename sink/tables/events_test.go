package tables_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/tables"
)

// TestNothingIsAskedWhereNothingIsDropped counts what reading a transcript asks the database: a follower that looks
// whether something is new asks once.
func TestNothingIsAskedWhereNothingIsDropped(t *testing.T) {
	all := []sink.Event{{Seq: 1}, {Seq: 2}, {Seq: 3}}
	piece := &sink.Dropped{First: 1, Last: 1}
	for name, tt := range map[string]struct {
		there         []sink.Event
		after         uint64
		limit         int
		dropped       *sink.Dropped
		want          []uint64
		pages, asked  int
		endsWithPiece bool
	}{
		"nothing is new":                 {there: all, after: 3, pages: 1},
		"no transcript":                  {pages: 1},
		"beyond the head":                {there: all, after: 9, pages: 1},
		"to the head":                    {there: all, want: []uint64{1, 2, 3}, pages: 2},
		"as many as are asked for":       {there: all, after: 1, limit: 1, want: []uint64{2}, pages: 1},
		"behind what was dropped":        {there: all[1:], after: 1, dropped: piece, want: []uint64{2, 3}, pages: 2},
		"nothing new behind it":          {there: all[1:], after: 3, dropped: piece, pages: 1},
		"what was dropped":               {there: all[1:], dropped: piece, pages: 1, asked: 1, endsWithPiece: true},
		"what somebody took out of it":   {there: all[1:], want: []uint64{2, 3}, pages: 2, asked: 1},
		"taken out, and at most so many": {there: all[1:], limit: 1, want: []uint64{2}, pages: 1, asked: 1},
	} {
		pages, asked := 0, 0
		page := func(dst []sink.Event, after uint64, limit int) ([]sink.Event, error) {
			pages++
			for _, e := range tt.there {
				if e.Seq > after && len(dst) < limit {
					dst = append(dst, e)
				}
			}
			return dst, nil
		}
		dropped := func(seq uint64) (*sink.Dropped, error) {
			asked++
			require.EqualValues(t, 1, seq, name)
			return tt.dropped, nil
		}
		var got []uint64
		var last error
		for e, err := range tables.Events(tt.after, tt.limit, page, dropped) {
			if last = err; err == nil {
				got = append(got, e.Seq)
			}
		}
		require.True(t, slices.Equal(tt.want, got), "%s: %v", name, got)
		require.Equal(t, [2]int{tt.pages, tt.asked}, [2]int{pages, asked}, name)
		var is *sink.DroppedError
		require.Equal(t, tt.endsWithPiece, last != nil, name)
		if tt.endsWithPiece {
			require.ErrorAs(t, last, &is, name)
		}
	}
}
