package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// eye is a screen that keeps what was shown, and when there was open text.
type eye struct {
	events [][]byte
	texts  map[Message]string   // open
	seen   map[Message][]string // all that was ever shown of a message
	whole  map[Message]string   // as stored
	lags   []string
	end    func()

	mu    sync.Mutex
	moved chan struct{} // closed when the open text has changed
}

func newEye(end func()) *eye {
	return &eye{texts: map[Message]string{}, seen: map[Message][]string{}, whole: map[Message]string{}, end: end, moved: make(chan struct{})}
}

func (s *eye) change(m Message, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts[m] = text
	s.seen[m] = append(s.seen[m], text)
	close(s.moved)
	s.moved = make(chan struct{})
}

func (s *eye) Event(number uint64, event []byte, e *schema.Event) error {
	if number != uint64(len(s.events))+1 || e.StoreSeq != number {
		return fmt.Errorf("event %d, %d comes after %d", number, e.StoreSeq, len(s.events))
	}
	s.events = append(s.events, event)
	if k, ok := e.Kind.(*schema.Message); ok {
		m := Message{k.Role == schema.User, k.Channel, k.MessageID}
		if _, ok := s.whole[m]; ok {
			return fmt.Errorf("message %v is stored twice", m)
		}
		s.whole[m] = k.Text
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.texts, m)
	}
	return nil
}

func (s *eye) Open(messages []schema.OpenMessage) error {
	s.mu.Lock()
	before := s.texts
	s.texts = map[Message]string{}
	s.mu.Unlock()
	for _, o := range messages {
		m := Message{o.Role == schema.User, o.Channel, o.MessageID}
		if !strings.HasPrefix(o.Text, before[m]) {
			return fmt.Errorf("of %v less is open than was: %q, %q", m, before[m], o.Text)
		}
		s.change(m, o.Text)
	}
	return nil
}

func (s *eye) Piece(m Message, text string, anew bool) error {
	if _, ok := s.whole[m]; ok {
		return fmt.Errorf("a piece of %v comes after its end", m)
	}
	if anew {
		s.change(m, text)
	} else {
		s.change(m, s.texts[m]+text)
	}
	return nil
}

func (s *eye) About(about schema.About) error {
	if about.Status == schema.StatusEnded {
		s.end()
	}
	return nil
}

func (s *eye) Lag(why string) error {
	s.lags = append(s.lags, why)
	return nil
}

// until waits until the open text is as wanted.
func (s *eye) until(t *testing.T, wanted func(text string) bool) {
	t.Helper()
	for end := time.After(within); ; {
		s.mu.Lock()
		moved := s.moved
		for _, text := range s.texts {
			if wanted(text) {
				s.mu.Unlock()
				return
			}
		}
		s.mu.Unlock()
		select {
		case <-moved:
		case <-end:
			require.Fail(t, "the open text does not become as wanted", "%v", s.texts)
		}
	}
}

// join shows a transcript to an eye; wait waits for its end, and holds all that was seen against the ledger.
func (r *rig) join(key schema.Transcript) (s *eye, wait func()) {
	r.t.Helper()
	var refused error // the client library's, of a permission
	conn, err := nats.Connect(r.console(), nats.CustomInboxPrefix("_INBOX_console"), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			// To give a lost consumer back is not allowed: the server forgets it.
			if !strings.Contains(err.Error(), "STENO_API.CONSUMER.DELETE.STENO_EVENTS.") {
				refused = errors.Join(refused, err)
			}
		}))
	require.NoError(r.t, err)
	ctx, cancel := context.WithTimeout(context.Background(), within)
	s = newEye(cancel)
	c := Console{Conn: conn, Transcript: key, Partitions: schema.Partitions, API: "STENO_API", Screen: s}
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	return s, func() {
		r.t.Helper()
		require.NoError(r.t, <-done)
		require.NoError(r.t, conn.Drain())
		require.Eventually(r.t, conn.IsClosed, within, time.Millisecond)
		require.NoError(r.t, refused)
		r.equal(key, s)
	}
}

