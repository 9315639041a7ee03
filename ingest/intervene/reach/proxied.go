package reach

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/steno-io/steno/ingest/intervene"
	"github.com/steno-io/steno/ingest/proxy"
	"github.com/steno-io/steno/schema"
)

// Calls are what a proxy knows of its peer's tasks, and can do to them.
type Calls interface {
	Tasks() []proxy.Task
	Intervene(ctx context.Context, t proxy.Task, i schema.Intervention) schema.Outcome
}

// Proxied reaches the tasks of an A2A peer through the proxy that their clients talk to it through: a cancel
// and a message are calls such as the clients make.
//
// Which capture a task is in, says the bucket in which whoever publishes files it: the proxy itself does not
// decide that, and only a task that stands in a transcript can be meant. So of several proxies of one peer each
// serves the captures of the tasks that came through itself and go on, and whichever has seen a task can reach it; of
// those that serve the same capture one gets the intervention. One that has not seen the task that is meant, but
// another one of that capture, says that it has not.
type Proxied struct {
	Calls Calls
	Peer  string // its name, of which captures are named
	// Filed is the capture of a task; ok is false if nobody has filed it yet.
	Filed func(ctx context.Context, task string) (id schema.Identity, ok bool, err error)
	// Claim takes an intervention in a capture; mine is false where somebody has it, or had it before. So it is
	// done once, whichever replicas its repetitions come to.
	Claim func(ctx context.Context, id schema.Identity, intervention string) (mine bool, err error)

	mu    sync.Mutex
	filed map[string]schema.Identity // of tasks that the proxy remembers
	done  map[schema.Identity]bool   // captures in which something was done here
}

var _ intervene.Captures = (*Proxied)(nil)

// Served implements intervene.Captures: served are the captures of tasks that go on, and of those that have
// ended of late where something was done here, so that whoever asks again hears the outcome. Elsewhere a proxy
// whose tasks have ended would take what is meant for one that goes on at another proxy.
func (p *Proxied) Served(ctx context.Context) (list []schema.Identity, err error) {
	served, known := map[schema.Identity]bool{}, map[schema.Identity]bool{}
	tasks := p.Calls.Tasks()
	p.forget(tasks)
	for _, t := range tasks {
		id, ok, err := p.capture(ctx, t)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		known[id] = true
		if !served[id] && (t.Open || p.acted(id)) {
			served[id] = true
			list = append(list, id)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.done, func(id schema.Identity, _ bool) bool { return !known[id] })
	return list, nil
}

// forget forgets where tasks are that the proxy does not remember any more, and no others: an intervention may come at
// any time.
func (p *Proxied) forget(remembered []proxy.Task) {
	there := make(map[string]bool, len(remembered))
	for _, t := range remembered {
		there[t.ID] = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.filed, func(task string, _ schema.Identity) bool { return !there[task] })
}

// acted reports whether something was done in a capture.
func (p *Proxied) acted(id schema.Identity) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done[id]
}

// acts notes that something is about to be done in a capture.
func (p *Proxied) acts(id schema.Identity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done == nil {
		p.done = map[schema.Identity]bool{}
	}
	p.done[id] = true
}

// capture is a task's. That of one which has ended is not asked for: if it is not known nobody was served there.
func (p *Proxied) capture(ctx context.Context, t proxy.Task) (id schema.Identity, ok bool, err error) {
	p.mu.Lock()
	id, ok = p.filed[t.ID]
	p.mu.Unlock()
	if ok || !t.Open {
		return id, ok, nil
	}
	if id, ok, err = p.Filed(ctx, t.ID); err != nil || !ok {
		return id, false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.filed == nil {
		p.filed = map[string]schema.Identity{}
	}
	p.filed[t.ID] = id
	return id, true, nil
}

// Target implements intervene.Captures.
func (p *Proxied) Target(id schema.Identity) intervene.Target { return conversation{p, id} }

// conversation is one capture's.
type conversation struct {
	*Proxied
	id schema.Identity
}

var calls = []schema.Primitive{schema.PrimitiveCancel, schema.PrimitiveInject}

// Supported implements intervene.Target.
func (c conversation) Supported() []schema.Primitive {
	if open, _ := c.tasks(""); len(open) == 0 {
		return nil
	}
	return calls
}

// tasks are those of the conversation that go on, all or that of an id; seen tells that there is one of that id.
func (c conversation) tasks(named string) (open []proxy.Task, seen bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.Calls.Tasks() {
		if id, ok := c.filed[t.ID]; !ok || id != c.id || named != "" && t.ID != named {
			continue
		}
		seen = true
		if schema.ConversationRun(c.Peer, t.Context) != c.id.Run {
			t.Context = "" // the peer has changed its name for it: the task is what tells
		}
		if t.Open {
			open = append(open, t)
		}
	}
	return open, seen
}

// meant are the tasks that an intervention is for, or why there are none.
func (c conversation) meant(i schema.Intervention) (open []proxy.Task, stale *schema.Outcome) {
	open, seen := c.tasks(i.Session)
	var why schema.Outcome
	switch {
	case len(open) == 0 && i.Session != "" && !seen:
		why = schema.Stale("task %s was not seen here in this conversation", schema.Quoted(i.Session))
	case len(open) == 0:
		why = schema.Stale("no task is in progress")
	case len(open) > 1 && i.Kind.Kind == schema.PrimitiveInject:
		why = schema.Stale("%d tasks are in progress: name one", len(open))
	default:
		return open, nil
	}
	return nil, &why
}

// Deliver implements intervene.Target. A cancel that names no task is one of all that go on in the conversation; a
// message is for one. ctx's end does not end the calls: their outcome would be lost, and they are done.
func (c conversation) Deliver(ctx context.Context, i schema.Intervention) schema.Outcome {
	if !slices.Contains(calls, i.Kind.Kind) {
		return schema.NotSupported(i.Kind.Kind)
	}
	open, stale := c.meant(i)
	mine, err := c.Claim(ctx, c.id, i.ID) // also where there is nothing to be done: it may have been, elsewhere
	switch {
	case err != nil:
		return schema.Unsure("nothing was sent by this try: claim it: %v", err)
	case !mine:
		return schema.Unsure("it was taken before, by another proxy of this peer or by one that has ended: the transcript shows what came of it")
	case stale != nil:
		return *stale
	}
	c.acts(c.id)
	outcomes := make([]schema.Outcome, len(open))
	var under sync.WaitGroup
	for n, t := range open {
		under.Go(func() { outcomes[n] = c.Calls.Intervene(context.WithoutCancel(ctx), t, i) })
	}
	under.Wait()
	return together(open, outcomes)
}

// together is the outcome of several calls: Applied if all are.
func together(of []proxy.Task, outcomes []schema.Outcome) schema.Outcome {
	if len(outcomes) == 1 {
		return outcomes[0]
	}
	const named = 5 // the record tells of all
	var not []string
	count, unknown := 0, false
	for n, o := range outcomes {
		if o.Outcome == schema.OutcomeApplied {
			continue
		}
		unknown = unknown || o.Unknown
		if count++; count <= named {
			not = append(not, fmt.Sprintf("task %q: %s", of[n].ID, o.Detail))
		}
	}
	if count == 0 {
		return schema.Applied()
	}
	all := schema.Stale("not in %d of %d tasks: %s", count, len(of), strings.Join(not, "; "))
	all.Unknown = unknown
	return all
}
