package translatetest

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// Properties checks what holds for every input: the fold is pure, can be rebuilt at any frame, or saved
// and restored there; its events are well formed and in order, deltas join to their message, and every
// frame is accounted for.
func Properties(t testing.TB, tr translate.Translator, frames []schema.Frame) {
	t.Helper()
	whole := Fold(tr, frames)
	samePure(t, tr, frames, Encode(whole))
	rebuilt(t, tr, frames, whole)
	wellFormed(t, frames, whole)
	countable(t, whole)
	deltasJoin(t, whole)
	accounted(t, tr, frames)
	ended(t, tr, frames, whole)
	restored(t, tr, frames)
	damaged(t, tr, frames)
	quiet(t, tr, frames, whole)
}

// quiet folds without ephemeral events: the durable ones and what is open are the same.
func quiet(t testing.TB, tr translate.Translator, frames []schema.Frame, whole []schema.Event) {
	t.Helper()
	fold, other := tr.Fold(testIdentity), tr.Fold(testIdentity)
	q, ok := fold.(translate.Quieter)
	if !ok {
		return
	}
	q.Quiet()
	var events []schema.Event
	for i := range frames {
		events = fold.Step(events, &frames[i])
		other.Step(nil, &frames[i])
	}
	durable := slices.DeleteFunc(slices.Clone(whole), func(e schema.Event) bool { return e.Ephemeral })
	require.Equal(t, string(Encode(durable)), string(Encode(events)))
	require.Equal(t, other.Open(), fold.Open())
}

// ended ends the capture without a close frame: its events are well formed too, and nothing is open.
func ended(t testing.TB, tr translate.Translator, frames []schema.Frame, whole []schema.Event) {
	t.Helper()
	if len(frames) == 0 {
		return
	}
	fold := tr.Fold(testIdentity)
	for i := range frames {
		fold.Step(nil, &frames[i])
	}
	all := fold.End(slices.Clone(whole))
	wellFormed(t, frames, all)
	deltasJoin(t, all)
	countable(t, all)
	open := fold.Open()
	require.Empty(t, open.Messages)
	require.Empty(t, open.Frames)
	require.Empty(t, open.Tools)
}

// samePure folds again under one processor and many, into one slice and frame by frame.
func samePure(t testing.TB, tr translate.Translator, frames []schema.Frame, want []byte) {
	t.Helper()
	for _, procs := range []int{1, runtime.NumCPU() + 1} {
		before := runtime.GOMAXPROCS(procs)
		again := Encode(Fold(tr, frames))
		fold, other := tr.Fold(testIdentity), tr.Fold(testIdentity)
		var single []byte
		for i := range frames {
			single = append(single, Encode(fold.Step(nil, &frames[i]))...)
			other.Step(nil, &frames[i])
			for session := range uint32(4) {
				require.Equal(t, fold.About(session), other.About(session))
			}
		}
		runtime.GOMAXPROCS(before)
		require.Equal(t, string(want), string(again), "a second fold gives other bytes")
		require.Equal(t, string(want), string(single), "frame by frame gives other bytes")
	}
}

// rebuilt cuts the capture behind each frame, builds a fold anew from the first frame, and goes on.
// Long captures are cut at about a hundred places.
func rebuilt(t testing.TB, tr translate.Translator, frames []schema.Frame, whole []schema.Event) {
	t.Helper()
	step := max(1, len(frames)/100)
	for cut := 0; cut <= len(frames); cut += step {
		fold := tr.Fold(testIdentity)
		given := 0
		for i := range frames[:cut] {
			given += len(fold.Step(nil, &frames[i]))
		}
		var rest []schema.Event
		for i := range frames[cut:] {
			rest = fold.Step(rest, &frames[cut+i])
		}
		require.Equal(t, string(Encode(whole[given:])), string(Encode(rest)), "cut behind frame %d", cut)
	}
}

func wellFormed(t testing.TB, frames []schema.Frame, events []schema.Event) {
	t.Helper()
	var last schema.Origin
	for i := range events {
		e := &events[i]
		line := e.AppendJSON(nil)
		require.True(t, json.Valid(line), "event %s is not JSON: %s", e.Origin(), line)
		require.True(t, utf8.Valid(line), "event %s is not UTF-8", e.Origin())
		require.NotContains(t, string(line), "\n")
		require.Equal(t, 1, e.Origin().Compare(last), "event %s does not follow %s", e.Origin(), last)
		last = e.Origin()
		back, err := schema.DecodeEvent(line)
		require.NoError(t, err)
		require.Equal(t, string(line), string(back.AppendJSON(nil)), "event %s changes when it is read", e.Origin())
		require.NotEmpty(t, e.Frames, "event %s names no frame", e.Origin())
		for j, r := range e.Frames {
			require.LessOrEqual(t, r[0], r[1])
			require.LessOrEqual(t, r[1], e.WorkerSeq)
			require.True(t, j == 0 || e.Frames[j-1][1]+1 < r[0], "event %s: ranges %v touch", e.Origin(), e.Frames)
		}
		require.Zero(t, e.StoreSeq)
		require.Equal(t, schema.EventID(e.Identity, e.Origin()), e.EventID)
		require.Equal(t, frames[e.WorkerSeq-frames[0].Seq].At.UTC(), e.EmittedAt)
	}
}

