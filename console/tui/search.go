package tui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/sink"
)

// search finds what was said, in all transcripts.
type search struct {
	*shared
	width, height int

	ctx  context.Context
	end  context.CancelFunc
	line *prompt

	asked int    // number of the last question
	text  string // of what is shown
	hits  []sink.Hit
	next  string
	now   sink.Indexing
	busy  bool
	err   error

	at, first int // hits: chosen, and seen first
}

// answered is what a search gave.
type answered struct {
	asked int
	text  string
	more  bool // behind the hits that are there
	page  sink.HitPage
	err   error
}

// settled says that nobody has typed for a moment.
type settled struct{ asked int }

const (
	searchTop = 2 // row of the screen at which hits begin
	hitRows   = 3 // of a hit
	typePause = 150 * time.Millisecond
)

func newSearch(s *shared) *search {
	x := &search{shared: s, line: &prompt{label: "search "}}
	x.ctx, x.end = context.WithCancel(s.crew.ctx)
	return x
}

func (x *search) init() tea.Cmd            { return nil }
func (x *search) close()                   { x.end() }
func (x *search) typing() bool             { return true }
func (x *search) resize(width, height int) { x.width, x.height = width, height }

func (x *search) update(msg tea.Msg) (tea.Cmd, turn) {
	switch m := msg.(type) {
	case settled:
		if m.asked == x.asked {
			return x.ask(""), nil
		}
	case answered:
		x.take(m)
	case tea.MouseWheelMsg:
		x.move(wheel(m) / wheelLines)
		return x.fill(), nil
	case tea.PasteMsg:
		return x.edit(msg), nil
	case tea.KeyPressMsg:
		return x.press(m)
	}
	return nil, nil
}

func (x *search) press(k tea.KeyPressMsg) (tea.Cmd, turn) {
	switch k.String() {
	case "esc":
		return nil, back{}
	case "down", "ctrl+n":
		x.move(1)
	case "up", "ctrl+p":
		x.move(-1)
	case "pgdown":
		x.move(x.room())
	case "pgup":
		x.move(-x.room())
	case "enter":
		if x.text != x.line.text && strings.TrimSpace(x.line.text) != "" {
			return x.ask(""), nil
		}
		if x.at < len(x.hits) {
			h := x.hits[x.at]
			return nil, openAt{about: h.Summary, seq: h.Seq}
		}
	default:
		return x.edit(k), nil
	}
	return x.fill(), nil
}

// edit takes what is typed, and asks once nobody has typed for a moment.
func (x *search) edit(msg tea.Msg) tea.Cmd {
	if !x.line.edit(msg) {
		return nil
	}
	x.asked++
	asked := x.asked
	return x.crew.command(x.ctx, func(ctx context.Context) tea.Msg {
		wait(ctx, typePause)
		return to{x, settled{asked}}
	})
}

// ask searches, or for what is behind a cursor.
func (x *search) ask(next string) tea.Cmd {
	x.asked++
	m := answered{asked: x.asked, text: x.line.text, more: next != ""}
	if m.more {
		m.text = x.text
	}
	if strings.TrimSpace(m.text) == "" {
		x.text, x.hits, x.next, x.err = m.text, nil, "", nil
		return nil
	}
	x.busy = true
	return x.crew.command(x.ctx, func(ctx context.Context) tea.Msg {
		m.page, m.err = x.o.Ledger.Search(ctx, sink.SearchQuery{Text: m.text, After: next})
		return to{x, m}
	})
}

func (x *search) take(m answered) {
	if m.asked != x.asked {
		return
	}
	x.busy, x.err, x.text = false, m.err, m.text
	if m.err != nil {
		x.hits, x.next = nil, ""
		return
	}
	if !m.more {
		x.hits, x.at, x.first = nil, 0, 0
	}
	x.hits = append(x.hits, m.page.Hits...)
	x.next, x.now = m.page.Next, m.page.Indexing
}

// room is how many hits are seen.
func (x *search) room() int { return max(1, (x.height-searchTop-1)/hitRows) }

func (x *search) move(by int) {
	x.at = max(0, min(x.at+by, len(x.hits)-1))
	x.first = max(0, max(min(x.first, x.at), x.at-x.room()+1))
}

func (x *search) fill() tea.Cmd {
	if x.busy || x.next == "" || x.at+2*x.room() < len(x.hits) {
		return nil
	}
	return x.ask(x.next)
}

func (x *search) view() []string {
	rows := []string{row(x.width, " "+x.line.view(x.width-1), ""), ""}
	for i := x.first; i < len(x.hits) && i < x.first+x.room(); i++ {
		rows = append(rows, x.hit(&x.hits[i], i == x.at)...)
	}
	return append(sheet(rows, x.height-1), row(x.width, " "+x.words(), paint(dim, "Enter open · Esc back ")))
}

// hit is a hit's rows: of what transcript, what was said, and a blank one.
func (x *search) hit(h *sink.Hit, chosenOne bool) []string {
	about := strconv.FormatUint(h.Seq, 10) + "  " + render.Line(render.Speaker(*h))
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
	if len(h.Matches) > 0 && render.Columns(render.Line(h.Snippet[:h.Matches[0][0]])) > width*2/3 {
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
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(render.Visible(text))
}

func (x *search) words() string {
	var words []string
	switch {
	case errors.Is(x.err, sink.ErrNoWords):
		words = append(words, "type a word; \"words in quotation marks\" follow one another")
	case x.err != nil:
		return paint(bad, "cannot search: "+render.Line(x.err.Error()))
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
