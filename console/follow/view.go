package follow

import (
	"maps"
	"math"
	"slices"

	"github.com/steno-io/steno/schema"
)

// messageKey tells open messages apart: a user's and an agent's, an answer and a thought may have the
// same id at the same time.
type messageKey struct {
	user    bool
	channel schema.Channel
	id      string
}

func keyOf(role schema.Role, channel schema.Channel, id string) messageKey {
	return messageKey{user: role == schema.User, channel: channel, id: id}
}

// view is what the reader has been shown of what is open. It decides, without any I/O, what of the
// live messages is new, known or missing.
type view struct {
	session uint32
	open    map[messageKey]uint64 // index of the next piece
	// What the ledger ended or changed after settled: messages, and tools by id, each with the frame
	// that did it. A snapshot of an earlier frame must not bring them back.
	closed map[messageKey]uint64
	tools  map[string]uint64
	notes  map[string]uint64 // of tasks: their progress
	// settled: everything up to this frame that is not in open has ended.
	settled uint64
	seen    uint64 // highest frame of all that was shown
}

// maxClosed bounds what a view remembers beyond settled.
const maxClosed = 8192

func newView(session uint32) *view {
	return &view{session: session, open: map[messageKey]uint64{}, closed: map[messageKey]uint64{}, tools: map[string]uint64{}, notes: map[string]uint64{}}
}

// verdict is what is to be done with a piece.
type verdict int

const (
	known  verdict = iota // shown already, or its message has ended
	next                  // to be shown
	missed                // one before it is missing
)

// store takes note of a stored event. A Message closes its id for good.
func (v *view) store(e *schema.Event) {
	v.seen = max(v.seen, e.WorkerSeq)
	switch k := e.Kind.(type) {
	case *schema.Message:
		key := keyOf(k.Role, k.Channel, k.MessageID)
		delete(v.open, key)
		if e.WorkerSeq > v.settled {
			v.closed[key] = e.WorkerSeq
		}
	case *schema.ToolState:
		if e.WorkerSeq > v.settled {
			v.tools[k.ToolID] = e.WorkerSeq
		}
	case *schema.Progress:
		if _, ok := noteOf(e); ok && e.WorkerSeq > v.settled {
			v.notes[e.Source.TaskID] = e.WorkerSeq
		}
	}
	if len(v.closed)+len(v.tools)+len(v.notes) > maxClosed {
		v.forget()
	}
}

// forget settles the older half of what is remembered. At worst a late piece of a parallel message is
// taken for known, and the next piece, or the heads, have a snapshot asked for.
func (v *view) forget() {
	frames := slices.AppendSeq(slices.Collect(maps.Values(v.closed)), maps.Values(v.tools))
	frames = slices.AppendSeq(frames, maps.Values(v.notes))
	slices.Sort(frames)
	v.settle(frames[len(frames)/2])
}

func (v *view) settle(frame uint64) {
	v.settled = max(v.settled, frame)
	maps.DeleteFunc(v.closed, func(_ messageKey, at uint64) bool { return at <= v.settled })
	maps.DeleteFunc(v.tools, func(_ string, at uint64) bool { return at <= v.settled })
	maps.DeleteFunc(v.notes, func(_ string, at uint64) bool { return at <= v.settled })
}

// piece judges a piece that came at a frame, and takes it as shown if it is next.
func (v *view) piece(key messageKey, frame, index uint64) verdict {
	want, open := v.open[key]
	if !open {
		// A piece from before its message's end is late. One from after it is of another message, such
		// as one that is replayed under the id that it had.
		if frame <= max(v.settled, v.closed[key]) {
			return known
		}
	}
	switch {
	case index < want:
		return known
	case index > want:
		return missed
	}
	v.open[key] = index + 1
	v.seen = max(v.seen, frame)
	return next
}

// behind reports whether the owner's heads are ahead of what was shown. Heads name ids only, so where
// an id stands for several messages they are compared by size.
func (v *view) behind(h *schema.Heads) bool {
	if h.Frame <= v.settled {
		return false
	}
	theirs := map[string][]uint64{}
	for _, head := range h.Heads {
		theirs[head.MessageID] = append(theirs[head.MessageID], head.Next)
	}
	ours := map[string][]uint64{}
	for key, n := range v.open {
		if theirs[key.id] != nil {
			ours[key.id] = append(ours[key.id], n)
		}
	}
	for key, at := range v.closed {
		if theirs[key.id] != nil && at > h.Frame { // it was open at the heads' frame
			ours[key.id] = append(ours[key.id], math.MaxUint64)
		}
	}
	for id, heads := range theirs {
		have := ours[id]
		slices.Sort(heads)
		slices.Sort(have)
		for i, j := len(heads)-1, len(have)-1; i >= 0; i, j = i-1, j-1 {
			if j < 0 || heads[i] > have[j] {
				return true
			}
		}
	}
	return false
}

// less reports whether less was shown than the reply has.
func (v *view) less(r *schema.OpenReply) bool {
	for _, m := range r.Messages {
		key := keyOf(m.Role, m.Channel, m.MessageID)
		if m.Session == v.session && v.closed[key] <= r.Frame && m.Next > v.open[key] {
			return true
		}
	}
	return false
}

// snapshot makes the reply what was shown last, save what the ledger has ended since.
func (v *view) snapshot(r *schema.OpenReply) *Snapshot {
	s := &Snapshot{Frame: r.Frame, Ordinal: r.Ordinals[v.session]}
	clear(v.open)
	for _, m := range r.Messages {
		key := keyOf(m.Role, m.Channel, m.MessageID)
		if m.Session == v.session && v.closed[key] <= r.Frame {
			v.open[key] = m.Next
			s.Messages = append(s.Messages, m)
		}
	}
	for _, t := range r.Tools {
		if t.Session == v.session && v.tools[t.State.ToolID] <= r.Frame {
			s.Tools = append(s.Tools, t)
		}
	}
	for _, n := range r.Notes {
		if n.Session == v.session && v.notes[n.TaskID] <= r.Frame {
			s.Notes = append(s.Notes, n)
		}
	}
	v.seen = max(v.seen, r.Frame)
	v.settle(r.Frame)
	return s
}
