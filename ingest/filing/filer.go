package filing

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// answerWithin is how long an exchange that names no conversation waits for its first whole answer,
// from the first byte of one.
const answerWithin = 5 * time.Second

// keys is what a filer needs of topology.FiledKeys: a key is written once and never changed.
type keys interface {
	Get(ctx context.Context, key string) (topology.Filing, bool, error)
	Keep(ctx context.Context, key string, f topology.Filing) (topology.Filing, error)
}

// filer decides which capture each exchange belongs to, and holds its frames until that is decided.
// Decided frames go to out in the order of their offsets, those of one capture at least.
type filer struct {
	head  journal.Head
	keys  keys
	out   func(ctx context.Context, id schema.Identity, f schema.Frame) error
	tree  jsontree.Reader
	open  map[string]*filed
	held  []*filed // undecided, or waiting for their place, by their first frame
	tasks map[string]schema.Identity

	at   uint64                     // first byte of the entry being filed
	last map[schema.Identity]uint64 // the last place given to a held frame there, by capture
}

// maxHeld bounds the frames that an exchange holds. There are fewer, but where a journal is full of gaps.
const maxHeld = releaseSlots / 2

// maxTasks bounds the tasks remembered; the bucket knows them all.
const maxTasks = 100_000

// filed is an exchange that has not ended.
type filed struct {
	exchange string
	capture  schema.Identity
	decided  bool // frames go to the capture
	bound    bool // what it was asked with names its conversation
	known    bool // an earlier run decided; the frames begin at place
	place    uint64
	asked    wire.Names // by its request
	frames   []schema.Frame
	answered time.Time // first byte of an answer
	kept     bool      // an answer's task is in the bucket
}

func newFiler(h journal.Head, k keys, out func(context.Context, schema.Identity, schema.Frame) error) *filer {
	return &filer{
		head: h, keys: k, out: out, tree: jsontree.Reader{Depth: wire.Depth}, open: map[string]*filed{},
		tasks: map[string]schema.Identity{}, last: map[schema.Identity]uint64{},
	}
}

// file files the frames that were cut from an entry.
func (f *filer) file(ctx context.Context, e journal.Entry, frames []schema.Frame) error {
	if err := f.come(ctx, e.Start(), e.At); err != nil {
		return err
	}
	if e.Type == schema.TypeHTTP && e.Chan != schema.ChanRequest && e.Chan != schema.ChanPush {
		if x := f.open[e.Exchange.String()]; x != nil && x.answered.IsZero() {
			x.answered = e.At
		}
	}
	for i := range frames {
		if err := f.frame(ctx, &frames[i]); err != nil {
			return err
		}
	}
	return nil
}

// come goes to a place in the journal: what was held until there, or waited long enough by then, goes
// out before what stands there.
func (f *filer) come(ctx context.Context, place uint64, now time.Time) error {
	if place != f.at {
		f.at = place
		clear(f.last)
	}
	if err := f.releaseKnown(ctx, place+releaseSlots); err != nil {
		return err
	}
	var late []*filed
	for _, x := range f.held {
		if !x.known && !x.answered.IsZero() && now.Sub(x.answered) >= answerWithin {
			late = append(late, x)
		}
	}
	for _, x := range late {
		if err := f.decide(ctx, x, f.own(x.exchange)); err != nil {
			return err
		}
	}
	return nil
}

