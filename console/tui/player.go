package tui

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"
	"time"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/console/replay"
	"github.com/steno-io/steno/schema"
)

// player replays a transcript: it folds it from its first frame on, silently up to where the replay begins.
type player struct {
	typed func(context.Context) iter.Seq2[schema.Event, error]
	in    *inflow
	clock *tempo
	seek  chan target // holds the last one

	// Of the screen.
	first, last time.Time
	from        target
	idle        int   // of idles
	ended       bool  // it does not run
	err         error // why it does not
}

// target is where a replay begins: behind all before a time, or at an event.
type target struct {
	at  time.Time
	seq uint64 // 0 = the time counts
}

// before reports whether an event stands before the target.
func (g target) before(e *schema.Event) bool {
	if g.seq > 0 {
		return e.StoreSeq == 0 || e.StoreSeq < g.seq
	}
	return e.EmittedAt.Before(g.at)
}

// run plays until ctx ends.
func (p *player) run(ctx context.Context) error {
	for goal := p.from; ; {
		next, err := p.pass(ctx, goal)
		if err != nil || ctx.Err() != nil {
			return err
		}
		goal = next
	}
}

// pass plays from a target to the end, and then waits, until there is another target.
func (p *player) pass(ctx context.Context, goal target) (next target, err error) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan func() error, 1)
	go func() { done <- caught(func() error { return p.play(inner, goal) }) }() // it is waited for below
	select {
	case over := <-done:
		if err := over(); err != nil || ctx.Err() != nil {
			return target{}, err
		}
		select {
		case <-ctx.Done():
			return target{}, nil
		case next := <-p.seek:
			return next, nil
		}
	case next := <-p.seek:
		stop()
		_ = (<-done)() // what was stopped has no error of its own
		return next, nil
	}
}

// caught does something and gives its result: a panic, too, which is so handed to another goroutine.
func caught(do func() error) (result func() error) {
	defer func() {
		if r := recover(); r != nil {
			said := fmt.Sprintf("%v\n%s", r, debug.Stack())
			result = func() error { panic(said) }
		}
	}()
	err := do()
	return func() error { return err }
}

// play plays once.
func (p *player) play(ctx context.Context, goal target) error {
	p.in.restart()
	defer p.clock.reached(goal.at)
	begun := false
	err := replay.Replay(ctx, p.behind(ctx, goal), replay.Options{Clock: p.clock}, func(e schema.Event) error {
		p.give(&e)
		if !begun {
			begun = true
			if goal.seq == 0 && goal.at.After(e.EmittedAt) {
				p.clock.set(goal.at)
			}
			p.clock.reached(goal.at)
			p.in.loud()
		}
		return nil
	})
	if err == nil {
		p.in.loud()
		err = p.in.take(&follow.End{})
	}
	return err
}

// behind gives what is before the target to the screen, save the last of it, with which the replay begins,
// and to whose time the clock is put.
func (p *player) behind(ctx context.Context, goal target) iter.Seq2[schema.Event, error] {
	return func(yield func(schema.Event, error) bool) {
		var held *schema.Event
		begun := false
		begin := func(e *schema.Event) {
			begun = true
			p.clock.set(e.EmittedAt)
		}
		for e, err := range p.typed(ctx) {
			switch {
			case err != nil:
				yield(e, err)
				return
			case begun:
			case goal.before(&e):
				if held != nil {
					p.give(held)
				}
				held = &e
				continue
			case held != nil:
				if begin(held); !yield(*held, nil) {
					return
				}
			default:
				begin(&e)
			}
			if !yield(e, nil) {
				return
			}
		}
		if !begun && held != nil {
			begin(held)
			yield(*held, nil)
		}
	}
}

func (p *player) give(e *schema.Event) {
	var item follow.Item = &follow.Event{Seq: e.StoreSeq, Event: *e}
	if e.Ephemeral {
		item = &follow.Delta{Event: *e}
	}
	_ = p.in.take(item) // an inflow takes everything
}

// to plays from another target.
func (p *player) to(goal target) {
	select {
	case <-p.seek:
	default:
	}
	p.clock.sought(goal.at)
	p.seek <- goal
}

// again takes the target that a player which has ended is to begin anew with, if there is one.
func (p *player) again() bool {
	if !p.ended {
		return false
	}
	select {
	case p.from = <-p.seek:
		p.ended, p.err = false, nil
		return true
	default:
		return false
	}
}
