package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
)

// maxHeld bounds the live messages that wait for an answer.
const maxHeld = 4096

// run is a console at work. All of it belongs to one goroutine.
type run struct {
	conn       *nats.Conn
	js         jetstream.JetStream
	api        string
	key        schema.Transcript
	partitions uint32
	screen     Screen

	number  uint64             // of the last event shown
	next    map[Message]uint64 // open messages: index of the next piece
	closed  map[Message]uint64 // those that ended after settled: the frame that ended them
	settled uint64             // the frame of the last answer that was shown
	seen    uint64             // highest frame of all that was shown

	replies string // subject before the question's number
	asked   uint64 // the question's number
	askedAt time.Time
	wait    time.Duration     // from then on, until it is asked again
	least   uint64            // an answer must not stand at an earlier frame
	pages   schema.OpenPages  // of the answer
	reply   *schema.OpenReply // the answer, while the history is behind it
	waiting bool              // for an answer, or for the history to come up to it
	held    [][]byte          // live messages that came meanwhile
	dropped bool              // some were not held
	heardAt time.Time         // when a live message last came
	parked  string            // as said last
}

func newRun(c *Console, js jetstream.JetStream, api string) *run {
	return &run{
		conn: c.Conn, js: js, api: api, key: c.Transcript, partitions: c.Partitions, screen: c.Screen,
		next: map[Message]uint64{}, closed: map[Message]uint64{}, replies: c.Conn.NewInbox(), heardAt: time.Now(),
	}
}

// lose says why text may be missing, and asks for all of it.
func (r *run) lose(why string) error {
	if err := r.screen.Lag(why); err != nil {
		return err
	}
	return r.want()
}

// want asks what is open. Until the answer is shown, live messages are held back.
func (r *run) want() error {
	r.waiting, r.reply, r.wait = true, nil, askAgain
	return r.ask()
}

func (r *run) ask() error {
	r.asked++
	r.askedAt, r.least, r.pages = time.Now(), r.seen, schema.OpenPages{}
	subject := schema.OpenSubject(r.key.Identity, r.partitions)
	if err := r.conn.PublishRequest(subject, r.replies+"."+strconv.FormatUint(r.asked, 10), nil); err != nil {
		return fmt.Errorf("ask %s: %w", subject, err)
	}
	return nil
}

// askIfDue asks again while nobody answers, and when nothing is heard of a message that is open: its last
// piece may be lost, or the owner gone.
func (r *run) askIfDue(now time.Time) error {
	switch {
	case r.waiting && r.reply == nil && now.Sub(r.askedAt) >= r.wait:
		r.wait = min(2*r.wait, longest)
		return r.ask()
	case !r.waiting && len(r.next) > 0 && now.Sub(r.heardAt) >= silence && now.Sub(r.askedAt) >= silence:
		return r.want()
	}
	return nil
}

// page takes a page of an answer. Nobody's answer, which is one without a page's headers, and what cannot be
// read are no answers: it is asked again.
func (r *run) page(m *nats.Msg) error {
	if strings.TrimPrefix(m.Subject, r.replies+".") != strconv.FormatUint(r.asked, 10) || !r.waiting || r.reply != nil {
		return nil // to an earlier question, or a second owner's
	}
	reply, whole, err := r.pages.Add(m.Header, m.Data)
	if err != nil || !whole || reply.Identity != r.key.Identity {
		return nil //nolint:nilerr // see above
	}
	if reply.Parked != "" {
		if reply.Parked == r.parked {
			return nil
		}
		r.parked = reply.Parked
		return r.screen.Lag("the capture is parked: " + reply.Parked)
	}
	if reply.Frame < r.least {
		return nil // it has yet to fold what was shown
	}
	r.reply = &reply
	return r.splice()
}

