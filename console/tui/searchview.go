package tui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/sink"
)

func (x *search) view() []string {
	rows := []string{row(x.width, " "+x.line.view(x.width-1), ""), ""}
	for i := x.first; i < len(x.hits) && i < x.first+x.room(); i++ {
		rows = append(rows, x.hit(&x.hits[i], i == x.at)...)
	}
	return append(sheet(rows, x.height-1), row(x.width, " "+x.words(), paint(dim, "Enter open · Esc back ")))
}

// hit is a hit's rows: of what transcript, what was said, and a blank one.
func (x *search) hit(h *sink.Hit, chosenOne bool) []string {
	about := strconv.FormatUint(h.Seq, 10) + "  " + reading.OneLine(render.Speaker(*h))
	right := h.At.UTC().Format("2006-01-02 15:04") + " "
	title := titleOf(&h.Summary)
	mark, head := "  ", paint(bold, render.Fit(title, max(8, x.width-len(right)-render.Columns(about)-6)))+paint(dim, "  "+about)
	if chosenOne {
		mark = paint(accent, "▌ ")
	}
	return []string{row(x.width, mark+head, paint(dim, right)), mark + "  " + snippet(h, x.width-5), ""}
}

// snippet is what was said around the match, which is dressed, on one row.
func snippet(h *sink.Hit, width int) string {
	var b strings.Builder
	at := 0
	if len(h.Matches) > 0 && render.Columns(reading.OneLine(h.Snippet[:h.Matches[0][0]])) > width*2/3 {
		cut := h.Matches[0][0] // so that the match is seen
		for back := 0; cut > 0 && back < width/3; cut-- {
			if back++; h.Snippet[cut] == ' ' && back > width/6 {
				break
			}
		}
		for cut > 0 && h.Snippet[cut]&0xC0 == 0x80 {
			cut--
		}
		at = cut
		b.WriteString("…")
	}
	for _, m := range h.Matches {
		if m[0] < at || m[1] > len(h.Snippet) {
			continue
		}
		b.WriteString(visibleOne(h.Snippet[at:m[0]]) + paint(chosen, visibleOne(h.Snippet[m[0]:m[1]])))
		at = m[1]
	}
	b.WriteString(visibleOne(h.Snippet[at:]))
	return row(max(1, width), b.String(), "")
}

// visibleOne is visible text without line ends, its spaces kept.
func visibleOne(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(reading.Visible(text))
}

func (x *search) words() string {
	var words []string
	switch {
	case errors.Is(x.err, sink.ErrNoWords):
		words = append(words, "type a word; \"words in quotation marks\" follow one another")
	case x.err != nil:
		return paint(bad, "cannot search: "+reading.OneLine(x.err.Error()))
	case x.busy:
		words = append(words, "searching …")
	case strings.TrimSpace(x.text) == "":
		words = append(words, "all words must be in one event; \"in quotation marks\" they follow one another")
	default:
		count := strconv.Itoa(len(x.hits))
		if x.next != "" {
			count += "+"
		}
		words = append(words, count+plural(len(x.hits), " hit"))
	}
	if x.now.Behind > 0 {
		words = append(words, fmt.Sprintf("%d events not indexed yet", x.now.Behind))
	}
	if x.now.Failed > 0 {
		words = append(words, fmt.Sprintf("%d events cannot be found", x.now.Failed))
	}
	return paint(dim, strings.Join(words, " · "))
}

func (x *search) keys() []keyHelp { return nil }
