package reach

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/proxy"
	"github.com/steno-io/steno/schema"
)

// tapped is a proxy that has seen tasks.
type tapped struct {
	tasks []proxy.Task

	ends map[string]schema.Outcome
	ch   chan proxy.Task
}

func (p *tapped) Tasks() []proxy.Task { return p.tasks }

func (p *tapped) Intervene(_ context.Context, t proxy.Task, _ schema.Intervention) schema.Outcome {
	p.ch <- t
	if o, ok := p.ends[t.ID]; ok {
		return o
	}
	return schema.Applied()
}

func inject(id, session string) schema.Intervention {
	return schema.Intervention{ID: id, Session: session, IssuedBy: "miller", Kind: schema.InterventionKind{Kind: schema.PrimitiveInject, Text: "Go on"}}
}

func TestTasksOfAConversation(t *testing.T) {
	t.Parallel()
	capture := func(context string) schema.Identity {
		return schema.Identity{Namespace: "default", Workflow: "mill", Run: schema.ConversationRun("mill", context), Attempt: 1}
	}
	p := &tapped{ch: make(chan proxy.Task, 8), ends: map[string]schema.Outcome{"t-3": schema.Stale("refused")}, tasks: []proxy.Task{
		{ID: "t-1", Context: "c", Open: true}, {ID: "t-2", Context: "other", Open: true}, {ID: "t-3", Context: "moved", Open: true},
		{ID: "t-4", Context: "c"}, {ID: "t-5", Context: "new", Open: true},
	}}
	filed := map[string]schema.Identity{"t-1": capture("c"), "t-2": capture("other"), "t-3": capture("c"), "t-4": capture("c")}
	asked, broken := 0, error(nil)
	claimed := map[string]bool{}
	r := &Proxied{Calls: p, Peer: "mill",
		Filed: func(_ context.Context, task string) (schema.Identity, bool, error) {
			asked++
			id, ok := filed[task]
			return id, ok, broken
		},
		Claim: func(_ context.Context, id schema.Identity, i string) (bool, error) {
			key := id.String() + i
			mine := !claimed[key]
			claimed[key] = true
			return mine, broken
		},
	}
	c := r.Target(capture("c"))
	require.Empty(t, c.Supported(), "nothing is known yet of where tasks are")
	broken = errors.New("no bucket")
	_, err := r.Served(t.Context())
	require.ErrorIs(t, err, broken)
	broken, asked = nil, 0
	for range 2 {
		ids, err := r.Served(t.Context())
		require.NoError(t, err)
		require.Equal(t, []schema.Identity{capture("c"), capture("other")}, ids)
	}
	require.Equal(t, 5, asked, "each once, but for one that is not filed; of those that have ended none")

	require.Equal(t, []schema.Primitive{schema.PrimitiveCancel, schema.PrimitiveInject}, c.Supported())
	require.Equal(t, schema.NotSupported(schema.PrimitivePause), c.Deliver(t.Context(), schema.Intervention{Kind: schema.InterventionKind{Kind: schema.PrimitivePause}}))
	require.Equal(t, schema.Stale("2 tasks are in progress: name one"), c.Deliver(t.Context(), inject("0", "")))
	require.Equal(t, schema.Applied(), c.Deliver(t.Context(), inject("1", "t-1")))
	require.Equal(t, p.tasks[0], <-p.ch)
	again := c.Deliver(t.Context(), inject("1", "t-1"))
	require.Contains(t, again.Detail, "it was taken before", "by whoever it was")
	require.True(t, again.Unknown, "it was applied then")
	require.Equal(t, schema.Stale("refused"), c.Deliver(t.Context(), inject("2", "t-3")))
	require.Equal(t, proxy.Task{ID: "t-3", Open: true}, <-p.ch, "its name for the conversation is not that of the capture")
	require.Equal(t, schema.Stale(`task "t-2" was not seen here in this conversation`), c.Deliver(t.Context(), cancel("3", "t-2")))
	require.Equal(t, schema.Stale(`not in 1 of 2 tasks: task "t-3": refused`), c.Deliver(t.Context(), cancel("4", "")))
	p.ends = nil
	require.Equal(t, schema.Applied(), c.Deliver(t.Context(), cancel("5", "")))
	require.Equal(t, schema.Applied(), r.Target(capture("other")).Deliver(t.Context(), cancel("5", "")), "the id is another capture's")
	broken = errors.New("no bucket")
	require.Equal(t, schema.Unsure("nothing was sent by this try: claim it: no bucket"), c.Deliver(t.Context(), cancel("6", "")))
	for i := range p.tasks {
		p.tasks[i].Open = false
	}
	require.Empty(t, c.Supported())
	broken = nil
	require.Equal(t, schema.Stale("no task is in progress"), c.Deliver(t.Context(), cancel("7", "")))
	require.Equal(t, schema.Stale("no task is in progress"), c.Deliver(t.Context(), cancel("8", "t-1")))
	require.Len(t, p.ch, 5)
}

