package filing

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// maxHeld bounds the frames that an exchange holds. There are fewer, but where a journal is full of gaps.
const maxHeld = releaseSlots / 2

// consider decides an exchange if its newest frame tells enough.
func (f *filer) consider(ctx context.Context, x *attribution, frame *schema.Frame, original, answers bool) error {
	switch {
	case x.known:
		return nil
	case original && frame.Chan == schema.ChanRequest:
		return f.ask(ctx, x, frame)
	case !answers && frame.Type != schema.TypeClose && len(x.frames) < maxHeld:
		return nil
	}
	if err := f.look(ctx, x); err != nil || x.known {
		return err
	}
	if answers {
		return f.answer(ctx, x, frame)
	}
	return f.decide(ctx, x, f.own(x.exchange))
}

// look asks once whether an earlier run decided.
func (f *filer) look(ctx context.Context, x *attribution) error {
	if x.looked {
		return nil
	}
	id, err := x.id()
	if err != nil {
		return err
	}
	filing, ok, err := f.keys.Get(ctx, topology.ExchangeKey(id))
	if err != nil {
		return err
	}
	x.looked = true
	if ok {
		x.capture, x.known, x.place = filing.Capture, true, filing.Offset
	}
	return nil
}

func (x *attribution) id() (uuid.UUID, error) {
	id, err := uuid.Parse(x.exchange)
	if err != nil {
		return id, fmt.Errorf("file exchange %q: %w", x.exchange, err)
	}
	return id, nil
}

// ask decides by what a request names, if that is enough.
func (f *filer) ask(ctx context.Context, x *attribution, request *schema.Frame) error {
	var evidence wire.Evidence
	if json.Unmarshal(request.HTTP, &evidence) != nil {
		evidence = wire.Evidence{} // it is not there, or in a gap: the body may tell
	}
	x.asked = wire.RequestNames(evidence, f.read(request.Data))
	if x.asked.Context != "" {
		x.bound = true
		return f.decide(ctx, x, f.conversation(x.asked.Context))
	}
	if err := f.look(ctx, x); err != nil || x.known {
		return err
	}
	return f.askTask(ctx, x)
}

// askTask decides by the task that a request names. That nobody knew the task is noted: by the time the
// journal is read again somebody may, and other frames of its conversation stand behind the request.
func (f *filer) askTask(ctx context.Context, x *attribution) error {
	if x.asked.Task == "" {
		return nil
	}
	id, err := x.id()
	if err != nil {
		return err
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
func (f *filer) answer(ctx context.Context, x *attribution, answer *schema.Frame) error {
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
func (f *filer) decideAnswered(ctx context.Context, x *attribution, capture schema.Identity, task string) error {
	x.capture = capture
	if err := f.keep(ctx, x, task); err != nil {
		return err
	}
	return f.decide(ctx, x, x.capture)
}

// decide files the exchange in a capture. Frames cut from the present entry keep their places; those
// that were held since an earlier one get places here, which are kept for the next reader.
func (f *filer) decide(ctx context.Context, x *attribution, capture schema.Identity) error {
	x.capture = capture
	if len(x.frames) > 0 && x.frames[0].Writer.Offset <= f.at {
		id, err := x.id()
		if err != nil {
			return err
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
func (f *filer) release(ctx context.Context, x *attribution) error {
	x.decided = true
	f.held = slices.DeleteFunc(f.held, func(other *attribution) bool { return other == x })
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
		if frame.Type == schema.TypeClose {
			delete(f.open, x.exchange)
		}
	}
	return nil
}

// releaseKnown lets the exchanges go whose place is known and not behind a limit.
func (f *filer) releaseKnown(ctx context.Context, limit uint64) error {
	var known []*attribution
	for _, x := range f.held {
		if x.known && x.place <= limit {
			known = append(known, x)
		}
	}
	slices.SortFunc(known, func(a, b *attribution) int { return cmp.Compare(a.place, b.place) })
	for _, x := range known {
		if err := f.release(ctx, x); err != nil {
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
