package tui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// pageOfRows gives a page of rows, whose cursors are the keys of the last ones.
func pageOfRows(rows []sink.Summary, after string) (p sink.Page) {
	from := slices.IndexFunc(rows, func(s sink.Summary) bool { return s.Key == after }) + 1
	p.Transcripts = slices.Clone(rows[from:min(len(rows), from+listPage)])
	if from+listPage < len(rows) {
		p.Next = rows[from+listPage-1].Key
	}
	return p
}

// TestAListThatGrowsIsReadInPieces reads pieces again in any order while rows come, and compares what is
// there with the ledger.
func TestAListThatGrowsIsReadInPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var rows []sink.Summary
	come := func(n int) {
		newer := make([]sink.Summary, n)
		for i := range newer {
			newer[i].Key = strconv.Itoa(len(rows) + n - i)
		}
		rows = append(newer, rows...)
	}
	come(3210)
	var g listing
	read := func(after string) { g.take(piece{after, pageOfRows(rows, after)}) }
	for range 500 {
		switch n := random.IntN(10); {
		case n < 3:
			come(random.IntN(40))
		case n == 3 && random.IntN(20) == 0:
			come(listPage + 7) // more than are read at once
		case n < 6:
			if after, more := g.rest(); more {
				read(after)
			}
		default:
			var seen []int
			if len(g.rows) > 0 {
				at := random.IntN(len(g.rows))
				seen = []int{at, min(at+20, len(g.rows)-1)}
			}
			asked := g.again(seen)
			require.LessOrEqual(t, len(asked), 3)
			for _, after := range asked {
				read(after)
			}
		}
		if len(g.rows) > 0 {
			at := slices.IndexFunc(rows, func(s sink.Summary) bool { return s.Key == g.rows[0].Key })
			require.GreaterOrEqual(t, at, 0)
			require.LessOrEqual(t, at+len(g.rows), len(rows))
			for i := range g.rows {
				if rows[at+i].Key != g.rows[i].Key {
					t.Fatalf("row %d is %s, not %s", i, g.rows[i].Key, rows[at+i].Key)
				}
			}
		}
		require.LessOrEqual(t, len(g.cuts), 2*len(g.rows)/listPage+4)
	}
	read("")
	for after, more := g.rest(); more; after, more = g.rest() {
		read(after)
	}
	require.Len(t, g.rows, len(rows))
}

func TestRowsThatChangeAreSeen(t *testing.T) {
	rows := make([]sink.Summary, 1700)
	for i := range rows {
		rows[i].Key = fmt.Sprint(i)
	}
	var g listing
	for after, more := g.rest(); more; after, more = g.rest() {
		g.take(piece{after, pageOfRows(rows, after)})
	}
	rows[1234].Title = "new"
	for _, after := range g.again([]int{1230, 1250}) {
		g.take(piece{after, pageOfRows(rows, after)})
	}
	require.Equal(t, "new", g.rows[1234].Title)
	g.take(piece{"", sink.Page{}})
	require.Empty(t, g.rows)
	_, more := g.rest()
	require.False(t, more)
}

func TestAFilterReadsEveryRowOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rows = 20 * listPage
		s := newShelf(slices.Repeat([]string{"Sacks"}, rows)...)
		s.rows[rows-1].Title = "Bread"
		x := newStage(t, s, 80, 20, nil)
		x.until("500+ transcripts")
		before := s.given()
		x.keys("/", "b", "r", "e", "a", "d", "enter")
		x.until("1 transcript ", "Bread")
		x.untilThat(func(string) bool { return !x.m.list.waits }, "all is read")
		require.LessOrEqual(t, s.given()-before, rows+4*listPage)
		before = s.given()
		for range 5 { // what is seen stays so
			s.mu.Lock()
			s.rows[rows-1].Status = map[bool]schema.Status{true: schema.StatusOpen, false: schema.StatusEnded}[s.rows[rows-1].Status == schema.StatusEnded]
			want := string(s.rows[rows-1].Status) + "  "
			s.mu.Unlock()
			x.until(want)
		}
		require.LessOrEqual(t, s.given()-before, 5*6*listPage)
		x.keys("esc")
		x.until("500+ transcripts")
	})
}
