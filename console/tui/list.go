package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/steno-io/steno/sink"
)

// slowAfter is when the list says that it is not answered.
const slowAfter = 3 * time.Second

// list is the transcripts, the newest first.
type list struct {
	*shared
	width, height int

	query sink.Filter
	words *prompt // that a row must have, nil if there is no such filter
	edits bool    // they are being typed
	all   bool    // connections and empty ones too

	listing       // that was read
	kept    *kept // by the filter; nil = to be looked for
	read    bool  // once
	err     error
	now     time.Time // when they were read
	asked   int       // number of the last reading
	waits   bool      // for it
	slow    bool      // it has no answer yet, for a while

	at    int    // row that is chosen
	key   string // its key; empty = the first, whichever it is
	first int    // row that is seen
}

// listed is what a reading of the list gave.
type listed struct {
	asked  int
	anew   bool // what there is goes
	pieces []piece
	err    error
	now    time.Time
}

// listSlow says that a reading takes long.
type listSlow struct{ asked int }

// listDue says that the list is to be read again.
type listDue struct{ asked int }

func newList(s *shared) *list { return &list{shared: s} }

func (l *list) init() tea.Cmd { return l.ask(true, "") }

func (l *list) close() {}

func (l *list) typing() bool { return l.edits }

func (l *list) resize(width, height int) { l.width, l.height = width, height }

// ask reads the list at some cuts. What an earlier reading gives is not taken any more.
func (l *list) ask(anew bool, cuts ...string) tea.Cmd {
	l.asked, l.waits = l.asked+1, true
	asked, q := l.asked, sink.Query{Filter: l.query, Limit: listPage}
	return tea.Batch(l.later(slowAfter, listSlow{asked}), l.crew.command(l.crew.ctx, func(ctx context.Context) tea.Msg {
		got := listed{asked: asked, anew: anew, now: time.Now()}
		for _, q.After = range cuts {
			page, err := l.o.Ledger.Transcripts(ctx, q)
			if err != nil {
				got.err = err
				break
			}
			got.pieces = append(got.pieces, piece{q.After, page})
		}
		return to{l, got}
	}))
}

// later sends a message to the list after a while.
func (l *list) later(d time.Duration, msg tea.Msg) tea.Cmd {
	return l.crew.command(l.crew.ctx, func(ctx context.Context) tea.Msg {
		wait(ctx, d)
		return to{l, msg}
	})
}

// wait waits, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (l *list) update(msg tea.Msg) (tea.Cmd, turn) {
	switch m := msg.(type) {
	case listed:
		return l.take(m), nil
	case listDue:
		if m.asked != l.asked {
			return nil, nil // another reading is on its way
		}
		return l.poll(), nil
	case listSlow:
		l.slow = l.slow || m.asked == l.asked && l.waits
	case tea.MouseWheelMsg:
		l.move(wheel(m))
		return l.fill(), nil
	case tea.MouseClickMsg:
		if i := l.first + m.Y - listTop; m.Y >= listTop && i < len(l.left()) && m.Y < l.height-1 {
			if i == l.at {
				return nil, l.open()
			}
			l.move(i - l.at)
		}
		return nil, nil
	case tea.PasteMsg, tea.KeyPressMsg:
		if l.edits {
			return l.edit(msg), nil
		}
		if k, ok := m.(tea.KeyPressMsg); ok {
			return l.press(k.String())
		}
	}
	return nil, nil
}

func (l *list) take(m listed) tea.Cmd {
	if m.asked != l.asked {
		return nil
	}
	l.err, l.read, l.waits, l.slow = m.err, true, false, false
	took := time.Since(m.now)
	if m.err == nil {
		if m.anew {
			l.listing = listing{}
		}
		kept := l.kept
		for _, p := range m.pieces {
			if after, more := l.rest(); m.anew || !more || p.after != after {
				kept = nil // it was kept of other rows
			}
			l.listing.take(p)
		}
		l.kept, l.now = kept, m.now
		l.settle()
	}
	if cmd := l.fill(); cmd != nil && m.err == nil {
		return cmd
	}
	return l.later(max(l.o.Poll, 10*took), listDue{l.asked}) // longer, where reading takes long
}

// settle finds the chosen row again.
func (l *list) settle() {
	left := l.left()
	if l.key != "" {
		if i := slices.IndexFunc(left, func(s sink.Summary) bool { return s.Key == l.key }); i >= 0 {
			l.at = i
		}
	} else {
		l.at = 0
	}
	l.at = max(0, min(l.at, len(left)-1))
	l.see()
}

// fill reads more where the rows do not reach.
func (l *list) fill() tea.Cmd {
	after, more := l.rest()
	if !more || l.waits || l.first+2*l.height < len(l.left()) {
		return nil
	}
	return l.ask(false, after)
}

// poll reads again what may be new, and what is seen.
func (l *list) poll() tea.Cmd {
	if len(l.cuts) == 0 {
		return l.ask(true, "")
	}
	at := l.sift().at
	return l.ask(false, l.again(at[min(l.first, len(at)):min(l.first+l.height, len(at))])...)
}

// after is the next one of a ring.
func after[T comparable](ring []T, now T) T {
	return ring[(slices.Index(ring, now)+1)%len(ring)]
}
