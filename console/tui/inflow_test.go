package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/schema"
)

func TestWhatWaitsIsBounded(t *testing.T) {
	in := newInflow()
	for i := range uint64(100_000) {
		e := schema.Event{Ephemeral: true, Kind: &schema.Delta{MessageID: "m", Index: i, TextFragment: "word "}}
		require.NoError(t, in.take(&follow.Delta{Event: e}))
		require.NoError(t, in.take(&follow.Delta{Event: schema.Event{Ephemeral: true, Kind: &schema.Progress{Detail: &schema.Note{Text: "note"}}}}))
	}
	for i := range uint64(10_000) {
		m := &schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: fmt.Sprint(i)}
		require.NoError(t, in.take(&follow.Event{Seq: i + 1, Event: schema.Event{Kind: m}}))
	}
	n := in.news()
	require.LessOrEqual(t, len(n.events), maxEvents)
	require.EqualValues(t, 10_000, n.events[len(n.events)-1].StoreSeq)
	for i, e := range n.events {
		require.EqualValues(t, 10_001-len(n.events)+i, e.StoreSeq, "without a gap")
	}
	require.Len(t, n.bits, maxBits)
	require.Len(t, n.texts, 1)
	require.Equal(t, strings.Repeat("word ", 100_000), n.texts[0].Text)
	again := in.news()
	require.Empty(t, again.texts)
	require.Empty(t, again.events)
	require.Len(t, again.open, 1)
}

func TestLargeEventsThatWaitAreBounded(t *testing.T) {
	in := newInflow()
	large := &schema.Raw{Source: "x", Value: schema.JSON(strings.Repeat(" ", 1<<20))}
	for i := range uint64(100) {
		require.NoError(t, in.take(&follow.Event{Seq: i + 1, Event: schema.Event{Kind: large}}))
	}
	require.NoError(t, in.take(&follow.Event{Seq: 90, Event: schema.Event{Kind: large}}), "followed again from further back")
	n := in.news()
	require.LessOrEqual(t, weightOf(n.events), maxBytes)
	require.EqualValues(t, 100, n.events[len(n.events)-1].StoreSeq)
	require.EqualValues(t, 101-len(n.events), n.events[0].StoreSeq)
}

func TestAMessageClosesItsText(t *testing.T) {
	in := newInflow()
	types := func(id string, channel schema.Channel) {
		var kind schema.Kind = &schema.Delta{MessageID: id, TextFragment: "a"}
		if channel == schema.Thought {
			kind = &schema.Progress{Detail: &schema.Thinking{MessageID: id, Text: "t"}}
		}
		require.NoError(t, in.take(&follow.Delta{Event: schema.Event{Kind: kind}}))
	}
	types("m", schema.Answer)
	types("m", schema.Thought)
	types("n", schema.Answer)
	require.NoError(t, in.take(&follow.Event{Seq: 1, Event: schema.Event{Kind: &schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: "m"}}}))
	n := in.news()
	require.Len(t, n.open, 2)
	require.Equal(t, schema.Thought, n.open[0].Channel)
	require.Equal(t, "n", n.open[1].MessageID)

	require.NoError(t, in.take(&follow.Snapshot{Messages: []schema.OpenMessage{{MessageID: "n", Role: schema.Assistant, Channel: schema.Answer, Text: "all of it"}}}))
	n = in.news()
	require.Len(t, n.open, 1)
	require.Equal(t, "all of it", n.texts[0].Text)
	require.NotNil(t, n.texts[0].began.Kind, "when it began is still known")
}

func TestTheWorstIsSaid(t *testing.T) {
	for _, tt := range []struct {
		items []follow.Item
		says  string
	}{
		{nil, "● live"},
		{[]follow.Item{&follow.Lag{Reason: follow.LagBehind, Events: 3}}, "lag 3"},
		{[]follow.Item{&follow.Lag{Reason: follow.LagBehind, Events: 3}, &follow.Lag{Reason: follow.LagBehind}}, "● live"},
		{[]follow.Item{&follow.Lag{Reason: follow.LagDisconnected}, &follow.End{Status: schema.StatusEnded}}, "connection lost"},
		{[]follow.Item{&follow.Lag{Reason: follow.LagDisconnected}, &follow.Lag{Reason: follow.LagReconnected}}, "text was lost"},
		{[]follow.Item{&follow.Lag{Reason: follow.LagSlow}, &follow.Snapshot{}}, "● live"},
		{[]follow.Item{&follow.Lag{Reason: follow.LagNoOwner}}, "no translator answers"},
		{[]follow.Item{&follow.Lag{Reason: follow.LagNoOwner}, &follow.Delta{}}, "● live"},
		{[]follow.Item{&follow.Lag{Reason: follow.LagParked, Detail: "diverged"}}, "parked: diverged"},
		{[]follow.Item{&follow.Lag{Reason: follow.LagParked}, &follow.Event{}}, "● live"},
		{[]follow.Item{&follow.End{Status: schema.StatusAbandoned}}, "■ abandoned"},
		{[]follow.Item{&follow.End{Status: schema.StatusEnded}, &follow.Event{}}, "● live"},
	} {
		s := newShelf("Sacks")
		x := newTranscript(&shared{o: Options{Ledger: s}, crew: newCrew(t.Context())}, s.rows[0], 0)
		x.opened = true
		for _, i := range tt.items {
			x.state.take(i)
		}
		_, words := x.stateWords()
		require.Contains(t, words, tt.says)
	}
}

func TestAStoredNoteLeavesThoseOfOtherTasks(t *testing.T) {
	note := func(task string) schema.Event {
		return schema.Event{Source: schema.Source{TaskID: task}, Kind: &schema.Progress{Detail: &schema.Note{Text: "grinding"}}}
	}
	var o open
	o.take(news{notes: []schema.OpenNote{{TaskID: "a"}, {TaskID: "b"}}, bits: []schema.Event{note("a"), note("b")}})
	o.take(news{events: []schema.Event{note("a")}})
	require.Equal(t, []schema.OpenNote{{TaskID: "b"}}, o.notes)
	require.Equal(t, []schema.Event{note("b")}, o.bits)
}
