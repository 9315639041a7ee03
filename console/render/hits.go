package render

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Hits writes what a search found: transcript by transcript, in the order of their first hits, and in each
// in the order of the numbers. What matches is in colour.
func Hits(w io.Writer, o Options, hits []sink.Hit) error {
	p := newPage(w, o)
	for i, group := range grouped(hits) {
		if i > 0 {
			p.gap()
		}
		p.put(heading, fit(reading.Title(group[0].Summary), p.room(0)))
		p.newline()
		p.put(dim, group[0].Summary.Key)
		p.newline()
		wide := len(strconv.FormatUint(group[len(group)-1].Seq, 10))
		for _, h := range group {
			p.hit(h, wide)
		}
	}
	return p.flush()
}

func grouped(hits []sink.Hit) [][]sink.Hit {
	var groups [][]sink.Hit
	at := map[string]int{}
	for _, h := range hits {
		i, ok := at[h.Summary.Key]
		if !ok {
			i = len(groups)
			at[h.Summary.Key], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], h)
	}
	for _, g := range groups {
		slices.SortFunc(g, func(a, b sink.Hit) int { return int(int64(a.Seq) - int64(b.Seq)) })
	}
	return groups
}

// hit writes one hit; wide is how many columns its number has.
func (p *page) hit(h sink.Hit, wide int) {
	seq := strconv.FormatUint(h.Seq, 10)
	p.put(plain, body+strings.Repeat(" ", wide-len(seq)))
	p.put(name, seq)
	p.put(plain, "  ")
	s, who := speaker(h)
	at := "  " + h.At.UTC().Format("2006-01-02 15:04:05 UTC")
	p.put(s, fit(who, p.room(columns(at))))
	p.put(dim, at)
	p.newline()
	indent := body + strings.Repeat(" ", wide+2)
	p.marked(h.Snippet, h.Matches, indent)
}

// speaker says whose words a hit holds.
func speaker(h sink.Hit) (style, string) {
	switch {
	case h.Channel == schema.Thought:
		return thought, "thought"
	case h.Role == schema.User:
		return user, "user"
	case h.Role == schema.Assistant:
		return agent, "agent"
	case h.Role != "":
		return plain, strings.ToLower(string(h.Role))
	}
	switch h.Kind {
	case schema.TagToolCall, schema.TagToolState:
		return name, strings.TrimSpace("tool " + reading.OneLine(h.Tool))
	case schema.TagToolResult:
		return name, "tool's result"
	case schema.TagRaw:
		return name, "tool's edit"
	case schema.TagStop:
		return warn, "end of the turn"
	case schema.TagProgress:
		return plain, "note"
	}
	return plain, h.Kind
}

// marked writes one line of text, wrapped, with its matches in colour.
func (p *page) marked(text string, matches [][2]int, indent string) {
	p.put(plain, indent)
	for start := 0; start < len(text); {
		end := start + strings.IndexByte(text[start:]+" ", ' ')
		word := reading.Visible(text[start:end])
		if p.column > len(indent) {
			if p.width > 0 && p.column+1+columns(word) > p.width {
				p.newline()
				p.put(plain, indent)
			} else {
				p.put(spanStyle(start-1, matches), " ")
			}
		}
		for start < end {
			cut := end
			for _, m := range matches {
				for _, edge := range m {
					if start < edge && edge < cut {
						cut = edge
					}
				}
			}
			p.put(spanStyle(start, matches), reading.Visible(text[start:cut]))
			start = cut
		}
		start = end + 1
	}
	p.newline()
}

func spanStyle(at int, matches [][2]int) style {
	for _, m := range matches {
		if m[0] <= at && at < m[1] {
			return match
		}
	}
	return plain
}
