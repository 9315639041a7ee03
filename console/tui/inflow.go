package tui

import (
	"slices"
	"strings"
	"sync"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/schema"
)

// Bounds of what waits for the screen. Events above them are read from the ledger again; of open text there
// is never more than the messages themselves.
const (
	maxEvents = 512
	maxBytes  = 16 << 20
	maxBits   = 256
)

// inflow takes what a follower or a player tells, never holds it up, and hands it out in one piece.
type inflow struct {
	ready chan struct{} // has an entry when there is something to take

	mu    sync.Mutex
	quiet bool // nobody is to be told yet
	held  news
	open  []*text
	last  uint64 // number of the last event
	bytes int    // of the events that are held, roughly
}

// text is an open message.
type text struct {
	of      openText // without its text
	so      strings.Builder
	changed bool
}

func newInflow() *inflow { return &inflow{ready: make(chan struct{}, 1)} }

// take takes an item. It is what a follower is run with.
func (f *inflow) take(item follow.Item) error {
	f.put(func() {
		f.held.state.take(item)
		switch i := item.(type) {
		case *follow.Event:
			f.event(i.Event, i.Seq)
		case *follow.Delta:
			f.piece(i.Event)
		case *follow.Snapshot:
			f.snapshot(i)
		}
	})
	return nil
}

// restart forgets all, and tells nobody until loud.
func (f *inflow) restart() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held, f.open, f.last, f.bytes, f.quiet = news{anew: true}, nil, 0, 0, true
}

// again forgets how things stood with a follower that has ended: what is now, the next one tells.
func (f *inflow) again() { f.put(func() { f.held.state = state{} }) }

// loud tells what there is from now on.
func (f *inflow) loud() { f.put(func() { f.quiet = false }) }

func (f *inflow) put(add func()) {
	f.mu.Lock()
	add()
	quiet := f.quiet
	f.mu.Unlock()
	if quiet {
		return
	}
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// news gives what came.
func (f *inflow) news() news {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.quiet {
		return news{quiet: true}
	}
	n := f.held
	for _, t := range f.open {
		m := t.of
		m.Text = t.so.String()
		n.open = append(n.open, m)
		if t.changed {
			n.texts, t.changed = append(n.texts, m), false
		}
	}
	f.held, f.bytes = news{state: n.state}, 0
	return n
}

// event keeps a stored event. A Message closes its text, and a note is stored with all its pieces.
func (f *inflow) event(e schema.Event, seq uint64) {
	if seq <= f.last { // it is followed again from further back
		return
	}
	e.StoreSeq, f.last = seq, seq
	f.bytes += weight(&e)
	if n := len(f.held.events); n == maxEvents || n > 0 && f.bytes > maxBytes {
		f.held.events = slices.Delete(f.held.events, 0, (n+1)/2)
		f.bytes = weightOf(f.held.events) + weight(&e)
	}
	f.held.events = append(f.held.events, e)
	switch k := e.Kind.(type) {
	case *schema.Message:
		f.open = slices.DeleteFunc(f.open, func(t *text) bool { return t.is(k.Role, k.Channel, k.MessageID) })
	case *schema.Progress:
		f.held.notes, f.held.bits = withoutTask(e.Source.TaskID, f.held.notes, f.held.bits)
	}
}

// piece puts a piece behind its text.
func (f *inflow) piece(e schema.Event) {
	switch k := e.Kind.(type) {
	case *schema.Delta:
		f.typed(&e, schema.Answer, k.MessageID, k.TextFragment, k.Reset)
	case *schema.Progress:
		switch d := k.Detail.(type) {
		case *schema.Thinking:
			f.typed(&e, schema.Thought, d.MessageID, d.Text, d.Reset)
		case *schema.Note:
			if len(f.held.bits) < maxBits { // those above come with the stored note
				f.held.bits = append(f.held.bits, e)
			}
		}
	}
}

func (f *inflow) typed(e *schema.Event, channel schema.Channel, id, piece string, anew bool) {
	i := slices.IndexFunc(f.open, func(t *text) bool { return t.is(schema.Assistant, channel, id) })
	if i < 0 {
		i = len(f.open)
		f.open = append(f.open, &text{of: openText{began: *e, OpenMessage: schema.OpenMessage{
			Session: e.Session, MessageID: id, Role: schema.Assistant, Channel: channel, TaskID: e.Source.TaskID,
		}}})
	}
	t := f.open[i]
	if anew {
		t.so.Reset()
	}
	t.so.WriteString(piece)
	t.changed = true
}

func (t *text) is(role schema.Role, channel schema.Channel, id string) bool {
	return t.of.MessageID == id && t.of.Channel == channel && (t.of.Role == schema.User) == (role == schema.User)
}

// snapshot takes the place of all open text.
func (f *inflow) snapshot(s *follow.Snapshot) {
	before := f.open
	f.open = nil
	for _, m := range s.Messages {
		t := &text{of: openText{OpenMessage: m}, changed: true}
		t.of.Text = ""
		for _, b := range before {
			if b.is(m.Role, m.Channel, m.MessageID) {
				t.of.began = b.of.began
			}
		}
		t.so.WriteString(m.Text)
		f.open = append(f.open, t)
	}
	f.held.tools = append([]schema.OpenTool{}, s.Tools...)
	f.held.notes = append([]schema.OpenNote{}, s.Notes...)
	f.held.bits = nil
}
