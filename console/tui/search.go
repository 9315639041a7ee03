package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/steno-io/steno/sink"
)

// search finds what was said, in all transcripts.
type search struct {
	*shared
	width, height int

	ctx  context.Context
	end  context.CancelFunc
	stop context.CancelFunc // ends the question that is asked
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
	x.stop = func() {}
	return x
}

func (x *search) init() tea.Cmd { return nil }

func (x *search) close() { x.end() }

func (x *search) typing() bool { return true }

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
		if (x.text != x.line.text || x.err != nil && len(x.hits) == 0 && !x.busy) && strings.TrimSpace(x.line.text) != "" {
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
	x.drop()
	asked := x.asked
	return x.crew.command(x.ctx, func(ctx context.Context) tea.Msg {
		wait(ctx, typePause)
		return to{x, settled{asked}}
	})
}

// drop ends the question that is asked: its answer is not taken any more.
func (x *search) drop() {
	x.stop()
	x.asked, x.busy = x.asked+1, false
}

// ask searches, or for what is behind a cursor.
func (x *search) ask(next string) tea.Cmd {
	x.drop()
	m := answered{asked: x.asked, text: x.line.text, more: next != ""}
	if m.more {
		m.text = x.text
	}
	if strings.TrimSpace(m.text) == "" {
		x.text, x.hits, x.next, x.err = m.text, nil, "", nil
		return nil
	}
	x.busy = true
	ctx, stop := context.WithCancel(x.ctx)
	x.stop = stop
	return x.crew.command(ctx, func(ctx context.Context) tea.Msg {
		m.page, m.err = x.o.Ledger.Search(ctx, sink.SearchQuery{Text: m.text, After: next})
		return to{x, m}
	})
}

func (x *search) take(m answered) {
	if m.asked != x.asked {
		return
	}
	x.stop()
	x.busy, x.err, x.text = false, m.err, m.text
	if m.err != nil {
		if !m.more { // of a further page: what there is stays, and the next key asks again
			x.hits, x.next = nil, ""
		}
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
