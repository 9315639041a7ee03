package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// sessionOf is the transcript of the directory's one conversation.
func sessionOf(t *testing.T, data string) sink.Summary {
	t.Helper()
	for _, s := range list(t, data) {
		if s.SessionID == "s-1" {
			return s
		}
	}
	return sink.Summary{}
}

// until waits until the conversation is as it is to be.
func until(t *testing.T, data string, is func(sink.Summary) bool) (s sink.Summary) {
	t.Helper()
	require.Eventually(t, func() bool {
		s = sessionOf(t, data)
		return is(s)
	}, time.Minute, 50*time.Millisecond)
	return s
}

// A tap that is killed in the middle of a turn: the holder of its journal writes the close that the tap
// would have written, and the turn ends with it.
func TestTheHolderClosesWhatADeadTapLeft(t *testing.T) {
	data := t.TempDir()
	e := edit(t, recordCommand(t, data))
	e.begin("How many sacks?")
	require.NoError(t, e.cmd.Process.Kill())
	require.Error(t, e.cmd.Wait())

	s := sessionOf(t, data)
	require.Equal(t, schema.StatusAbandoned, s.Status)
	require.Zero(t, s.IdleSince)
	require.Contains(t, ok(t, "show", "--data", data, "--json", strings.TrimSuffix(s.Key, "/1")+"/0"), `{"reason":"writer died"`)
	require.Contains(t, ok(t, "show", "--data", data, "--json", "s-1"), `"reason":"interrupted"`, "its tool will not end")
	require.Contains(t, ok(t, "ls", "--data", data), "abandoned")
}

// A conversation whose end nobody saw is open, and lists say since when it has said nothing. An operator
// closes it; what its tap records behind that opens it again, flagged late, and its own close ends it.
func TestAnEndThatNobodySaw(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	up := startUp(t, data)
	defer up.kill(t)
	e := edit(t, recordCommand(t, data))
	e.begin("How many sacks?")
	e.finish()

	s := until(t, data, func(s sink.Summary) bool { return s.Stop == "EndTurn" })
	require.Equal(t, schema.StatusOpen, s.Status)
	shown := events(t, ok(t, "show", "--data", data, "--json", "s-1"))
	require.True(t, shown[len(shown)-1].EmittedAt.Equal(s.IdleSince), "it is the time of the last frame that said something")
	var line map[string]any
	for text := range strings.Lines(ok(t, "ls", "--data", data, "--json")) {
		if strings.Contains(text, `"session_id":"s-1"`) {
			require.NoError(t, json.Unmarshal([]byte(text), &line))
		}
	}
	since, err := time.Parse(time.RFC3339Nano, line["idle_since"].(string))
	require.NoError(t, err)
	require.True(t, since.Equal(s.IdleSince))

	require.Contains(t, ok(t, "close", "--data", data, "--json", "s-1"), `"added":true`)
	s = sessionOf(t, data)
	require.Equal(t, schema.StatusEnded, s.Status)
	require.Zero(t, s.IdleSince)
	require.NotContains(t, ok(t, "ls", "--data", data, "--json"), "idle_since")
	before := s.Head

	e.begin("And now?")
	e.finish()
	s = until(t, data, func(s sink.Summary) bool {
		return s.Status == schema.StatusOpen && s.Head > before && s.Stop == "EndTurn"
	})
	require.NotZero(t, s.IdleSince)
	shown = events(t, ok(t, "show", "--data", data, "--json", "s-1"))
	for i := range shown {
		require.Equal(t, i >= int(before), shown[i].Has(schema.FlagLate), "event %d", i+1)
	}
	require.NoError(t, e.leave())
	until(t, data, func(s sink.Summary) bool { return s.Status == schema.StatusEnded })
	require.Contains(t, ok(t, "verify", "--data", data), " 0 unaccounted")
}

// A recording that broke off long ago is told from one that goes on.
func TestTheListSaysHowLongARecordingIsIdle(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	_, _, code := steno(t, "import", "--data", data, halfOf(t, "testdata/sacks.jsonl", 9))
	require.Equal(t, exitRuntime, code)
	require.Regexp(t, `open, idle \d+[dhmy] `, ok(t, "ls", "--data", data))
	ok(t, "close", "--data", data, "sacks")
	require.NotContains(t, ok(t, "ls", "--data", data), "idle")
}
