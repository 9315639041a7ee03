// Package verifytest has captures of a toy protocol for tests of proofs.
package verifytest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/verify"
)

// Tale is a toy protocol with frames in memory: "c" is a chunk of session 1's message, "m" ends the
// message, anything else is an event of session 0 by itself.
type Tale struct {
	Of map[schema.Identity][]*schema.Frame
}

// Captures implements verify.Frames.
func (s Tale) Captures(context.Context) iter.Seq2[verify.Held, error] {
	return func(yield func(verify.Held, error) bool) {
		for id, frames := range s.Of {
			if !yield(verify.Held{Capture: id, Frames: uint64(len(frames))}, nil) {
				return
			}
		}
	}
}

// Frames implements verify.Frames: it gives a frame of each capture in turn, as captures that are recorded at the same time stand on
// a stream.
func (s Tale) Frames(context.Context) iter.Seq2[verify.Frame, error] {
	return func(yield func(verify.Frame, error) bool) {
		for n, more := 0, true; more; n++ {
			more = false
			for id, frames := range s.Of {
				if n >= len(frames) {
					continue
				}
				more = true
				if !yield(verify.Frame{Capture: id, Frame: frames[n]}, nil) {
					return
				}
			}
		}
	}
}

// Tell makes a capture of words, one a frame.
func Tell(t testing.TB, words string) []*schema.Frame {
	t.Helper()
	var out []*schema.Frame
	for word := range strings.FieldsSeq(words) {
		n := uint64(len(out) + 1)
		f := &schema.Frame{
			Seq: n, At: ledgertest.At(n), From: schema.FromAgent, Type: schema.TypeData, End: schema.EndLF, Data: []byte(word),
			Salt: fmt.Sprintf("%032x", n), Writer: schema.Writer{Journal: "j", Offset: n},
		}
		if word == "gap" {
			f.From, f.Type, f.Data = schema.FromControl, schema.TypeGap, []byte("{}")
		}
		out = append(out, f)
	}
	Chain(t, out)
	return out
}

// Chain gives frames their chains.
func Chain(t testing.TB, frames []*schema.Frame) {
	t.Helper()
	before := ""
	for _, f := range frames {
		var err error
		f.Chain, err = schema.ChainHash(before, f)
		require.NoError(t, err)
		before = f.Chain
	}
}

// Fold folds frames of words.
func Fold(id schema.Identity, version string) verify.Fold {
	var chunks []uint64
	source := schema.Source{Protocol: schema.ACP, Dialect: "1", Translator: "tale/1"}
	return verify.Fold{
		Open:  func() map[uint32]uint64 { return map[uint32]uint64{1: uint64(len(chunks))} },
		About: func(*schema.Frame, []schema.Event) map[uint32]schema.About { return nil },
		Step: func(f *schema.Frame) ([]schema.Event, error) {
			if version != "tale/1" {
				return nil, fmt.Errorf("no translator %q: %w", version, verify.ErrVersion)
			}
			e := schema.Event{
				Transcript: schema.Transcript{Identity: id}, AgentRole: "agent", EmittedAt: f.At, WorkerSeq: f.Seq,
				Source: source, Kind: ledgertest.Raw(string(f.Data)), Frames: []schema.Range{{f.Seq, f.Seq}},
			}
			switch string(f.Data) {
			case "bad":
				return nil, errors.New("no fold takes it")
			case "lost":
				return nil, nil
			case "c":
				chunks = append(chunks, f.Seq)
				e.Session, e.Ephemeral, e.Kind = 1, true, &schema.Delta{MessageID: "m", TextFragment: "c"}
			case "m":
				e.Session, e.Frames = 1, nil
				for _, n := range append(chunks, f.Seq) {
					e.Frames = append(e.Frames, schema.Range{n, n})
				}
				chunks = nil
			}
			e.EventID = schema.EventID(id, e.Origin())
			return []schema.Event{e}, nil
		},
	}
}

// Record folds frames into one record from a frame on.
func Record(t testing.TB, id schema.Identity, frames []*schema.Frame, from uint64) schema.Record {
	t.Helper()
	fold := Fold(id, "tale/1")
	r := schema.Record{First: map[uint32]uint64{}, Translator: "tale/1"}
	ordinals := map[uint32]uint64{}
	for _, f := range frames {
		events, err := fold.Step(f)
		require.NoError(t, err)
		for _, e := range events {
			if e.Ephemeral {
				continue
			}
			ordinals[e.Session]++
			if f.Seq < from {
				continue
			}
			if r.First[e.Session] == 0 {
				r.First[e.Session] = ordinals[e.Session]
			}
			r.Last, r.Chain, r.Open = e.Origin(), f.Chain, fold.Open()
			r.Events = append(r.Events, e.AppendJSON(nil))
		}
	}
	return r
}
