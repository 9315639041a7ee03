package proxy

import (
	"bytes"
	"time"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// maxWatched is how large an answer, or an item of a stream, may be that is looked at for what it says of
// tasks, in bytes.
const maxWatched = 1 << 20

// wordState is in every object that says how a task stands, whatever its dialect is.
var wordState = []byte("state")

// watch follows what an exchange says of tasks, by what is recorded of it.
type watch struct {
	began  time.Time
	events a2a.EventReader
	held   int    // bytes of an item that is not whole yet
	body   []byte // of an answer that is no stream, as far as it came
	long   bool   // it is too long
	named  bool   // a task was named
	way    *way   // how the exchange was called; made when a task is named
	tree   jsontree.Reader
	arms   []a2a.Arm
}

// sees takes bytes of the other end's, behind those that came before.
func (x *exchange) sees(lane journal.Lane, b []byte) {
	w := &x.watch
	switch {
	case lane.Served:
	case lane.Chan == schema.ChanStream:
		if w.held += len(b); w.held > maxWatched { // the end of what is passed over is no event by itself
			w.events, w.held = a2a.EventReader{}, len(b)
		}
		if len(b) > maxWatched {
			w.held = 0
			return
		}
		for _, event := range w.events.Feed(nil, b) {
			w.held -= len(event.Raw)
			if !w.named || bytes.Contains(event.Data, wordState) {
				x.hears(event.Data)
			}
		}
	case lane.Chan == schema.ChanResponse && x.chanAsk == schema.ChanRequest && !x.request.calls.none(), lane.Chan == schema.ChanPush:
		if w.long = w.long || len(w.body)+len(b) > maxWatched; w.long {
			w.body = nil
			return
		}
		w.body = append(w.body, b...)
	}
}

// sawAll is the end of the answer, and of a push.
func (x *exchange) sawAll() {
	body := x.watch.body
	x.watch.body = nil
	if len(body) > 0 && bytes.Contains(body, wordState) {
		x.hears(body)
	}
}

// hears takes what one document says.
func (x *exchange) hears(text []byte) {
	w := &x.watch
	w.tree.Depth = a2a.Depth
	if _, err := w.tree.Read(text); err != nil {
		return
	}
	w.arms = a2a.AppendArms(w.arms[:0], a2a.ReadEnvelope(w.tree.Root()).Result)
	for _, arm := range w.arms {
		said := word{task: string(a2a.TaskID(arm)), context: string(a2a.ContextID(arm.Value))}
		if arm.Kind == a2a.Message { // it may name a task that has ended
			continue
		}
		if arm.Kind != a2a.ArtifactUpdate {
			said.state = a2a.ReadState(a2a.StatusOf(arm.Value))
		}
		w.named = w.named || said.task != ""
		if x.chanAsk == schema.ChanRequest && x.ours == nil && w.way == nil {
			w.way = x.calledAs()
		}
		x.proxy.tasks.hear(said, w.way, w.began, time.Now())
	}
}
