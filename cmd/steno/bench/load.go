package bench

import (
	"errors"
	"slices"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// chunks is a recording's streamed text.
type chunks struct {
	before []schema.Frame // up to the message that the chunks continue
	chunks []schema.Frame
	// session is the one that the first of them is said in.
	session uint32
}

// recording is the first recording of a protocol.
func (b *bench) recording(p schema.Protocol) (Recording, error) {
	for _, r := range b.Recordings {
		if r.Protocol == p {
			return r, nil
		}
	}
	return Recording{}, errors.New("no recording of " + string(p))
}

// chunksOf finds the frames that do nothing but continue an open message.
func (b *bench) chunksOf(r Recording) (chunks, error) {
	capture := translate.NewCapture(identity("chunks", 0), b.Catalogue, "")
	var found chunks
	var events []schema.Event
	for i := range r.Frames {
		f := r.Frames[i]
		var err error
		if events, err = capture.Step(events[:0], &f); err != nil {
			return chunks{}, err
		}
		switch {
		case continues(events):
			if len(found.chunks) == 0 {
				found.session = events[0].Session
			}
			found.chunks = append(found.chunks, f)
		case len(found.chunks) == 0:
			found.before = append(found.before, f)
		}
	}
	if len(found.chunks) == 0 {
		return chunks{}, errors.New("no chunks in " + r.Name)
	}
	return found, nil
}

func continues(events []schema.Event) bool {
	return len(events) > 0 && !slices.ContainsFunc(events, func(e schema.Event) bool {
		delta, ok := e.Kind.(*schema.Delta)
		return !ok || delta.Reset || delta.Index == 0
	})
}

// events counts what a recording's fold gives.
func (b *bench) events(r Recording) (durable, all int, err error) {
	capture := translate.NewCapture(identity("count", 0), b.Catalogue, "")
	var events []schema.Event
	for i := range r.Frames {
		if events, err = capture.Step(events[:0], &r.Frames[i]); err != nil {
			return 0, 0, err
		}
		all += len(events)
		for j := range events {
			if !events[j].Ephemeral {
				durable++
			}
		}
	}
	return durable, all, nil
}

// durable counts the durable events of a backlog.
func (b *bench) durable(l *backlog) (int, error) {
	counts := map[string]int{}
	total := 0
	for _, of := range l.of {
		if _, ok := counts[of.Name]; !ok {
			n, _, err := b.events(of)
			if err != nil {
				return 0, err
			}
			counts[of.Name] = n
		}
		total += counts[of.Name]
	}
	return total, nil
}

// identity is capture n of a measurement.
func identity(of string, n int) schema.Identity {
	return schema.Identity{Namespace: "bench", Workflow: of, Run: "0", Activity: uint64(n), Attempt: 1}
}
