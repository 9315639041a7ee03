package sink

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

var scanID = schema.Identity{Namespace: "default", Workflow: "w", Run: "r", Activity: 3, Attempt: 1}

func scanEvent(kind schema.Kind) schema.Event {
	e := schema.Event{
		Transcript: schema.Transcript{Identity: scanID, Session: 2}, AgentRole: "agent",
		EmittedAt: time.Date(2026, 11, 29, 20, 0, 0, 1, time.UTC), WorkerSeq: 17, Part: 1,
		Source: schema.Source{Protocol: schema.ACP, Dialect: "1", SessionID: "a\"b\\", Translator: "acp/1"},
		Frames: []schema.Range{{3, 5}, {9, 9}, {17, 17}}, Flags: []schema.Flag{schema.FlagLate}, Kind: kind,
	}
	e.EventID = schema.EventID(scanID, e.Origin())
	return e
}

func TestScanReadsWhatListsNeed(t *testing.T) {
	s := newScanner(scanID)
	var f facts
	e := scanEvent(&schema.Message{Role: schema.User, Text: "\n \u0000hello \"you\"\nmore", Channel: schema.Answer})
	require.NoError(t, s.event(e.AppendJSON(nil), &f))
	require.Equal(t, facts{
		session: 2, origin: schema.Origin{Frame: 17, Part: 1}, at: e.EmittedAt, others: 4, own: true, message: true,
		source: schema.Source{Protocol: schema.ACP, Dialect: "1", SessionID: "a\"b\\"}, firstLine: "\x00hello \"you\"",
	}, f)

	e = scanEvent(&schema.Stop{Reason: schema.StopError, Detail: "x"})
	e.Source = schema.Source{Protocol: schema.A2A, Dialect: "1.0", TaskID: "t", Translator: "a2a/1"}
	e.Frames = []schema.Range{{3, 5}}
	f = facts{}
	require.NoError(t, s.event(e.AppendJSON(nil), &f))
	require.Equal(t, facts{
		session: 2, origin: schema.Origin{Frame: 17, Part: 1}, at: e.EmittedAt, others: 3, stop: schema.StopError,
		source: schema.Source{Protocol: schema.A2A, Dialect: "1.0"},
	}, f, "nothing is left of the event before")

	f = facts{}
	e = scanEvent(&schema.Message{Role: schema.Assistant, Text: "hello"})
	require.NoError(t, s.event(e.AppendJSON(nil), &f))
	require.Empty(t, f.firstLine, "only a user's message gives a title")
	f = facts{}
	e = scanEvent(&schema.Unknown{Name: "New", Value: schema.JSON(`{"kind":"New","x":[1,{"a":1,"a":2}]}`)})
	require.NoError(t, s.event(e.AppendJSON(nil), &f), "what a newer translator writes is stored")
}

func TestScanRefuses(t *testing.T) {
	e := scanEvent(&schema.Raw{Source: "s", Value: schema.JSON(`1`)})
	good := string(e.AppendJSON(nil))
	for name, c := range map[string]struct{ old, new, want string }{
		"another capture":    {`"run_id":"r"`, `"run_id":"q"`, `is "q", the subject says "r"`},
		"another activity":   {`"activity_id":3`, `"activity_id":4`, "is 4, the subject says 3"},
		"a number":           {`"store_seq":null`, `"store_seq":1`, "store_seq"},
		"an ephemeral one":   {`"ephemeral":false`, `"ephemeral":true`, "never stored"},
		"no frames":          {`[[3,5],[9,9],[17,17]]`, `[]`, "accounts for no frame"},
		"frames back":        {`[9,9]`, `[5,9]`, "frames [5,9] after frame 5"},
		"frames reversed":    {`[3,5]`, `[5,3]`, "frames [5,3]"},
		"frames to come":     {`[17,17]`, `[17,18]`, "frames [17,18]"},
		"a missing member":   {`"part":1,`, ``, "members"},
		"a member twice":     {`"part":1,`, `"part":1,"part":1,`, "members"},
		"not an object":      {good, `[]`, "want"},
		"something behind":   {good, good + "{}", "follows"},
		"cut short":          {`"value":1}}`, `"value":1`, ""},
		"a kind in disguise": {`{"kind":"Raw",`, `{"x":1,"kind":"Raw",`, "its tag"},
		"no time":            {`"2026-`, `"x`, "emitted_at"},
		"a large session":    {`"session":2`, `"session":4294967296`, "session"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, good, c.old)
			err := newScanner(scanID).event([]byte(strings.Replace(good, c.old, c.new, 1)), new(facts))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestFirstLineIsCutAtCharacters(t *testing.T) {
	quoted := func(s string) []byte { return schema.AppendString(nil, s) }
	require.Equal(t, strings.Repeat("é", 80), firstLine(quoted(strings.Repeat("é", 81))))
	require.Equal(t, strings.Repeat("é", 80), firstLine(quoted(strings.Repeat("é", 80))))
	require.Equal(t, strings.Repeat("\"", 80), firstLine(quoted(strings.Repeat("\"", 1<<20))))
	require.Equal(t, "a\tb", firstLine(quoted(" \n\r\n a\tb \nc")))
	require.Empty(t, firstLine(quoted("\n\n")))
	require.Equal(t, "\ufffd", firstLine([]byte(`"\ud800"`)))
}

// FuzzScan holds the scanner against the decoder: what it takes, the decoder reads alike.
func FuzzScan(f *testing.F) {
	for _, kind := range []schema.Kind{
		&schema.Message{Role: schema.User, Text: "a\nb"}, &schema.Stop{Reason: schema.StopEndTurn},
		&schema.Raw{Source: "s", Value: schema.JSON(`{"a":1,"a":2}`)},
	} {
		e := scanEvent(kind)
		f.Add(e.AppendJSON(nil))
	}
	f.Fuzz(func(t *testing.T, event []byte) {
		var got facts
		if newScanner(scanID).event(event, &got) != nil {
			return
		}
		want, err := schema.DecodeEvent(event)
		if err != nil {
			return // the decoder also refuses what the ledger does not look at
		}
		require.Equal(t, scanID, want.Identity)
		require.False(t, want.Ephemeral)
		require.Zero(t, want.StoreSeq)
		require.Equal(t, want.Origin(), got.origin)
		require.Equal(t, want.Session, got.session)
		var frames uint64
		for _, r := range want.Frames {
			frames += r[1] - r[0] + 1
		}
		if got.own {
			frames--
		}
		require.Equal(t, frames, got.others)
		require.True(t, utf8.ValidString(got.firstLine))
		require.LessOrEqual(t, utf8.RuneCountInString(got.firstLine), maxTitle)
		require.False(t, bytes.ContainsRune([]byte(got.firstLine), '\n'))
	})
}