// deltasJoin joins the deltas of each message since its last reset, and compares with the message. An
// id is one message's for good. A message that came whole, or was made of progress, has no deltas; a
// revision of one that was stored has those of what it adds.
func deltasJoin(t testing.TB, events []schema.Event) {
	t.Helper()
	type key struct {
		session uint32
		channel schema.Channel
		id      string
	}
	type typed struct {
		text   string
		next   uint64
		closed bool
	}
	open, stored := map[key]typed{}, map[string]bool{}
	add := func(e *schema.Event, k key, index uint64, text string, reset bool) {
		require.True(t, e.Ephemeral, "event %s: a piece of text is stored", e.Origin())
		o := open[k]
		require.False(t, o.closed, "event %s: a piece for a message that is closed: %v", e.Origin(), k)
		require.Equal(t, o.next, index, "event %s: index of a piece of %v", e.Origin(), k)
		if reset {
			o.text = ""
		}
		open[k] = typed{text: o.text + text, next: index + 1}
	}
	for i := range events {
		e := &events[i]
		k := key{session: e.Session, channel: schema.Answer}
		switch kind := e.Kind.(type) {
		case *schema.Delta:
			k.id = kind.MessageID
			add(e, k, kind.Index, kind.TextFragment, kind.Reset)
			continue
		case *schema.Progress:
			if d, ok := kind.Detail.(*schema.Thinking); ok {
				k.id, k.channel = d.MessageID, schema.Thought
				add(e, k, d.Index, d.Text, d.Reset)
				continue
			}
			if _, ok := kind.Detail.(*schema.Note); ok && e.Ephemeral {
				continue // progress as it is typed
			}
		case *schema.Message:
			if kind.Role != schema.User {
				k.id, k.channel = kind.MessageID, kind.Channel
				require.False(t, open[k].closed, "event %s: a second message %v", e.Origin(), k)
				whole := kind.Boundary == schema.BoundaryWhole || e.Has(schema.FlagPromoted)
				text, base := open[k].text, ""
				if kind.Revision > 1 && strings.HasSuffix(kind.Text, text) {
					base = strings.TrimSuffix(kind.Text, text)
				}
				switch {
				case base != "" && stored[base]:
				case !whole || open[k].next > 0:
					require.Equal(t, kind.Text, text, "event %s: pieces of message %v", e.Origin(), k)
				}
				open[k], stored[kind.Text] = typed{closed: true}, true
			}
		}
		require.False(t, e.Ephemeral, "event %s is not stored", e.Origin())
	}
}

// countable counts the capture's frames as a sink does, from the durable events alone: the frames
// behind an event always, the frame that produced it once; frames of several objects, whose events
// all say so, once in all. None may count twice.
func countable(t testing.TB, events []schema.Event) {
	t.Helper()
	var last uint64
	counted, shared := map[uint64]int{}, map[uint64]bool{}
	for i := range events {
		e := &events[i]
		if e.Ephemeral {
			continue
		}
		several := e.Has(schema.FlagRecovered) || e.Has(schema.FlagBatch)
		for _, r := range e.Frames {
			for n := r[0]; n <= r[1]; n++ {
				switch {
				case several && shared[n], !several && n == e.WorkerSeq && n == last:
					continue
				case several:
					shared[n] = true
				}
				counted[n]++
			}
		}
		if n := len(e.Frames); e.Frames[n-1][1] == e.WorkerSeq {
			last = e.WorkerSeq
		}
	}
	for frame, n := range counted {
		require.Equal(t, 1, n, "frame %d counts %d times", frame, n)
	}
}

// accounted checks after every frame that each one is named by an event that accounts for it, or
// counted as open.
func accounted(t testing.TB, tr translate.Translator, frames []schema.Frame) {
	t.Helper()
	fold := tr.Fold(testIdentity)
	named := map[uint64]bool{}
	for i := range frames {
		for _, e := range fold.Step(nil, &frames[i]) {
			if e.Ephemeral {
				continue
			}
			for _, r := range e.Frames {
				for n := r[0]; n <= r[1]; n++ {
					named[n] = true
				}
			}
		}
		var open uint64
		for _, n := range fold.Open().Frames {
			open += n
		}
		require.Equal(t, uint64(i)+1, uint64(len(named))+open, "after frame %d", frames[i].Seq)
	}
	isEnd := func(f schema.Frame) bool { return f.Type == schema.TypeClose && f.Exchange == "" }
	if ends := slices.IndexFunc(frames, isEnd) == len(frames)-1; ends && len(frames) > 0 {
		open := fold.Open()
		require.Empty(t, open.Messages, "messages open behind the close")
		require.Empty(t, open.Frames, "frames open behind the close")
		require.Empty(t, open.Tools, "tools open behind the close")
	}
}

// OneRawEach checks that every frame which is not part of a message has exactly one Raw. Frames that
// hold several objects, or noise and an object, are left out.
func OneRawEach(frames []schema.Frame, events []schema.Event) error {
	raws, messages := map[uint64]int{}, map[uint64]bool{}
	several := map[uint64]bool{}
	for i := range events {
		e := &events[i]
		_, isRaw := e.Kind.(*schema.Raw)
		if e.Has(schema.FlagBatch) || e.Has(schema.FlagRecovered) {
			several[e.WorkerSeq] = true
		}
		for _, r := range e.Frames {
			for n := r[0]; n <= r[1]; n++ {
				if isRaw {
					raws[n]++
				} else if _, ok := e.Kind.(*schema.Message); ok && n != e.WorkerSeq {
					messages[n] = true
				}
			}
		}
	}
	for i := range frames {
		n := frames[i].Seq
		if !several[n] && raws[n] != 1 && !(raws[n] == 0 && messages[n]) {
			return fmt.Errorf("frame %d has %d Raw events", n, raws[n])
		}
	}
	return nil
}
