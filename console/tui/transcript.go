package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// transcript is one transcript on the screen: followed, or replayed.
type transcript struct {
	*shared
	width, height int

	ctx   context.Context
	end   context.CancelFunc
	in    *inflow
	page  *page
	state state

	from   uint64 // number to be opened at; 0 = the end
	opened bool
	mark   uint64    // event that was jumped to; 0 = none
	taken  time.Time // when news came last
	busy   bool      // events are being read for the page
	jumps  int       // number of the last jump; one to the end counts
	err    error     // of what was tried last
	said   string    // in answer to a key, until the next one

	asks   *prompt // a number to jump to, or what to find
	find   *find
	player *player // of a replay; nil: it is followed
}

// Messages to a transcript.
type (
	opened struct { // the transcript as it was when it was opened
		about  sink.Summary
		last   []schema.Event // up to the head
		around []schema.Event // of the number that it is opened at
		err    error
	}
	came   struct{ news news }
	ceased struct{ err error } // following
	more   struct {            // events for the page
		events []schema.Event
		err    error
	}
	jumped struct { // events around one that was not on the page
		jump   int // its number
		a      anchor
		events []schema.Event
		err    error
	}
	polled struct {
		about sink.Summary
		err   error
	}
	beat struct{}
)

func newTranscript(s *shared, about sink.Summary, seq uint64) *transcript {
	t := &transcript{shared: s, from: seq, in: newInflow(), page: newPage(about, s.look, about.Head+1)}
	t.ctx, t.end = context.WithCancel(s.crew.ctx)
	return t
}

// key is the transcript's.
func (t *transcript) key() schema.Transcript { return t.page.about.Transcript }

func (t *transcript) close() { t.end() }

func (t *transcript) typing() bool { return t.asks != nil }

func (t *transcript) resize(width, height int) {
	t.width, t.height = width, height
	t.relook()
}

// relook shows the page as it is to look now.
func (t *transcript) relook() {
	t.page.look = t.look
	t.page.look.width = max(8, t.width-1) // beside the mark
	t.page.height = max(1, t.height-len(t.foot())-1)
}

func (t *transcript) init() tea.Cmd {
	if t.player != nil {
		return tea.Batch(t.play(), t.listen(), t.tick())
	}
	return t.openNow()
}

func (t *transcript) update(msg tea.Msg) (tea.Cmd, turn) {
	switch m := msg.(type) {
	case opened:
		return t.open(m), nil
	case came:
		t.taken = time.Now()
		if !m.news.quiet {
			t.take(m.news)
		}
		return tea.Batch(t.listen(), t.fill()), nil
	case ceased:
		if m.err == nil || t.ctx.Err() != nil {
			return nil, nil
		}
		t.err = m.err
		return t.later(t.o.Poll, beat{}), nil
	case more:
		t.busy, t.err = false, m.err
		if m.err != nil {
			return nil, nil
		}
		if !t.page.insert(m.events) {
			return nil, nil // it has changed meanwhile; the next key or poll asks again
		}
		return t.fill(), nil
	case jumped:
		t.busy = false
		if m.jump != t.jumps {
			return t.fill(), nil // one has gone elsewhere since
		}
		if t.err = m.err; m.err == nil {
			t.page.around(m.events, m.a)
		}
		return t.fill(), nil
	case polled:
		t.err = m.err
		if m.err == nil {
			t.page.tell(m.about)
		}
		return tea.Batch(t.poll(), t.fill()), nil
	case beat: // follow again
		t.err = nil
		return t.follow(), nil
	case found:
		return t.foundIt(m), nil
	case stopped:
		t.player.ended, t.player.err = true, m.err
		return t.playAgain(), nil
	case tick:
		return t.tick(), nil
	case tea.MouseClickMsg:
		return t.click(m), nil
	case tea.MouseWheelMsg:
		t.page.scroll(wheel(m))
		return t.fill(), nil
	case tea.PasteMsg, tea.KeyPressMsg:
		t.said = ""
		if t.asks != nil {
			return t.ask(msg), nil
		}
		if k, ok := m.(tea.KeyPressMsg); ok {
			return t.press(k.String())
		}
	}
	return nil, nil
}

func (t *transcript) open(m opened) tea.Cmd {
	if m.err != nil {
		t.err = m.err
		return t.crew.command(t.ctx, func(ctx context.Context) tea.Msg {
			wait(ctx, t.o.Poll)
			return t.openNow()()
		})
	}
	t.err, t.opened = nil, true
	first := m.about.Head + 1
	if len(m.last) > 0 {
		first = m.last[0].StoreSeq
	}
	t.page = newPage(m.about, t.look, first)
	t.page.live().events = m.last
	t.relook()
	if t.from > 0 {
		t.mark = t.from
		if m.around != nil {
			t.page.around(m.around, anchor{seq: t.from})
		} else {
			t.page.jump(anchor{seq: t.from})
		}
	}
	return tea.Batch(t.follow(), t.listen(), t.poll(), t.fill())
}

func (t *transcript) take(n news) {
	t.state = n.state
	if n.anew {
		t.mark = 0
	}
	t.page.add(n)
}

// jump shows an event, and reads it first where the page does not have it.
func (t *transcript) jump(a anchor) tea.Cmd {
	a.seq = max(1, min(a.seq, t.page.head()))
	t.mark = a.seq
	t.jumps++
	if t.page.has(a.seq) {
		t.page.jump(a)
		return t.fill()
	}
	t.busy = true
	key, jump := t.key(), t.jumps
	return t.crew.command(t.ctx, func(ctx context.Context) tea.Msg {
		m := jumped{jump: jump, a: a}
		m.events, m.err = readAround(ctx, t.o.Ledger, key, a.seq)
		return to{t, m}
	})
}
