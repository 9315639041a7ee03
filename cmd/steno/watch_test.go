package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/tui/tmuxtest"
)

// watchIn starts steno watch in a terminal, with a shell around it.
func watchIn(t *testing.T, width, height int, args ...string) *tmuxtest.Terminal {
	t.Helper()
	x := tmuxtest.Start(t, width, height, asSteno+"=1", "XDG_CONFIG_HOME=/nonexistent")
	x.Enter(watchLine(args...))
	return x
}

func watchLine(args ...string) string {
	return fmt.Sprintf("clear; %s watch '%s'; echo status $?", os.Args[0], strings.Join(args, "' '"))
}

// say has the agent say a piece of its answer.
func (e *editor) say(text string) {
	e.t.Helper()
	e.send(`{"jsonrpc":"2.0","method":"mill/type","params":{"text":%q}}`, text)
}

// left waits for the end of the command, and checks that the terminal is as it was.
func left(t *testing.T, x *tmuxtest.Terminal, status int) {
	t.Helper()
	x.Await(fmt.Sprint("status ", status))
	require.Equal(t, "0", x.Is("alternate_on"))
	require.Equal(t, "0", x.Is("mouse_any_flag"))
	require.Equal(t, "1", x.Is("cursor_flag"))
	x.Enter("echo typed | tr a-z A-Z") // what is typed is seen, and taken by the line
	x.Await("$ echo typed", "\nTYPED")
}

// TestWatchARecordingGrow follows an agent under steno record from the list on: text as it is typed, a tool
// that waits and ends, and the end of the recording.
func TestWatchARecordingGrow(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	ok(t, "import", "--data", data, "testdata/sacks.jsonl")
	x := watchIn(t, 100, 30, "--data", data)
	x.Await("▸", "ended      acp mill", "Sacks in the store", "1 transcript")

	e := edit(t, recordCommand(t, data))
	e.begin("How many loaves?")
	x.Await("● open", "How many loaves?", "2 transcripts")
	x.Keys("Up", "Enter")
	x.Await("user\n   How many loaves?", "Let me look.", "? Count sacks", "waits for permission", "● live")
	for _, text := range []string{"I am ", "counting ", "th"} {
		e.say(text)
	}
	x.Await("agent\n   I am counting th")
	x.Keys("C-u") // no further than the page goes: it holds still
	e.finish()
	x.Keys("End")
	x.Await("I am counting th", "✓ Count sacks", "sacks: 14", "■ end of turn")
	x.Resize(44, 14)
	x.Await("   I am counting thThere are 14 sacks – café\n", "■ end of turn") // drawn anew, in one piece
	x.Resize(100, 30)
	require.NoError(t, e.leave())
	x.Await("■ ended", "ended  acp mill")
	x.Keys("q")
	x.Await("ended      acp mill", "2 transcripts")
	x.Keys("q")
	left(t, x, 0)
}

