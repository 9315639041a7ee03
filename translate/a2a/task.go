package a2a

import (
	"crypto/sha256"
	"strconv"

	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/translate"
)

// digest stands for a text or an event in sets. Peers choose what they send, so it must not be easy to
// give two texts the same.
type digest [16]byte

func sum(data []byte) digest {
	full := sha256.Sum256(data)
	return digest(full[:16])
}

// carrier is where a text was said.
type carrier uint8

const (
	byArtifact     carrier = 1 << iota // an artifact that was closed
	byOpenArtifact                     // an artifact that never was
	byStatus                           // a status message
	byMessage                          // a message of its own
	anyArtifact    = byArtifact | byOpenArtifact
)

// task is one task, or what an exchange said without naming one.
type task struct {
	name    string // in source.task_id
	context string
	use     int // incarnations of its id so far
	number  int
	flags   translate.FlagSet
	seen    bool // an answer named it
	state   wire.State
	stopped bool
	last    wire.State          // in which it stopped
	unheard map[wire.State]bool // unknown states that were noted
	uses    int                 // exchanges going on that named it
	streams int                 // those of them that stream
	broken  bool                // the last exchange broke off, and nobody has gone on with it

	artifacts map[string]*artifact
	order     []*artifact
	nameless  *artifact // that has no id, the newest
	recent    *artifact // that a chunk came for last
	notes     notes
	thought   strand // reasoning outside artifacts
	message   *strand
	messages  int     // message objects, in an exchange without a task
	pieces    []piece // of the open message
	answered  bool
	said      map[digest]carrier
	known     map[userKey]bool // agent messages, by id and text
	knownIDs  map[string]bool
	calls     []*call
	callIDs   map[string]*call

	events map[digest]occurrence
	sole   *exchange // the only one so far that brought events; nil if several did
	forgot bool      // events of the task are no longer counted
}

func (x *fold) newTask(name, context string) *task {
	t := &task{
		name: name, context: context, use: 1, number: x.numbers, artifacts: map[string]*artifact{},
		said: map[digest]carrier{}, known: map[userKey]bool{}, knownIDs: map[string]bool{}, callIDs: map[string]*call{},
	}
	t.thought.channel = schema.Thought
	x.numbers++
	x.order = append(x.order, t)
	return t
}

// byName finds the task with an id. A finished one that comes again in another conversation is another
// task.
func (x *fold) byName(e *exchange, peer, conversation []byte) *task {
	t := x.tasks[string(peer)]
	if t != nil && t.context == string(conversation) && x.context == t.context {
		return t
	}
	x.speaksIn(conversation)
	id, context := string(peer), string(conversation)
	switch {
	case t == nil:
		t = x.newTask(id, context)
		x.tasks[id] = t
	case t.stopped && context != "" && t.context != "" && context != t.context && e.task != t:
		next := x.newTask(id+"#"+strconv.Itoa(t.use+1), context)
		next.use = t.use + 1
		next.flags = translate.Of(schema.FlagIDReused)
		t = next
		x.tasks[id] = t
	case t.context == "":
		t.context = context
	}
	return t
}

// speaksIn notes the conversation that an object names.
func (x *fold) speaksIn(context []byte) {
	if len(context) > 0 {
		x.context = string(context)
		x.contexts[x.context] = true
	}
}

// taskOf is the task that an answer's object belongs to: the one it names, else the one its exchange
// named last.
func (x *fold) taskOf(e *exchange, id, context []byte) *task {
	if len(id) == 0 {
		if e.task != nil {
			return e.task
		}
		return x.anonymous(e)
	}
	t := x.byName(e, id, context)
	if e.loose != nil && e.loose.message != nil { // a Message before the task is whole
		x.endMessage(e.loose, schema.BoundaryStream, 0)
		e.loose.message = nil
	}
	x.touch(e, t)
	return t
}

// growing gives the task's open texts in the order in which a flush ends them.
func (t *task) growing() func(yield func(*growing) bool) {
	return func(yield func(*growing) bool) {
		for _, g := range []*growing{t.notes.open, t.thought.open} {
			if g != nil && !yield(g) {
				return
			}
		}
		if t.message != nil && t.message.open != nil && !yield(t.message.open) {
			return
		}
		for _, a := range t.order {
			for _, g := range []*growing{a.thought.open, a.answer.open} {
				if g != nil && !yield(g) {
					return
				}
			}
		}
	}
}

// flush makes durable what is open: progress, reasoning, artifacts in the order in which they began.
func (x *fold) flush(t *task, boundary schema.Boundary, flags translate.FlagSet) {
	x.endNotes(t, t.order...)
	x.endStrand(t, &t.thought, boundary, flags, 0)
	if t.message != nil {
		x.endMessage(t, boundary, flags)
	}
	for _, a := range t.order {
		x.endArtifact(t, a, boundary, flags, byOpenArtifact)
	}
}

// repeats reports whether the text was already said in the task by another carrier.
func (t *task) repeats(text digest, by carrier) bool {
	others := byArtifact | byStatus | byMessage | byOpenArtifact
	switch by {
	case byArtifact: // two closed artifacts may say the same
		others = byStatus | byMessage
	case byOpenArtifact:
		others = byArtifact | byStatus | byMessage
	default:
		others &^= by
	}
	return t.said[text]&others != 0
}

func (t *task) say(text digest, by carrier) {
	t.said[text] |= by
	t.answered = true
}

// know notes an agent's message and reports whether the same one was known.
func (t *task) know(id, text string) (before bool) {
	key := userKey{id, sum([]byte(text))}
	before = t.known[key]
	t.known[key] = true
	if id != "" {
		t.knownIDs[id] = true
	}
	return before
}
