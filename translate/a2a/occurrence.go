package a2a

import (
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// occurrence is how often an event came: the frames that brought it as something new.
type occurrence struct {
	first uint64
	more  []uint64
}

// since counts the occurrences behind a frame.
func (o occurrence) since(frame uint64) (n uint32) {
	if o.first > frame {
		n++
	}
	for _, f := range o.more {
		if f > frame {
			n++
		}
	}
	return n
}

// repeated counts an event and reports whether another exchange brought it already: the n-th
// occurrence in one exchange is the n-th in another. Equal events inside one exchange are real, and
// nothing repeats what came before the user's new turn.
func (x *fold) repeated(e *exchange, t *task, key digest) bool {
	if t.events == nil {
		t.events = map[digest]occurrence{}
		t.sole = e
	}
	if t.sole != e {
		if t.sole != nil {
			t.sole.recount(t)
			t.sole = nil
		}
		if e.counts == nil {
			e.counts = map[digest]uint32{}
		}
		e.counts[key]++
		if e.counts[key] <= t.events[key].since(e.turn) {
			return true
		}
	}
	o, again := t.events[key]
	if again {
		o.more = append(o.more, x.seq)
	} else {
		o.first = x.seq
	}
	t.events[key] = o
	return false
}

// recount counts what the exchange brought while it was the only one.
func (e *exchange) recount(t *task) {
	if e.counts == nil {
		e.counts = map[digest]uint32{}
	}
	for key, o := range t.events {
		e.counts[key] = uint32(len(o.more)) + 1
	}
}

// forget frees what a finished task's events were counted with.
func (t *task) forget() { t.events, t.sole, t.forgot = nil, nil, true }

// artifactKey is an artifact update whatever its dialect; it holds the task's number, since an exchange
// counts for all its tasks.
func (x *fold) artifactKey(id, index []byte, appends, last bool, v jsontree.Value) digest {
	x.key = append(x.key[:0], 'a')
	if appends {
		x.key = append(x.key, 'a')
	}
	if last {
		x.key = append(x.key, 'l')
	}
	x.key = append(append(x.key, 0), id...)
	x.key = append(append(x.key, 0), index...)
	return x.partsKey(v)
}

// statusKey is a status update whatever its dialect.
func (x *fold) statusKey(state wire.State, status, message jsontree.Value) digest {
	x.key = append(append(x.key[:0], 's'), state...)
	timestamp, _ := wire.Field(status, "timestamp").Bytes()
	x.key = append(append(x.key, 0), timestamp...)
	x.key = append(append(x.key, 0), wire.ID(message, "messageId")...)
	return x.partsKey(message)
}

func (x *fold) partsKey(v jsontree.Value) digest {
	for _, part := range x.parts(v) {
		kind, value := wire.ReadPart(part)
		x.key = append(append(x.key, 0), kind...)
		x.key = append(x.key, 0)
		if text, ok := value.Bytes(); ok {
			x.key = append(x.key, text...)
		} else if kind == wire.DataPart {
			x.key = append(x.key, value.Raw()...)
		} else {
			x.key = append(x.key, content(value)...)
		}
	}
	return sum(x.key)
}

// content is what a file part holds, whatever holds it.
func content(part jsontree.Value) []byte {
	for _, holder := range []jsontree.Value{part, wire.Field(part, "file")} {
		for _, name := range []string{"raw", "bytes", "fileWithBytes", "url", "uri", "fileWithUri"} {
			if text, ok := wire.Field(holder, name).Bytes(); ok {
				return text
			}
		}
	}
	return nil
}
