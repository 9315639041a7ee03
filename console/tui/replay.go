package tui

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

const (
	seekBy    = 5 * time.Second
	tickEvery = 100 * time.Millisecond
	maxSpeed  = 64
	minSpeed  = 1.0 / 16
)

// idles are the longest pauses that a key goes through; 0 = no limit.
var idles = []time.Duration{0, 2 * time.Second, time.Second, 200 * time.Millisecond}

// tick moves the time bar.
type tick struct{}

func newReplay(s *shared, about sink.Summary, seq uint64) *transcript {
	t := newTranscript(s, about, 0)
	t.page = newPage(about, s.look, 1)
	t.player = &player{
		in: t.in, clock: newTempo(), seek: make(chan target, 1),
		typed: func(ctx context.Context) iter.Seq2[schema.Event, error] { return s.o.Typed(ctx, about.Transcript) },
		first: about.FirstAt, last: about.LastAt, from: target{seq: seq, at: about.FirstAt},
	}
	t.opened = true
	return t
}

func (t *transcript) play() tea.Cmd {
	return t.crew.command(t.ctx, func(ctx context.Context) tea.Msg {
		return to{t, stopped{t.player.run(ctx)}}
	})
}

func (t *transcript) tick() tea.Cmd { return t.later(tickEvery, tick{}) }

// control takes the keys of a replay. One that has failed begins anew where a key goes to.
func (t *transcript) control(key string) (tea.Cmd, bool) {
	p := t.player
	c := p.clock
	switch key {
	case "space":
		if t.state.ended != nil {
			c.alter(func() { c.paused = false })
			p.to(target{at: p.first})
			break
		}
		c.alter(func() { c.paused = !c.paused })
	case ".":
		c.alter(func() { c.paused = true })
		c.step()
	case "right":
		p.to(target{at: p.clip(p.here().Add(seekBy))})
	case "left":
		p.to(target{at: p.clip(p.here().Add(-seekBy))})
	case "home", "0":
		p.to(target{at: p.first})
	case "end", "$":
		p.to(target{at: p.last.Add(time.Nanosecond)})
	case "+", "=":
		c.alter(func() { c.speed = min(maxSpeed, c.speed*2) })
	case "-":
		c.alter(func() { c.speed = max(minSpeed, c.speed/2) })
	case "i":
		p.idle = (p.idle + 1) % len(idles)
		c.alter(func() { c.idle = idles[p.idle] })
	default:
		return nil, false
	}
	t.page.toEnd()
	return t.playAgain(), true
}

// playAgain begins anew where it has failed, and is told to go somewhere.
func (t *transcript) playAgain() tea.Cmd {
	if t.player.again() {
		return t.play()
	}
	return nil
}

// click moves the time to where the bar is clicked.
func (t *transcript) click(m tea.MouseClickMsg) tea.Cmd {
	p := t.player
	if p == nil || m.Y != t.height-2 {
		return nil
	}
	edge, room := t.barRoom()
	part := float64(max(0, min(m.X-edge, room))) / float64(room)
	p.to(target{at: p.clip(p.first.Add(time.Duration(part * float64(p.last.Sub(p.first)))))})
	t.page.toEnd()
	return t.playAgain()
}

// barRoom is where the line of the time bar begins, and how wide it is.
func (t *transcript) barRoom() (edge, room int) {
	edge = len(minutes(t.player.last.Sub(t.player.first))) + 2
	return edge, max(1, t.width-2*edge)
}

// clip keeps a time inside the recording.
func (p *player) clip(at time.Time) time.Time {
	if at.Before(p.first) {
		return p.first
	}
	if at.After(p.last) {
		return p.last
	}
	return at
}

// here is the time inside the recording at which it plays, or which it goes to.
func (p *player) here() time.Time { return p.clip(p.clock.here()) }

// words say what a replay does.
func (p *player) words() (style, words string) {
	c := p.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	words = "▶ ×" + strconv.FormatFloat(c.speed, 'g', 4, 64)
	style = good
	if c.paused {
		style, words = warn, "‖ paused ×"+strconv.FormatFloat(c.speed, 'g', 4, 64)
	}
	if c.idle > 0 {
		words += " · pauses ≤ " + c.idle.String()
	}
	return style, words
}

// bar is the time bar of a replay.
func (t *transcript) bar() []string {
	if t.player == nil {
		return nil
	}
	p := t.player
	whole := p.last.Sub(p.first)
	at := p.here().Sub(p.first)
	if t.state.ended != nil {
		at = whole
	}
	edge, room := t.barRoom()
	left, right := fmt.Sprintf("%*s ", edge-1, minutes(at)), " "+minutes(whole)+" "
	done := room
	if whole > 0 {
		done = int(float64(room) * float64(at) / float64(whole))
	}
	done = max(0, min(done, room))
	return []string{paint(bold, left) + paint(accent, strings.Repeat("━", done)) + paint(dim, strings.Repeat("─", room-done)) + right}
}

// minutes is a time as players show it.
func minutes(d time.Duration) string {
	s := int(d.Seconds())
	if s >= 3600 {
		return strconv.Itoa(s/3600) + ":" + two(s/60%60) + ":" + two(s%60)
	}
	return strconv.Itoa(s/60) + ":" + two(s%60)
}

func two(n int) string { return string([]byte{byte('0' + n/10), byte('0' + n%10)}) }

// stopped says that a replay has stopped by itself.
type stopped struct{ err error }