// equal holds an eye that has seen the end against the ledger.
func (r *rig) equal(key schema.Transcript, s *eye) {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		summary, err := r.ledger.Transcript(r.t.Context(), key)
		return err == nil && summary.Head >= uint64(len(s.events)) && summary.Status == schema.StatusEnded
	}, within, 5*time.Millisecond)
	var stored [][]byte
	texts := map[Message]string{}
	for e, err := range r.ledger.Events(r.t.Context(), key, 0, 0) {
		require.NoError(r.t, err)
		require.Equal(r.t, uint64(len(stored))+1, e.Seq)
		stored = append(stored, bytes.Clone(e.Bytes))
		event, err := schema.DecodeEvent(e.Bytes)
		require.NoError(r.t, err)
		if k, ok := event.Kind.(*schema.Message); ok {
			texts[Message{k.Role == schema.User, k.Channel, k.MessageID}] = k.Text
		}
	}
	require.Len(r.t, s.events, len(stored))
	for i := range stored {
		require.True(r.t, bytes.Equal(stored[i], s.events[i]), "event %d", i+1)
	}
	require.Equal(r.t, texts, s.whole)
	require.Empty(r.t, s.texts, "nothing is open any more")
	for m, all := range s.seen {
		for _, text := range all {
			require.True(r.t, strings.HasPrefix(texts[m], text), "%v was shown as %q", m, text)
		}
	}
}

// A console that knows nothing of steno but this package's text joins a long conversation in the middle of
// its answer, with the permissions of the README, and sees all of it: while it is typed, while the
// translator dies, and at its end, byte for byte as the ledger has it.
func TestANativeConsoleSeesAllOfIt(t *testing.T) {
	r := newRig(t)
	kill := r.translator()
	k := r.begin("run")
	key := schema.Transcript{Identity: k.id, Session: 1}
	early, earlyEnds := r.join(key)
	k.say("agent_thought_chunk", 0, 40)
	early.until(t, func(text string) bool { return strings.HasSuffix(text, "w39 ") })
	k.say("agent_message_chunk", 40, 100)
	k.tool("small", 60)
	k.tool("large", 700<<10) // its record goes to the bucket
	k.say("agent_message_chunk", 100, 200)

	middle, middleEnds := r.join(key)
	middle.until(t, func(text string) bool { return strings.HasSuffix(text, "w199 ") })
	_, otherEnds := r.join(schema.Transcript{Identity: k.id, Session: 2})
	_, zeroEnds := r.join(schema.Transcript{Identity: k.id})
	k.say("agent_message_chunk", 200, 250)
	kill()
	k.say("agent_message_chunk", 250, 300) // nobody reads it
	late, lateEnds := r.join(key)
	r.translator()
	k.say("agent_message_chunk", 300, 350)
	for _, s := range []*eye{early, middle, late} {
		s.until(t, func(text string) bool { return strings.HasSuffix(text, "w349 ") })
	}
	k.say("agent_message_chunk", 350, 400)
	k.end()
	for _, wait := range []func(){earlyEnds, middleEnds, otherEnds, zeroEnds, lateEnds} {
		wait()
	}
	require.Contains(t, strings.Join(early.lags, "\n"), "a piece is missing", "it was behind, and said so")

	var out bytes.Buffer
	require.NoError(t, show(t.Context(), r.console(), "_INBOX_console", "STENO_API", schema.Partitions, key.String(), &out))
	require.Contains(t, out.String(), "w398 w399 \n")
	require.Contains(t, out.String(), "Stop\n")
	require.True(t, strings.HasSuffix(out.String(), "ended\n"), out.String())
}

// The server is started again while an answer is typed.
func TestANativeConsoleOutlivesTheServer(t *testing.T) {
	r := newRig(t)
	r.translator()
	k := r.begin("run")
	s, ends := r.join(schema.Transcript{Identity: k.id, Session: 1})
	k.say("agent_message_chunk", 0, 30)
	s.until(t, func(text string) bool { return strings.HasSuffix(text, "w29 ") })
	r.stop()
	r.start()
	k.tool("small", 60)
	k.say("agent_message_chunk", 30, 60)
	s.until(t, func(text string) bool { return strings.HasSuffix(text, "w59 ") })
	k.end()
	ends()
	require.Contains(t, s.lags, "the connection was lost")
}
