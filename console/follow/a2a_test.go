package follow_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/schema"
)

// exchange stores a frame of an exchange of A2A.
func (tp *tap) exchange(t *testing.T, id string, channel schema.Chan, data string) {
	f := schema.Frame{From: schema.FromAgent, Type: schema.TypeData, End: schema.EndNone, Exchange: id, Chan: channel, Data: []byte(data)}
	switch channel {
	case schema.ChanRequest:
		f.From = schema.FromClient
	case "":
		f.From, f.Type, f.Data = schema.FromControl, schema.TypeClose, []byte(`{"reason":"eof","exchange":"`+id+`"}`)
	}
	tp.store(t, f)
}

// A capture of A2A is never closed: the conversation ends with its last exchange, and a follow-up reopens
// it.
func TestAConversationOfA2AEndsAndReopens(t *testing.T) {
	p := newPipeline(t)
	p.worker()
	tp := &tap{js: p.JS, id: schema.Identity{Namespace: "n", Workflow: "w", Run: "a2a", Attempt: 1}}
	key := schema.Transcript{Identity: tp.id}
	tp.store(t, schema.Frame{From: schema.FromControl, Type: schema.TypeOpen, End: schema.EndNone, Data: []byte(`{"protocol":"a2a","tap":"proxy","peer":"mill"}`)})
	ask := func(exchange string) {
		tp.exchange(t, exchange, schema.ChanRequest, `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"`+exchange+`","role":"ROLE_USER","parts":[{"text":"Go"}]}}}`)
	}
	status := func(exchange, state, message string) {
		tp.exchange(t, exchange, schema.ChanStream, `{"statusUpdate":{"taskId":"`+exchange+`","contextId":"c","status":{"state":"`+state+`"`+message+`}}}`)
	}

	conn, _ := p.Connect(t)
	f, err := follow.New(follow.Options{Conn: conn, Reader: p.ledger, Partitions: p.Info.Partitions, Transcript: key, Poll: 50 * time.Millisecond})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	told := make(chan string, 100)
	done := make(chan error, 1)
	go func() {
		done <- f.Run(ctx, func(i follow.Item) error {
			switch i := i.(type) {
			case *follow.Event:
				told <- i.Event.Kind.Tag()
			case *follow.End:
				told <- fmt.Sprintf("%s %d", i.Status, i.Head)
			}
			return nil
		})
	}()
	expect := func(want ...string) {
		t.Helper()
		for _, w := range want {
			select {
			case got := <-told:
				require.Equal(t, w, got)
			case err := <-done:
				t.Fatalf("the follower has ended: %v", err)
			case <-ctx.Done():
				t.Fatalf("want %s", w)
			}
		}
	}
	expect("Raw")
	ask("e1")
	expect("Message", "Raw")
	tp.exchange(t, "e1", schema.ChanStream, `{"statusUpdate":{"taskId":"e1","contextId":"c","status":{"state":"working","message":{"role":"agent","parts":[{"text":"Looking"}]}}}}`)
	expect("Raw")
	status("e1", "completed", "")
	expect("Message", "Stop", "Raw")
	require.Empty(t, told, "the exchange goes on")
	summary, err := p.ledger.Transcript(ctx, key)
	require.NoError(t, err)
	require.Equal(t, schema.StatusOpen, summary.Status)
	require.Equal(t, "mill", summary.Agent)
	tp.exchange(t, "e1", "", "")
	expect("Raw", "ended 8")

	ask("e2")
	expect("Message", "Raw")
	summary, err = p.ledger.Transcript(ctx, key)
	require.NoError(t, err)
	require.Equal(t, schema.StatusOpen, summary.Status, "a follow-up reopens it")
	status("e2", "input-required", "")
	expect("Progress", "Raw")
	tp.exchange(t, "e2", "", "")
	expect("Raw")
	time.Sleep(200 * time.Millisecond)
	require.Empty(t, told, "a task waits for its user")

	ask("e3")
	expect("Message", "Raw")
	status("e2", "completed", "")
	expect("Stop", "Raw")
	tp.exchange(t, "e2", "", "")
	expect("Raw")
	status("e3", "failed", "")
	expect("Stop", "Raw")
	tp.exchange(t, "e3", "", "")
	expect("Raw", "ended 21")

	ask("e4")
	expect("Message", "Raw")
	status("e4", "working", "")
	expect("Raw")
	tp.exchange(t, "e4", "", "")
	expect("Progress", "Raw", "abandoned 26")
	cancel()
	require.NoError(t, <-done)
}

// Who joins in the middle of a task sees what the agent is doing, and of which task the answer is.
func TestJoinInTheMiddleOfATask(t *testing.T) {
	p := newPipeline(t)
	p.worker()
	c := p.talker("joined")
	c.asks("e1", "Go")
	for i, message := range []string{"Looking", " around"} {
		c.exchange(t, "e1", schema.ChanStream, fmt.Sprintf(`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"working","message":{"messageId":"n%d","role":"agent","parts":[{"text":%q}]}}}}`, i, message))
	}
	c.exchange(t, "e1", schema.ChanStream, `{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"Rain"}]}}}`)
	conn, _ := p.Connect(t)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	var joined *follow.Snapshot
	for joined == nil || len(joined.Messages) == 0 { // the worker may be behind
		f, err := follow.New(follow.Options{Conn: conn, Reader: p.ledger, Partitions: p.Info.Partitions, Transcript: schema.Transcript{Identity: c.id}, Poll: 50 * time.Millisecond})
		require.NoError(t, err)
		require.NoError(t, f.Run(ctx, func(i follow.Item) error {
			s, ok := i.(*follow.Snapshot)
			if !ok {
				return nil
			}
			joined = s
			return follow.ErrStop
		}))
		require.NoError(t, ctx.Err())
	}
	require.Equal(t, []schema.OpenNote{{TaskID: "t", Text: "Looking around"}}, joined.Notes)
	require.Equal(t, "t", joined.Messages[0].TaskID)
}

func TestProgressIsGivenAsItComes(t *testing.T) {
	b := newBench(t)
	b.store(3, note("a"))
	b.owner(3, 1)
	r := b.follow(follow.Options{})
	r.reads("event 1 Progress", "snapshot 3")
	b.live(5, note("Looking"))
	b.live(6, note(" around"))
	r.reads(`delta   0 "Looking"`, `delta   0 " around"`)
	b.store(7, note("Looking around"))
	b.wake()
	r.reads("event 2 Progress")
	b.live(6, note(" around")) // too late
	b.live(8, note("Found"))
	r.reads(`delta   0 "Found"`)
}