// Of two proxies of one conversation the one whose tasks have ended leaves it to the other, unless it has outcomes to
// tell.
func TestAConversationThatGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	capture := schema.Identity{Namespace: "default", Workflow: "mill", Run: "r", Attempt: 1}
	p := &tapped{ch: make(chan proxy.Task, 1), tasks: []proxy.Task{{ID: "t-1", Open: true}}}
	r := &Proxied{
		Calls: p, Peer: "mill",
		Filed: func(context.Context, string) (schema.Identity, bool, error) { return capture, true, nil },
		Claim: func(context.Context, schema.Identity, string) (bool, error) { return true, nil },
	}
	served := func() []schema.Identity {
		list, err := r.Served(t.Context())
		require.NoError(t, err)
		return list
	}
	require.Equal(t, []schema.Identity{capture}, served())
	p.tasks[0].Open = false
	require.Empty(t, served())
	p.tasks[0].Open = true
	require.Equal(t, schema.Applied(), r.Target(capture).Deliver(t.Context(), cancel("1", "")))
	p.tasks[0].Open = false
	require.Equal(t, []schema.Identity{capture}, served())
	p.tasks = nil
	require.Empty(t, served())
	require.Empty(t, r.done)
}

// However many tasks there were, where those are that are remembered stays known, also while it is looked where others
// are; the rest is forgotten.
func TestWhereTasksAreIsKnownAsLongAsTheyAre(t *testing.T) {
	t.Parallel()
	capture := schema.Identity{Namespace: "default", Workflow: "mill", Run: "r", Attempt: 1}
	p := &tapped{ch: make(chan proxy.Task, 1)}
	r := &Proxied{
		Calls: p, Peer: "mill",
		Claim: func(context.Context, schema.Identity, string) (bool, error) { return true, nil },
	}
	looked := 0
	r.Filed = func(context.Context, string) (schema.Identity, bool, error) {
		if looked++; looked > 1 { // one after the other, and an intervention may come between two
			require.NotEmpty(t, r.Target(capture).Supported())
		}
		return capture, true, nil
	}
	stays := proxy.Task{ID: "stays", Open: true}
	for n := range 50 {
		p.tasks = []proxy.Task{stays}
		for i := range 100 {
			p.tasks = append(p.tasks, proxy.Task{ID: fmt.Sprint(n, "-", i), Open: true})
		}
		_, err := r.Served(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, schema.Applied(), r.Target(capture).Deliver(t.Context(), cancel("1", "stays")))
	require.Equal(t, len(p.tasks), len(r.filed))
}

// What was taken at another proxy may have been done there: where there is nothing for it here, it is not said that it
// was not.
func TestARepetitionThatFindsNothingHere(t *testing.T) {
	t.Parallel()
	capture := schema.Identity{Namespace: "default", Workflow: "mill", Run: "r", Attempt: 1}
	claimed, broken := map[string]bool{}, error(nil)
	replica := func(tasks ...proxy.Task) (*tapped, *Proxied) {
		p := &tapped{ch: make(chan proxy.Task, 8), tasks: tasks}
		r := &Proxied{
			Calls: p, Peer: "mill",
			Filed: func(context.Context, string) (schema.Identity, bool, error) { return capture, true, nil },
			Claim: func(_ context.Context, _ schema.Identity, i string) (bool, error) {
				mine := !claimed[i]
				claimed[i] = claimed[i] || broken == nil
				return mine, broken
			},
		}
		_, err := r.Served(t.Context())
		require.NoError(t, err)
		return p, r
	}
	_, one := replica(proxy.Task{ID: "t-1", Open: true})
	p, other := replica(proxy.Task{ID: "t-2", Open: true})
	require.Equal(t, schema.Applied(), one.Target(capture).Deliver(t.Context(), cancel("1", "t-1")))
	again := other.Target(capture).Deliver(t.Context(), cancel("1", "t-1"))
	require.True(t, again.Unknown, again.Detail)

	require.Equal(t, schema.Applied(), one.Target(capture).Deliver(t.Context(), cancel("2", "")))
	p.tasks[0].Open = false
	again = other.Target(capture).Deliver(t.Context(), cancel("2", ""))
	require.True(t, again.Unknown, again.Detail)

	// The first outcome stands: what was not done there is not done here.
	require.Equal(t, schema.Stale("no task is in progress"), other.Target(capture).Deliver(t.Context(), cancel("3", "")))
	again = one.Target(capture).Deliver(t.Context(), cancel("3", ""))
	require.True(t, again.Unknown, again.Detail)

	broken = errors.New("no bucket")
	for _, r := range []*Proxied{one, other} {
		again = r.Target(capture).Deliver(t.Context(), cancel("2", ""))
		require.True(t, again.Unknown, again.Detail)
	}
}
