package tui

import (
	"slices"

	"github.com/steno-io/steno/sink"
)

// listPage is how many rows of a list are read at a time.
const listPage = 500

// listing is the beginning of a list, as far as it was read, the newest row first. It is read in pieces,
// any of which may be read again.
type listing struct {
	rows []sink.Summary
	cuts []cut // in order; the first is the beginning, and one behind all rows says that there are more
}

// cut is a place in a list at which one can go on reading.
type cut struct {
	at    int    // rows before it
	after string // sink.Query.After
}

// piece is what was read at a cut.
type piece struct {
	after string
	page  sink.Page
}

// rest is where to go on behind all rows that were read, if there are more.
func (g *listing) rest() (after string, more bool) {
	if len(g.cuts) == 0 {
		return "", true
	}
	last := g.cuts[len(g.cuts)-1]
	return last.after, len(g.rows) > 0 && last.at == len(g.rows)
}

// again is where to read so that the beginning and these rows, by their places in order, are read again.
func (g *listing) again(rows []int) []string {
	cuts, read := []string{""}, listPage
	for _, r := range rows {
		if r < read {
			continue
		}
		i, exact := slices.BinarySearchFunc(g.cuts, r, func(c cut, at int) int { return c.at - at })
		if !exact {
			i--
		}
		cuts, read = append(cuts, g.cuts[i].after), g.cuts[i].at+listPage
	}
	return cuts
}

// take takes a piece: the order of rows is fixed, so it stands for all rows from its cut up to the last one
// that it has. Where it has none of those that were there, nobody knows what is in between, and they go.
func (g *listing) take(p piece) {
	if len(g.cuts) == 0 {
		g.cuts = []cut{{}}
	}
	i := slices.IndexFunc(g.cuts, func(c cut) bool { return c.after == p.after })
	if i < 0 {
		return // another piece had it
	}
	from := g.cuts[i].at
	behind := g.behind(from, p.page)
	by := from + len(p.page.Transcripts) - (len(g.rows) - len(behind))
	later := g.cuts[i+1:]
	g.cuts = g.cuts[: i+1 : i+1]
	if p.page.Next != "" {
		g.cuts = append(g.cuts, cut{from + len(p.page.Transcripts), p.page.Next})
	}
	for _, c := range later {
		if c.at > len(g.rows)-len(behind) && len(behind) > 0 {
			g.cuts = append(g.cuts, cut{c.at + by, c.after})
		}
	}
	g.rows = append(g.rows[:from], slices.Concat(p.page.Transcripts, behind)...)
	g.thin()
}

// behind are the rows that stay behind a page which was read from a place on.
func (g *listing) behind(from int, page sink.Page) []sink.Summary {
	if page.Next == "" {
		return nil
	}
	has := map[string]bool{}
	for _, s := range page.Transcripts {
		has[s.Key] = true
	}
	for i := len(g.rows) - 1; i >= from; i-- {
		if has[g.rows[i].Key] {
			return g.rows[i+1:]
		}
	}
	return nil
}

// thin leaves out cuts which those before them reach over.
func (g *listing) thin() {
	for i := len(g.cuts) - 2; i > 0; i-- {
		if g.cuts[i+1].at-g.cuts[i-1].at <= listPage {
			g.cuts = slices.Delete(g.cuts, i, i+1)
		}
	}
}
