package follow

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

func stored(frame uint64, kind schema.Kind) *schema.Event {
	return &schema.Event{WorkerSeq: frame, Kind: kind}
}

func answerKey(id string) messageKey { return keyOf(schema.Assistant, schema.Answer, id) }

func TestANoteThatIsStoredIsNotOpen(t *testing.T) {
	reply := schema.OpenReply{Frame: 5, Notes: []schema.OpenNote{{TaskID: "t", Text: "Looking"}, {TaskID: "u", Text: "Waiting"}, {Session: 1, TaskID: "v"}}}
	v := newView(0)
	v.store(&schema.Event{WorkerSeq: 6, Source: schema.Source{TaskID: "t"}, Kind: &schema.Progress{Detail: &schema.Note{Text: "Looking"}}})
	v.store(&schema.Event{WorkerSeq: 4, Source: schema.Source{TaskID: "u"}, Kind: &schema.Progress{Detail: &schema.Note{Text: "Before"}}})
	require.Equal(t, reply.Notes[1:2], v.snapshot(&reply).Notes)
	reply.Frame = 7
	require.Equal(t, reply.Notes[:2], v.snapshot(&reply).Notes, "it is another one")
}

func TestViewForgetsWhatIsLongPast(t *testing.T) {
	v := newView(1)
	const messages = 5 * maxClosed
	for frame := uint64(1); frame <= messages; frame++ {
		v.store(stored(frame, &schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: fmt.Sprint("m", frame)}))
		v.store(stored(frame, &schema.ToolState{ToolID: fmt.Sprint("t", frame)}))
		require.LessOrEqual(t, len(v.closed)+len(v.tools), maxClosed+1)
	}
	for _, frame := range []uint64{1, messages / 2, messages} {
		require.Equal(t, known, v.piece(answerKey(fmt.Sprint("m", frame)), frame, 0), "a late piece of %d", frame)
	}
	require.Equal(t, next, v.piece(answerKey("new"), messages+1, 0))
	require.Equal(t, missed, v.piece(answerKey("newer"), messages+2, 1))
}

func TestViewComparesHeadsByIDOnly(t *testing.T) {
	thought := keyOf(schema.Assistant, schema.Thought, "m")
	heads := func(frame uint64, next ...uint64) *schema.Heads {
		h := &schema.Heads{Frame: frame}
		for _, n := range next {
			h.Heads = append(h.Heads, schema.Head{MessageID: "m", Next: n})
		}
		return h
	}
	v := newView(1)
	v.open[answerKey("m")], v.open[thought] = 5, 2
	require.False(t, v.behind(heads(9, 5, 2)))
	require.False(t, v.behind(heads(9, 2, 5)))
	require.False(t, v.behind(heads(9, 4)), "heads that are older")
	require.True(t, v.behind(heads(9, 3, 5)))
	require.True(t, v.behind(heads(9, 6, 1)))

	v.store(stored(8, &schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: "m"}))
	require.False(t, v.behind(heads(7, 6, 2)), "the answer was open then")
	require.True(t, v.behind(heads(8, 3)), "the thought is open still")
	v.settle(8)
	require.False(t, v.behind(heads(8, 3)), "a snapshot of that frame was shown")
}

func TestViewKeepsAUsersMessageApart(t *testing.T) {
	v := newView(1)
	v.store(stored(3, &schema.Message{Role: schema.User, Channel: schema.Answer, MessageID: "m"}))
	require.Equal(t, next, v.piece(answerKey("m"), 2, 0))
}
