package follow

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
)

// run is a follower at work. All its fields but the inbox belong to the one goroutine of Run.
type run struct {
	Options
	emit  func(Item) error
	view  *view
	inbox *inbox
	feed  *feed

	cursor uint64 // number of the last event given
	target uint64 // number up to which the fold has given events, as far as known
	lag    uint64 // as said last
	ended  bool   // End was given, and nothing since
	stuck  bool   // that the ledger has parked the capture was said

	early      []*lively // first pieces, and what came behind them, that wait for what stands before them
	earlyUntil time.Time

	question
	reconnects uint64
	connected  bool
}

func newRun(o Options, emit func(Item) error) *run {
	return &run{
		Options: o, emit: emit, view: newView(o.Transcript.Session), inbox: newInbox(), cursor: o.After,
		reconnects: o.Conn.Stats().Reconnects, connected: true,
	}
}

// loop asks what is open, gives the history, and then handles what comes.
func (r *run) loop(ctx context.Context) error {
	status := r.Conn.StatusChanged(nats.CONNECTED, nats.RECONNECTING, nats.CLOSED)
	defer r.Conn.RemoveStatusListener(status)
	poll := time.NewTicker(r.Poll)
	defer poll.Stop()
	retry := time.NewTimer(0)
	defer retry.Stop()

	if err := r.resume(ctx); err != nil {
		return err
	}
	r.want()
	for due, heed := time.Now(), true; ; {
		if heed {
			if err := r.heed(); err != nil {
				return err
			}
		}
		if err := r.ask(time.Now()); err != nil {
			return err
		}
		if !due.IsZero() {
			if err := r.look(ctx, due); err != nil {
				return err
			}
		}
		if err := r.handle(ctx, r.inbox.take()); err != nil {
			return err
		}
		if err := r.admit(ctx); err != nil {
			return err
		}
		if err := r.ask(time.Now()); err != nil {
			return err
		}
		wait := r.untilRetry(time.Now())
		if len(r.early) > 0 {
			wait = min(wait, time.Until(r.earlyUntil))
		}
		retry.Reset(wait)
		due, heed = time.Time{}, false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.inbox.ready:
		case <-status:
			heed = true
		case <-retry.C:
		case now := <-poll.C:
			due, heed = now.Add(-r.Poll/2), true // what another one has seen meanwhile will do
		}
	}
}

// look is what is done without being woken: the ledger is the truth, and everything else a hint.
func (r *run) look(ctx context.Context, since time.Time) error {
	if err := r.catchUp(ctx, since); err != nil {
		return err
	}
	if err := r.sayBehind(); err != nil {
		return err
	}
	r.probe(time.Now())
	return nil
}

// handle takes what came, in the order in which it came, and looks into the ledger last: text that
// was typed is shown before the event that it ends in.
func (r *run) handle(ctx context.Context, t taken) error {
	if t.dropped {
		if err := r.lose(LagSlow); err != nil {
			return err
		}
	}
	for _, m := range t.messages {
		var err error
		if m.live != nil {
			err = r.live(m.live)
		} else {
			err = r.take(ctx, m.answer)
		}
		if err != nil {
			return err
		}
	}
	if t.woken.IsZero() {
		return nil
	}
	return r.catchUp(ctx, t.woken)
}

// heed looks how the connection is.
func (r *run) heed() error {
	if r.Conn.IsClosed() {
		return nats.ErrConnectionClosed
	}
	if n := r.Conn.Stats().Reconnects; n != r.reconnects {
		r.reconnects, r.connected = n, true
		return r.lose(LagReconnected)
	}
	if r.connected && !r.Conn.IsConnected() {
		r.connected = false
		return r.emit(&Lag{Reason: LagDisconnected})
	}
	return nil
}
