package main

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
)

var key = schema.Transcript{Identity: schema.Identity{Namespace: "default", Workflow: "w", Run: "r", Attempt: 1}, Session: 1}

// desk is a run without its loop, and the test in the place of everybody else.
type desk struct {
	*run
	*eye
	t     *testing.T
	asked *nats.Subscription
}

func newDesk(t *testing.T) *desk {
	s := natstest.StartWith(t, natstest.Options{Bare: true})
	asked, err := s.NC.SubscribeSync(schema.OpenSubject(key.Identity, schema.Partitions))
	require.NoError(t, err)
	d := &desk{eye: newEye(nil), t: t, asked: asked}
	d.run = newRun(&Console{Conn: s.NC, Transcript: key, Partitions: schema.Partitions, Screen: d.eye}, nil, "")
	require.NoError(t, d.want())
	return d
}

// answers answers the last question.
func (d *desk) answers(frame, ordinal uint64, text string, next uint64) {
	d.t.Helper()
	m, err := d.asked.NextMsg(within)
	require.NoError(d.t, err)
	reply := schema.OpenReply{Identity: key.Identity, Frame: frame, Ordinals: map[uint32]uint64{1: ordinal, 2: 7},
		Messages: []schema.OpenMessage{{Session: 2, MessageID: "m"}}}
	if next > 0 {
		reply.Messages = append(reply.Messages, schema.OpenMessage{Session: 1, MessageID: "m", Role: schema.Assistant, Channel: schema.Answer, Text: text, Next: next})
	}
	for _, page := range schema.CutOpenPages(reply.AppendJSON(nil), "token") {
		require.NoError(d.t, d.page(&nats.Msg{Subject: m.Reply, Header: page.Header, Data: page.Data}))
	}
}

func (d *desk) piece(frame, index uint64, text string) {
	d.t.Helper()
	e := schema.Event{Transcript: key, WorkerSeq: frame, Ephemeral: true, Frames: []schema.Range{{frame, frame}},
		Kind: &schema.Delta{MessageID: "m", Index: index, TextFragment: text}}
	require.NoError(d.t, d.live(e.AppendJSON(nil)))
}

func (d *desk) heads(frame, next uint64) {
	d.t.Helper()
	h := schema.Heads{Frame: frame, Heads: []schema.Head{{MessageID: "m", Next: next}}}
	require.NoError(d.t, d.live(h.AppendJSON(nil)))
}

func (d *desk) stores(number, frame uint64, kind schema.Kind) error {
	e := schema.Event{Transcript: key, WorkerSeq: frame, Frames: []schema.Range{{frame, frame}}, Kind: kind}
	return d.event(number, e.AppendJSON(nil), &e)
}

func (d *desk) shows(text string, lags ...string) {
	d.t.Helper()
	require.Equal(d.t, text, d.texts[Message{Channel: schema.Answer, ID: "m"}])
	require.Equal(d.t, lags, d.lags)
	d.lags = nil
}

func whole(text string) schema.Kind {
	return &schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: "m", Text: text}
}

func TestWhatIsMissingIsAskedFor(t *testing.T) {
	d := newDesk(t)
	d.piece(10, 1, "two ") // in the answer already
	d.piece(11, 2, "three ")
	d.shows("")
	d.answers(10, 0, "one two ", 2)
	d.shows("one two three ")
	d.piece(11, 2, "three ") // from a second owner
	d.piece(13, 4, "five ")
	d.shows("one two three ", "a piece is missing")
	d.answers(10, 0, "one two ", 2) // from an owner that has yet to fold what was shown
	d.shows("one two three ")
	require.NoError(t, d.askIfDue(time.Now().Add(askAgain)))
	d.answers(13, 0, "one two three four five ", 5)
	d.shows("one two three four five ")

	d.heads(13, 5)
	d.shows("one two three four five ")
	d.heads(14, 6)
	d.shows("one two three four five ", "a piece is missing")
	d.answers(14, 0, "one two three four five six ", 6)
	require.NoError(t, d.live([]byte("{")))
	d.shows("one two three four five six ", "decode live message: unexpected end of JSON input")
	d.answers(14, 0, "one two three four five six ", 6)

	require.NoError(t, d.askIfDue(time.Now().Add(silence/2)))
	require.False(t, d.waiting)
	require.NoError(t, d.askIfDue(time.Now().Add(2*silence)))
	d.answers(15, 0, "one two three four five six seven ", 7) // its piece and the heads were lost
	d.shows("one two three four five six seven ")
}

func TestAnAnswerWaitsForTheHistory(t *testing.T) {
	d := newDesk(t)
	d.answers(10, 2, "one ", 1)
	require.NoError(t, d.stores(1, 3, &schema.Stop{}))
	require.NoError(t, d.splice())
	d.shows("")
	d.piece(11, 1, "two ")
	require.NoError(t, d.stores(2, 5, &schema.Stop{}))
	require.NoError(t, d.splice())
	d.shows("one two ")
}

func TestAHistoryThatIsAheadCounts(t *testing.T) {
	d := newDesk(t)
	d.piece(11, 1, "two ")
	require.NoError(t, d.stores(1, 12, whole("one two ")))
	d.answers(10, 0, "one ", 1) // asked before the event was there
	d.shows("")
	d.heads(11, 2)
	d.piece(12, 2, "late ")
	d.shows("")
	clear(d.whole)
	d.piece(13, 0, "again ") // another message with the id of one that has ended
	d.shows("again ")
}

func TestNumbersHaveNoHole(t *testing.T) {
	d := newDesk(t)
	require.NoError(t, d.stores(1, 3, &schema.Stop{}))
	require.NoError(t, d.stores(1, 3, &schema.Stop{}), "known")
	require.Len(t, d.events, 1)
	require.Contains(t, string(d.events[0]), `"store_seq":1,`)
	require.ErrorIs(t, d.stores(3, 5, &schema.Stop{}), errGap)
	require.ErrorIs(t, d.stores(0, 5, &schema.Stop{}), errGap)
}
