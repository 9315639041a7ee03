package tui

import (
	"context"
	"strconv"
	"strings"
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
	mark   uint64 // event that was jumped to; 0 = none
	busy   bool   // events are being read for the page
	err    error  // of what was tried last
	said   string // in answer to a key, until the next one

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

// openNow reads where it stands, its end, and what is around the number that it is opened at.
func (t *transcript) openNow() tea.Cmd {
	key, from := t.key(), t.from
	return t.crew.command(t.ctx, func(ctx context.Context) tea.Msg {
		m := opened{}
		if m.about, m.err = t.o.Ledger.Transcript(ctx, key); m.err != nil {
			return to{t, m}
		}
		head := m.about.Head
		if m.last, m.err = readSpan(ctx, t.o.Ledger, key, head-min(head, readEvents), head+1); m.err != nil {
			return to{t, m}
		}
		if from > 0 && (len(m.last) == 0 || from < m.last[0].StoreSeq) {
			m.around, m.err = t.readAround(ctx, key, from)
		}
		return to{t, m}
	})
}

// readAround reads what is around a number.
func (t *transcript) readAround(ctx context.Context, key schema.Transcript, seq uint64) ([]schema.Event, error) {
	return read(ctx, t.o.Ledger, key, seq-min(seq, readEvents/3), readEvents)
}

// later sends a message to the transcript after a while.
func (t *transcript) later(d time.Duration, msg tea.Msg) tea.Cmd {
	return t.crew.command(t.ctx, func(ctx context.Context) tea.Msg {
		wait(ctx, d)
		return to{t, msg}
	})
}

// follow follows it behind what the page has.
func (t *transcript) follow() tea.Cmd {
	key, after := t.key(), t.page.head()
	return t.crew.command(t.ctx, func(ctx context.Context) tea.Msg {
		return to{t, ceased{t.o.Follow(ctx, key, after, t.in.take)}}
	})
}

// listen waits for what comes, and hands it out no more often than it can be drawn.
func (t *transcript) listen() tea.Cmd {
	return t.crew.command(t.ctx, func(ctx context.Context) tea.Msg {
		select {
		case <-ctx.Done():
			return nil
		case <-t.in.ready:
		}
		wait(ctx, time.Second/framesPerSecond)
		return to{t, came{t.in.news()}}
	})
}

func (t *transcript) poll() tea.Cmd {
	key := t.key()
	return t.crew.command(t.ctx, func(ctx context.Context) tea.Msg {
		wait(ctx, t.o.Poll)
		var m polled
		m.about, m.err = t.o.Ledger.Transcript(ctx, key)
		return to{t, m}
	})
}

// fill reads what is missing for going on.
func (t *transcript) fill() tea.Cmd {
	if t.busy || !t.opened {
		return nil
	}
	after, before, ok := t.page.missing()
	if !ok {
		return nil
	}
	t.busy = true
	key := t.key()
	up := t.page.segments[t.page.begin(t.page.firstSeen().segment)].first == before
	return t.crew.command(t.ctx, func(ctx context.Context) tea.Msg {
		var m more
		if up {
			m.events, m.err = readSpan(ctx, t.o.Ledger, key, after, before)
		} else {
			m.events, m.err = read(ctx, t.o.Ledger, key, after, int(min(readEvents, before-after-1)))
		}
		return to{t, m}
	})
}

func (t *transcript) update(msg tea.Msg) (tea.Cmd, turn) {
	switch m := msg.(type) {
	case opened:
		return t.open(m), nil
	case came:
		t.take(m.news)
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
		t.page.insert(m.events)
		return t.fill(), nil
	case jumped:
		t.busy, t.err = false, m.err
		if m.err == nil {
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
		if t.ctx.Err() == nil {
			t.err = m.err
		}
		return nil, nil
	case tick:
		return t.tick(), nil
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
	if t.page.has(a.seq) {
		t.page.jump(a)
		return t.fill()
	}
	t.busy = true
	key := t.key()
	return t.crew.command(t.ctx, func(ctx context.Context) tea.Msg {
		m := jumped{a: a}
		m.events, m.err = t.readAround(ctx, key, a.seq)
		return to{t, m}
	})
}

func (t *transcript) press(key string) (tea.Cmd, turn) {
	if t.player != nil && t.control(key) {
		return nil, nil
	}
	page := max(1, t.page.height-2)
	switch key {
	case "down", "j":
		t.page.scroll(1)
	case "up", "k":
		t.page.scroll(-1)
	case "pgdown", "ctrl+f", "space":
		t.page.scroll(page)
	case "pgup", "ctrl+b", "b":
		t.page.scroll(-page)
	case "ctrl+d":
		t.page.scroll(page / 2)
	case "ctrl+u":
		t.page.scroll(-page / 2)
	case "home":
		return t.jump(anchor{seq: 1}), nil
	case "end", "G":
		t.mark = 0
		t.page.toEnd()
	case ":", "g":
		t.asks = &prompt{label: ":"}
	case "/":
		t.asks = &prompt{label: "/"}
	case "n", "N":
		if t.find != nil {
			return t.findNext(key == "N"), nil
		}
		if key == "n" && t.player == nil {
			return nil, neighbour{1}
		}
	case "]":
		return nil, t.next(1)
	case "p", "[":
		return nil, t.next(-1)
	case "f":
		t.look.thoughts = !t.look.thoughts
		t.say(map[bool]string{true: "thoughts folded", false: "thoughts shown"}[t.look.thoughts])
	case "o":
		t.look.bodies = t.look.bodies.next()
		t.say(t.look.bodies.String())
	case "r":
		t.look.raw = !t.look.raw
		t.say(map[bool]string{true: "every raw record", false: "raw records only where nothing else says it"}[t.look.raw])
	case "t":
		t.look.times = !t.look.times
		t.relook()
	case "s":
		return nil, searched{}
	case "R":
		if t.player == nil {
			return nil, replayed{about: t.page.about, seq: t.here()}
		}
	case "esc":
		if t.find != nil {
			t.find = nil
			return nil, nil
		}
		return nil, back{}
	case "q":
		return nil, back{}
	}
	return t.fill(), nil
}

func (t *transcript) next(by int) turn {
	if t.player != nil {
		return nil
	}
	return neighbour{by}
}

// say answers a key that changes the look.
func (t *transcript) say(what string) {
	t.said = what
	t.relook()
}

// here is the number at which a replay begins: that of the first line that is seen, or 0 for the beginning
// where the end is.
func (t *transcript) here() uint64 {
	if t.page.atEnd {
		return 0
	}
	return t.page.anchorOf(t.page.firstSeen()).seq
}

// ask takes what is typed into the prompt.
func (t *transcript) ask(msg tea.Msg) tea.Cmd {
	k, ok := msg.(tea.KeyPressMsg)
	switch {
	case ok && k.String() == "esc":
		t.asks = nil
	case ok && k.String() == "enter":
		p := t.asks
		t.asks = nil
		if p.label == "/" {
			return t.findText(p.text)
		}
		return t.goTo(p.text)
	default:
		t.asks.edit(msg)
	}
	return nil
}

// goTo jumps to the number that was typed.
func (t *transcript) goTo(text string) tea.Cmd {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	seq, err := strconv.ParseUint(text, 10, 64)
	if err != nil || seq == 0 {
		t.said = "a number, from 1 on, such as 118"
		return nil
	}
	if head := t.page.head(); seq > head {
		t.said = "the last event has number " + strconv.FormatUint(head, 10)
	}
	return t.jump(anchor{seq: seq})
}
