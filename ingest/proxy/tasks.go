package proxy

import (
	"container/list"
	"sync"
	"time"

	"github.com/steno-io/steno/schema/wire/a2a"
)

// Bounds of what is remembered of tasks.
const (
	// maxTasks is how many tasks that go on are remembered, and how many that have ended.
	maxTasks = 1000
	// openFor is how long a task is remembered of which nothing more is heard, and with it the credentials
	// that its client used last.
	openFor = 6 * time.Hour
	// endedFor is how long one is remembered that has ended: somebody who has just seen it go on hears
	// that it does not any more. Credentials are forgotten at the end.
	endedFor = 15 * time.Minute
	// maxTaskID is how long the ids of tasks and conversations may be, in bytes, that are remembered.
	maxTaskID = 512
)

// Task is one that the peer has named in an answer that came through this proxy.
type Task struct {
	ID      string
	Context string // the conversation, as the peer calls it; empty where it did not say
	Open    bool   // it has not ended, as far as answers said
}

// tasks are those that the proxy has seen. It knows less than the peer: what did not come through here, or
// was too large to be looked at. So it says what may be tried; what comes of it the peer decides.
type tasks struct {
	mu    sync.Mutex
	by    map[string]*list.Element // of *known
	open  list.List                // the last heard of in front
	ended list.List
}

// known is what is known of a task.
type known struct {
	Task
	way   *way // how its client calls it; nil once it has ended
	heard time.Time
}

// word is what an answer says of a task.
type word struct {
	task, context string
	state         a2a.State // empty: none
}

// hear takes a word that came at a time. way is how the exchange was called that it came in, nil for one
// that says nothing of that: a push, or a call of the proxy's own. A sending exchange that began behind
// a task's end opens it again; all else that comes behind it is late.
func (t *tasks) hear(w word, way *way, began, now time.Time) {
	if w.task == "" || len(w.task) > maxTaskID || len(w.context) > maxTaskID {
		return
	}
	over := w.state.Class() == a2a.Terminal
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(now)
	at := t.by[w.task]
	if at == nil {
		if way == nil || over {
			return
		}
		if t.by == nil {
			t.by = map[string]*list.Element{}
		}
		at = t.open.PushFront(&known{Task: Task{ID: w.task, Open: true}})
		t.by[w.task] = at
	}
	k := at.Value.(*known)
	if !k.Open && (over || way == nil || !way.sends || began.Before(k.heard)) {
		return
	}
	if w.context != "" {
		k.Context = w.context
	}
	if way != nil && (k.way == nil || way.sends || !k.way.sends) {
		k.way = way
	}
	if over {
		k.way = nil
	}
	t.move(at, k, !over, now)
}

// move puts a task in front of those that go on, or of those that have ended; t.mu is held.
func (t *tasks) move(at *list.Element, k *known, open bool, now time.Time) {
	from, to := &t.ended, &t.ended
	if k.Open {
		from = &t.open
	}
	if open {
		to = &t.open
	}
	k.Open, k.heard = open, now
	from.Remove(at)
	t.by[k.ID] = to.PushFront(k)
	if to.Len() > maxTasks {
		t.drop(to)
	}
}

// forget drops what nothing was heard of for long; t.mu is held.
func (t *tasks) forget(now time.Time) {
	for _, one := range []struct {
		of  *list.List
		age time.Duration
	}{{&t.open, openFor}, {&t.ended, endedFor}} {
		for last := one.of.Back(); last != nil && now.Sub(last.Value.(*known).heard) > one.age; last = one.of.Back() {
			t.drop(one.of)
		}
	}
}

// drop forgets the last task of a list; t.mu is held.
func (t *tasks) drop(of *list.List) {
	delete(t.by, of.Remove(of.Back()).(*known).ID)
}

// all are the tasks that are remembered.
func (t *tasks) all(now time.Time) []Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(now)
	all := make([]Task, 0, len(t.by))
	for _, of := range []*list.List{&t.open, &t.ended} {
		for at := of.Front(); at != nil; at = at.Next() {
			all = append(all, at.Value.(*known).Task)
		}
	}
	return all
}

// called is how a task that goes on is called; nil for one that has ended, or is not known.
func (t *tasks) called(id string) *way {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := t.by[id]; at != nil {
		return at.Value.(*known).way
	}
	return nil
}

// Tasks are the tasks that answers named: those that go on first, in each group the last heard of first.
func (p *Proxy) Tasks() []Task { return p.tasks.all(time.Now()) }