// releaseKnown lets the exchanges go whose place is known and not behind a limit.
func (f *filer) releaseKnown(ctx context.Context, limit uint64) error {
	var known []*filed
	for _, x := range f.held {
		if x.known && x.place <= limit {
			known = append(known, x)
		}
	}
	slices.SortFunc(known, func(a, b *filed) int { return cmp.Compare(a.place, b.place) })
	for _, x := range known {
		if err := f.release(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

// end files the frames of the journal's end; nothing is held any more then.
func (f *filer) end(ctx context.Context, end uint64, at time.Time, frames []schema.Frame) error {
	if err := f.come(ctx, end, at); err != nil {
		return err
	}
	for i := range frames {
		if err := f.frame(ctx, &frames[i]); err != nil {
			return err
		}
	}
	return f.releaseKnown(ctx, math.MaxUint64) // a journal that lost its end does not reach their places
}

// due is when the next exchange has waited long enough; zero if none waits for a time.
func (f *filer) due() (at time.Time) {
	for _, x := range f.held {
		if x.known || x.answered.IsZero() {
			continue
		}
		if end := x.answered.Add(answerWithin); at.IsZero() || end.Before(at) {
			at = end
		}
	}
	return at
}

// waiting is the offset of the first frame that is held; ok is false if none is.
func (f *filer) waiting() (offset uint64, ok bool) {
	for _, x := range f.held {
		if len(x.frames) > 0 && (!ok || x.frames[0].Writer.Offset < offset) {
			offset, ok = x.frames[0].Writer.Offset, true
		}
	}
	return offset, ok
}

func (f *filer) frame(ctx context.Context, frame *schema.Frame) error {
	x := f.open[frame.Exchange]
	if x == nil {
		x = &filed{exchange: frame.Exchange}
		if frame.Exchange == "" { // damage of the journal that no exchange can be named for
			x.capture, x.decided = f.conversation("journal/"+f.head.ID), true
		} else {
			f.open[frame.Exchange] = x
			f.held = append(f.held, x)
		}
	}
	original := frame.Type == schema.TypeData && !isServed(frame)
	answers := original && frame.Chan != schema.ChanRequest
	if !x.decided {
		x.frames = append(x.frames, *frame)
	}
	if !x.decided && !x.known {
		var err error
		switch {
		case original && frame.Chan == schema.ChanRequest:
			err = f.ask(ctx, x, frame)
		case answers:
			err = f.answer(ctx, x, frame)
		case frame.Type == schema.TypeClose, len(x.frames) >= maxHeld:
			err = f.decide(ctx, x, f.own(x.exchange))
		}
		if err != nil {
			return err
		}
	} else if x.decided {
		if answers && !x.kept {
			if err := f.keep(ctx, x, f.answerNames(frame).Task); err != nil {
				return err
			}
		}
		if err := f.out(ctx, x.capture, *frame); err != nil {
			return err
		}
	}
	if frame.Type == schema.TypeClose && x.decided {
		delete(f.open, x.exchange)
	}
	return nil
}

// ask decides by what a request names, if that is enough.
func (f *filer) ask(ctx context.Context, x *filed, request *schema.Frame) error {
	var evidence wire.Evidence
	if len(request.HTTP) > 0 {
		if err := json.Unmarshal(request.HTTP, &evidence); err != nil {
			return fmt.Errorf("file exchange %s: read its evidence: %w", x.exchange, err)
		}
	}
	x.asked = wire.RequestNames(evidence, f.read(request.Data))
	if x.asked.Context != "" {
		return f.decide(ctx, x, f.conversation(x.asked.Context))
	}
	id, err := uuid.Parse(x.exchange)
	if err != nil {
		return fmt.Errorf("file exchange %q: %w", x.exchange, err)
	}
	filing, ok, err := f.keys.Get(ctx, topology.ExchangeKey(id))
	if err != nil {
		return err
	}
	if ok {
		x.capture, x.known, x.place = filing.Capture, true, filing.Offset
		return nil
	}
	return f.askTask(ctx, x, id)
}

// askTask decides by the task that a request names. That nobody knew the task is noted: by the time the
// journal is read again somebody may, and other frames of its conversation stand behind the request.
func (f *filer) askTask(ctx context.Context, x *filed, id uuid.UUID) error {
	if x.asked.Task == "" {
		return nil
	}
	_, held, err := f.keys.Get(ctx, topology.HeldKey(id))
	if err != nil || held {
		return err
	}
	capture, ok, err := f.task(ctx, x.asked.Task)
	switch {
	case err != nil:
		return err
	case ok:
		return f.decide(ctx, x, capture)
	}
	_, err = f.keys.Keep(ctx, topology.HeldKey(id), topology.Filing{Capture: f.own(x.exchange)})
	return err
}

// answer decides by an exchange's first answer, or by a push.
func (f *filer) answer(ctx context.Context, x *filed, answer *schema.Frame) error {
	names := f.answerNames(answer)
	if answer.Chan == schema.ChanPush && names.Context != "" {
		x.bound = true
		return f.decideAnswered(ctx, x, f.conversation(names.Context), names.Task)
	}
	for _, task := range []string{x.asked.Task, names.Task} {
		capture, ok, err := f.task(ctx, task)
		if err != nil {
			return err
		}
		if ok {
			return f.decideAnswered(ctx, x, capture, names.Task)
		}
	}
	if names.Context != "" {
		return f.decideAnswered(ctx, x, f.conversation(names.Context), names.Task)
	}
	return f.decideAnswered(ctx, x, f.own(x.exchange), names.Task)
}

// decideAnswered decides, after the answer's task is in the bucket: a task that others ask for is
// filed before anything of it is stored.
func (f *filer) decideAnswered(ctx context.Context, x *filed, capture schema.Identity, task string) error {
	x.capture = capture
	if err := f.keep(ctx, x, task); err != nil {
		return err
	}
	return f.decide(ctx, x, x.capture)
}

// keep notes in the bucket that the exchange's capture is that of the task. Where another one is there
// already, an exchange that is not decided goes there.
func (f *filer) keep(ctx context.Context, x *filed, task string) error {
	if task == "" {
		return nil
	}
	x.kept = true
	key := f.taskKey(task)
	if there, ok := f.tasks[key]; ok {
		x.follow(there)
		return nil
	}
	filing, err := f.keys.Keep(ctx, key, topology.Filing{Capture: x.capture})
	if err != nil {
		return err
	}
	f.remember(key, filing.Capture)
	x.follow(filing.Capture)
	return nil
}

func (x *filed) follow(capture schema.Identity) {
	if !x.decided && !x.bound {
		x.capture = capture
	}
}

// task looks a task up.
func (f *filer) task(ctx context.Context, task string) (schema.Identity, bool, error) {
	if task == "" {
		return schema.Identity{}, false, nil
	}
	key := f.taskKey(task)
	if id, ok := f.tasks[key]; ok {
		return id, true, nil
	}
	filing, ok, err := f.keys.Get(ctx, key)
	if err == nil && ok {
		f.remember(key, filing.Capture)
	}
	return filing.Capture, ok, err
}

func (f *filer) remember(key string, id schema.Identity) {
	if len(f.tasks) >= maxTasks {
		clear(f.tasks)
	}
	f.tasks[key] = id
}

func (f *filer) taskKey(task string) string {
	id := f.head.Identity
	return topology.TaskKey(id.Namespace, id.Workflow, f.head.Open.Peer, task)
}

// decide files the exchange in a capture. Frames cut from the present entry keep their places; those
// that were held since an earlier one get places here, which are kept for the next reader.
func (f *filer) decide(ctx context.Context, x *filed, capture schema.Identity) error {
	x.capture = capture
	if len(x.frames) > 0 && x.frames[0].Writer.Offset <= f.at {
		id, err := uuid.Parse(x.exchange)
		if err != nil {
			return fmt.Errorf("file exchange %q: %w", x.exchange, err)
		}
		place := max(f.at, f.last[capture]) + 1
		if place+maxHeld > f.at+releaseSlots { // many were held for one conversation: this one stays alone
			capture = f.own(x.exchange)
			place = f.at + 1
		}
		filing, err := f.keys.Keep(ctx, topology.ExchangeKey(id), topology.Filing{Capture: capture, Offset: place})
		if err != nil {
			return err
		}
		x.capture, x.place, x.known = filing.Capture, filing.Offset, true
		if x.place > f.at+releaseSlots { // its place is behind
			return nil
		}
	}
	return f.release(ctx, x)
}

// release lets the frames of a decided exchange go.
func (f *filer) release(ctx context.Context, x *filed) error {
	x.decided = true
	f.held = slices.DeleteFunc(f.held, func(other *filed) bool { return other == x })
	place, frames := x.place, x.frames
	x.frames = nil
	for _, frame := range frames {
		if x.known && frame.Writer.Offset < place {
			frame.Writer.Offset = place
			f.last[x.capture] = place
			place++
		}
		if err := f.out(ctx, x.capture, frame); err != nil {
			return err
		}
	}
	return nil
}

// own is the capture of an exchange that no conversation is known for.
func (f *filer) own(exchange string) schema.Identity { return f.conversation(exchange) }

func (f *filer) conversation(name string) schema.Identity {
	id := f.head.Identity
	id.Run = schema.ConversationRun(f.head.Open.Peer, name)
	return id
}

// answerNames reads what an answer names: the whole of it, or the data of its event.
func (f *filer) answerNames(frame *schema.Frame) wire.Names {
	data := frame.Data
	if frame.Chan == schema.ChanStream {
		events, _ := wire.AppendEvents(nil, data)
		if len(events) == 0 {
			return wire.Names{}
		}
		data = events[0].Data
	}
	return wire.AnswerNames(f.read(data))
}

// read gives a text's JSON value, absent for anything else.
func (f *filer) read(data []byte) jsontree.Value {
	if _, err := f.tree.Read(data); err != nil {
		return jsontree.Value{} // the translator says what it is
	}
	return f.tree.Root()
}

// isServed reports whether a frame is a copy that a proxy made.
func isServed(frame *schema.Frame) bool {
	if !bytes.Contains(frame.HTTP, []byte(`"served"`)) {
		return false
	}
	var says struct{ Served string }
	return json.Unmarshal(frame.HTTP, &says) == nil && says.Served != ""
}