// splice shows the answer once the history has come up to it, and then what was held back.
func (r *run) splice() error {
	if r.reply == nil || r.number < r.reply.Ordinals[r.key.Session] {
		return nil
	}
	reply := r.reply
	r.reply, r.waiting, r.parked = nil, false, ""
	clear(r.next)
	var open []schema.OpenMessage
	for _, m := range reply.Messages {
		message := Message{m.Role == schema.User, m.Channel, m.MessageID}
		if m.Session == r.key.Session && r.closed[message] <= reply.Frame { // else the history is ahead: it has ended
			r.next[message] = m.Next
			open = append(open, m)
		}
	}
	r.settled, r.seen = max(r.settled, reply.Frame), max(r.seen, reply.Frame)
	maps.DeleteFunc(r.closed, func(_ Message, frame uint64) bool { return frame <= r.settled })
	if err := r.screen.Open(open); err != nil {
		return err
	}
	held, dropped := r.held, r.dropped
	r.held, r.dropped = nil, false
	for i, data := range held {
		if r.waiting { // a gap among them
			r.held = held[i:]
			return nil
		}
		if err := r.place(data); err != nil {
			return err
		}
	}
	if dropped && !r.waiting {
		return r.lose("too much came at once")
	}
	return nil
}

// live takes a message of the delta subject.
func (r *run) live(data []byte) error {
	r.heardAt = time.Now()
	if !r.waiting {
		return r.place(data)
	}
	if len(r.held) == maxHeld {
		r.held, r.dropped = nil, true
	}
	r.held = append(r.held, data)
	return nil
}

// place shows a piece if it is the next one of its message.
func (r *run) place(data []byte) error {
	e, heads, err := schema.DecodeLive(data)
	if err != nil {
		return r.lose(err.Error()) // it may have been a piece
	}
	if heads != nil {
		if heads.Frame > r.settled && r.behind(heads) {
			return r.lose("a piece is missing")
		}
		return nil
	}
	m, index, text, anew := piece(e)
	if m.ID == "" {
		return nil // progress: the stored note has all of it
	}
	want, open := r.next[m]
	switch {
	case !open && e.WorkerSeq <= max(r.settled, r.closed[m]), index < want:
		return nil // known
	case index > want:
		return r.lose("a piece is missing")
	}
	r.next[m], r.seen = index+1, max(r.seen, e.WorkerSeq)
	return r.screen.Piece(m, text, anew)
}

// piece reads an ephemeral event; it has no id if it is no piece of a message.
func piece(e *schema.Event) (m Message, index uint64, text string, anew bool) {
	switch k := e.Kind.(type) {
	case *schema.Delta:
		return Message{false, schema.Answer, k.MessageID}, k.Index, k.TextFragment, k.Reset
	case *schema.Progress:
		if t, ok := k.Detail.(*schema.Thinking); ok {
			return Message{false, schema.Thought, t.MessageID}, t.Index, t.Text, t.Reset
		}
	}
	return Message{}, 0, "", false
}

// behind reports whether the owner has pieces that were not shown. Heads name ids only, so where an id
// stands for an answer and a thought, they are compared by size. A message that the history has ended is
// whole.
func (r *run) behind(h *schema.Heads) bool {
	theirs, ours := map[string][]uint64{}, map[string][]uint64{}
	for _, head := range h.Heads {
		theirs[head.MessageID] = append(theirs[head.MessageID], head.Next)
	}
	for m, next := range r.next {
		ours[m.ID] = append(ours[m.ID], next)
	}
	for m, frame := range r.closed {
		if frame > h.Frame { // it was open at the heads' frame
			ours[m.ID] = append(ours[m.ID], ^uint64(0))
		}
	}
	for id, heads := range theirs {
		have := ours[id]
		slices.Sort(heads)
		slices.Sort(have)
		if len(have) < len(heads) {
			return true
		}
		for i, next := range have[len(have)-len(heads):] {
			if next < heads[i] {
				return true
			}
		}
	}
	return false
}
