package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

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
			m.around, m.err = readAround(ctx, t.o.Ledger, key, from)
		}
		return to{t, m}
	})
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
		t.in.again()
		return to{t, ceased{t.o.Follow(ctx, key, after, t.in.take)}}
	})
}

// listen waits for what comes, and hands it out no more often than it can be drawn.
func (t *transcript) listen() tea.Cmd {
	next := t.taken.Add(time.Second / framesPerSecond)
	return t.crew.command(t.ctx, func(ctx context.Context) tea.Msg {
		select {
		case <-ctx.Done():
			return nil
		case <-t.in.ready:
		}
		wait(ctx, time.Until(next))
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
