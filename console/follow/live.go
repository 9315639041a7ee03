package follow

import (
	"context"
	"time"

	"github.com/steno-io/steno/schema"
)

// lively is a message of the delta subject, decoded once for all who follow: they share it, and nobody
// changes it.
type lively struct {
	data  []byte        // its encoding
	event *schema.Event // an ephemeral one; or
	heads *schema.Heads
	piece *Delta // what the event is, if it is a piece of text
	// A message that cannot be read has none of them: it may have been a piece.
}

// readLively reads a message; nil if it is of another transcript.
func readLively(data []byte, key schema.Transcript) *lively {
	event, heads, err := schema.DecodeLive(data)
	if err != nil {
		return &lively{data: data}
	}
	if event != nil && event.Transcript != key {
		return nil
	}
	return &lively{data: data, event: event, heads: heads, piece: pieceOf(event, data)}
}

// live takes a message of the delta subject.
func (r *run) live(l *lively) error {
	if r.waiting {
		r.hold(l)
		return nil
	}
	if l.event == nil && l.heads == nil {
		return r.lose(LagMissed)
	}
	return r.show(l)
}

// hold keeps what comes while a snapshot is waited for; some of it may be newer than the snapshot.
func (r *run) hold(l *lively) {
	if r.overflow {
		return
	}
	r.held = append(r.held, l)
	if r.heldBytes += len(l.data); len(r.held) > maxWaiting || r.heldBytes > maxWaitingBytes {
		r.held, r.heldBytes, r.overflow = nil, 0, true
	}
}

// earlyWait is how long the first piece of a message waits for the events of the frames before it,
// which come by way of the ledger and so a little later.
const earlyWait = 100 * time.Millisecond

// show gives a piece, or lets it wait for what stands before it.
func (r *run) show(l *lively) error {
	if len(r.early) == 0 {
		if !r.isEarly(l) {
			return r.place(l)
		}
		r.earlyUntil = time.Now().Add(earlyWait)
	}
	r.early = append(r.early, l)
	if len(r.early) < maxWaiting {
		return nil
	}
	return r.placeEarly()
}

// isEarly reports whether a message begins behind frames of which nothing was shown yet.
func (r *run) isEarly(l *lively) bool {
	d := l.piece
	return d != nil && d.Index == 0 && d.Event.WorkerSeq > r.view.seen+1
}

// admit gives the pieces that wait once what stands before them was given, or has had its time.
func (r *run) admit(ctx context.Context) error {
	if len(r.early) == 0 {
		return nil
	}
	if r.waiting { // a snapshot comes before them
		r.holdEarly()
		return nil
	}
	if time.Now().Before(r.earlyUntil) {
		if r.isEarly(r.early[0]) {
			return nil
		}
	} else if err := r.catchUp(ctx, r.earlyUntil); err != nil {
		return err
	}
	return r.placeEarly()
}

// placeEarly gives the pieces that wait, up to a gap among them.
func (r *run) placeEarly() error {
	for len(r.early) > 0 && !r.waiting {
		l := r.early[0]
		r.early = r.early[1:]
		if err := r.place(l); err != nil {
			return err
		}
	}
	r.holdEarly()
	return nil
}

// holdEarly has the pieces that wait held, before what came behind them.
func (r *run) holdEarly() {
	behind := r.held
	early := r.early
	r.held, r.heldBytes, r.early = nil, 0, nil
	for _, l := range append(early, behind...) {
		r.hold(l)
	}
}

// place gives a piece if it is the next one of its message.
func (r *run) place(l *lively) error {
	if l.heads != nil {
		if r.view.behind(l.heads) {
			return r.lose(LagMissed)
		}
		return nil
	}
	d := l.piece
	if d == nil {
		return r.progress(l)
	}
	switch r.view.piece(keyOf(schema.Assistant, d.Channel, d.MessageID), d.Event.WorkerSeq, d.Index) {
	case missed:
		return r.lose(LagMissed)
	case next:
		return r.emit(d)
	}
	return nil
}

// progress gives a live note. It has no index: one that is lost is nothing but late, since the stored
// note has all of it. One that comes behind what was stored later says nothing new.
func (r *run) progress(l *lively) error {
	e := l.event
	n, ok := noteOf(e)
	if !ok || e.WorkerSeq <= r.view.settled || e.WorkerSeq < r.view.seen {
		return nil
	}
	return r.emit(&Delta{Text: n.Text, Bytes: l.data, Event: *e})
}

func noteOf(e *schema.Event) (*schema.Note, bool) {
	p, ok := e.Kind.(*schema.Progress)
	if !ok {
		return nil, false
	}
	n, ok := p.Detail.(*schema.Note)
	return n, ok
}

// pieceOf reads an ephemeral event as a piece of text; nil if it is none.
func pieceOf(e *schema.Event, data []byte) *Delta {
	if e == nil {
		return nil
	}
	switch k := e.Kind.(type) {
	case *schema.Delta:
		return &Delta{MessageID: k.MessageID, Channel: schema.Answer, Index: k.Index, Text: k.TextFragment, Reset: k.Reset, Bytes: data, Event: *e}
	case *schema.Progress:
		if t, ok := k.Detail.(*schema.Thinking); ok {
			return &Delta{MessageID: t.MessageID, Channel: schema.Thought, Index: t.Index, Text: t.Text, Reset: t.Reset, Bytes: data, Event: *e}
		}
	}
	return nil
}