func TestWatchReplaySearchAndFind(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	ok(t, "import", "--data", data, recording("goose-1.37.0.json"), recording("a2a-go-2.4.0.jsonl"), "testdata/sacks.jsonl")
	x := watchIn(t, 80, 24, "--data", data, "Sacks")
	x.Await("Sacks in the store", "There are 14 sacks.", "■ ended", "22")
	require.Contains(t, x.Dressed(), "\x1b[1m\x1b[32magent", "in colour")

	x.Enter(":9") // jump
	x.Await("/22")
	x.Keys("n") // the next transcript
	x.Await("orders slow", "a2a orders")
	x.Keys("p")
	x.Await("There are 14 sacks.")

	x.Enter("/counting the") // find, upwards from the end
	x.Await("Counting the sacks.", "/22")
	x.Keys("n")
	x.Await("not found below")
	x.Keys("Escape") // alone: with a key right behind it, it would be that key with Alt
	x.AwaitThat("has no find any more", func(s string) bool { return !strings.Contains(s, "/counting") })

	x.Keys("o", "o", "f", "t") // folded, with times
	x.Await("⋯ 2 lines", "+1.3 s")
	x.Keys("r")
	x.Await("session/update")
	x.Keys("r")

	x.Keys("End", "R") // replay from the beginning
	x.Await("replay", "▶ ×1", "─ 0:06")
	x.Keys("+")
	x.Await("▶ ×2")
	x.Keys("Space", "Home")
	x.Await("‖ paused", " 0:00 ─")
	x.Keys(".", ".")
	x.Await("How many sacks?", " 0:0")
	x.Keys("Right")
	x.AwaitThat("is five seconds further", func(s string) bool { return strings.Contains(s, " 0:05 ━") || strings.Contains(s, " 0:06 ━") })
	x.Keys("Space", "$")
	x.Await("■ over", "There are 14 sacks.")
	x.Keys("q")
	x.Await("■ ended")

	x.Keys("s") // search
	x.Type("story repo")
	x.Await("Repo Story Request", "Tell me the story of this repo", "1 hit")
	x.Keys("Enter")
	x.Await("▌user", "▌  Tell me the story of this repo")
	x.Keys("q")
	x.Await("search story repo")
	x.Keys("Escape")
	x.Await("There are 14 sacks.")
	x.Keys("?")
	x.Await("Keys", "the next transcript")
	x.Keys("q", "q")
	x.Await("transcripts", "Sacks in the store")

	x.Keys("/") // filter
	x.Type("goose")
	x.AwaitThat("shows goose alone", func(s string) bool { return strings.Contains(s, "Repo Story") && !strings.Contains(s, "orders") })
	x.Keys("Escape")
	x.Await("orders")
	x.Keys("p", "p")
	x.AwaitThat("shows A2A alone", func(s string) bool { return strings.Contains(s, "orders") && !strings.Contains(s, "Repo Story") })

	x.Keys("C-z") // suspend
	x.Await("Stopped")
	require.Equal(t, "0", x.Is("alternate_on"))
	x.Enter("clear; fg; echo status $?")
	x.Await("orders slow")
	x.Keys("C-c")
	left(t, x, 0)
}

// TestWatchWhileTheHolderGoes kills the process through which a console reads, in the middle of a sentence.
func TestWatchWhileTheHolderGoes(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	up := startUp(t, data)
	e := edit(t, recordCommand(t, data))
	e.begin("How many loaves?")
	x := watchIn(t, 80, 24, "--data", data, "loaves")
	x.Await("waits for permission", "● live")
	e.say("I am ")
	x.Await("   I am\n")
	up.kill(t)
	x.Await("connection lost: stored events only")
	e.say("counting")
	up = startUp(t, data)
	defer up.kill(t)
	x.Await("   I am counting\n", "● live")
	e.finish()
	x.Await("sacks: 14", "■ end of turn")
	x.Resize(81, 24)
	x.Await("   I am countingThere are 14 sacks") // drawn anew, in one piece
	require.NoError(t, e.leave())
	x.Await("■ ended")
	x.Keys("C-c")
	left(t, x, 0)
}

// testWatchOfACluster looks at the list, a transcript and a replay.
func testWatchOfACluster(t *testing.T, there []string) {
	x := watchIn(t, 80, 24, append([]string{"orders slow"}, there...)...)
	x.Await("orders slow", "a2a orders", "■ end of turn")
	x.Keys("R", "$")
	x.Await("replay", "■ over")
	x.Keys("s")
	x.Type("story repo")
	x.Await("Tell me the story of this repo")
	x.Keys("Escape")
	x.Await("■ over")
	x.Keys("q", "q")
	x.Await("transcripts", "gemini-cli")
	x.Keys("q")
	left(t, x, 0)
}

func TestWatchWithoutATerminal(t *testing.T) {
	stdout, stderr, code := steno(t, "watch", "--data", t.TempDir())
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "steno tail")
	require.Empty(t, stdout)
}

func TestWatchWithoutColour(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	ok(t, "import", "--data", data, "testdata/sacks.jsonl")
	x := tmuxtest.Start(t, 60, 20, asSteno+"=1", "XDG_CONFIG_HOME=/nonexistent", "NO_COLOR=1")
	x.Enter(watchLine("--data", data, "Sacks"))
	x.Await("There are 14 sacks.", "■ ended")
	require.NotRegexp(t, `\x1b\[[0-9;]*[34][0-7]`, x.Dressed())
	x.Keys("q", "q")
	left(t, x, 0)
}
