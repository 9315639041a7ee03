package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/retranslate"
	"github.com/steno-io/steno/sink/sqlite"
	"github.com/steno-io/steno/translate/acp"
)

// TestARuleIsChanged has a build in which one rule is another: what was recorded is proved by the version that
// made it, on the ledger and in an archive, and retranslating shows that rule's events and no other.
func TestARuleIsChanged(t *testing.T) {
	data, place := t.TempDir(), filepath.Join(t.TempDir(), "archive")
	in := func(args ...string) (stdout, stderr string, code int) {
		return steno(t, append(args, "--data", data, "--sync", "1s")...)
	}
	good := func(args ...string) string {
		stdout, stderr, code := in(args...)
		require.Zero(t, code, "%v: %s%s", args, stdout, stderr)
		return stdout
	}
	good("import", recording("codex-acp-0.16.0.json"), recording("a2a-go-2.4.0.jsonl"), "testdata/sacks.jsonl")
	good("import", "--workflow", "two", "testdata/sacks.jsonl")
	good("seal", "--all", "--archive", place)

	build(t, schema.ACP, loud{}, acp.Translator{})
	require.Contains(t, good("version"), "a2a/1 "+acp.Version+" acp/loud")
	require.Contains(t, good("verify"), "verified: ")
	require.Contains(t, good("verify", place), "verified: ")
	require.Contains(t, good("retranslate", "--all", "--with", acp.Version, "--diff"), "the same: 3 captures, ")

	// What differs is what the rule makes.
	wanted := map[string]uint64{} // its events, with the frames that gave them
	l, err := sqlite.Open(holder.Dir(data).Ledger(), sqlite.Options{ReadOnly: true})
	require.NoError(t, err)
	for transcript, err := range sink.All(t.Context(), l) {
		require.NoError(t, err)
		for stored, err := range l.Events(t.Context(), transcript.Transcript, 0, 0) {
			require.NoError(t, err)
			e, err := schema.DecodeEvent(stored.Bytes)
			require.NoError(t, err)
			if m, ok := e.Kind.(*schema.Message); ok && m.Channel == schema.Thought {
				wanted[e.EventID.String()] = e.WorkerSeq
			}
		}
	}
	require.NoError(t, l.Close())
	require.Len(t, wanted, 2)
	for _, of := range [][]string{{"--all"}, {place}} {
		stdout, stderr, code := in(append([]string{"retranslate", "--with", loudVersion, "--diff", "--json"}, of...)...)
		require.Equal(t, exitChanged, code, stderr)
		found := map[string]uint64{}
		captures := 0
		for line := range strings.Lines(stdout) {
			var d struct {
				retranslate.Difference
				Capture string
				Counts  retranslate.Counts
			}
			require.NoError(t, json.Unmarshal([]byte(line), &d), line)
			if d.Capture != "" {
				captures++
				continue
			}
			require.Equal(t, retranslate.Changed, d.Change)
			require.Len(t, d.Fields, 1)
			require.Equal(t, "kind.text", d.Fields[0].Name)
			require.Equal(t, "acp.thought", d.Rule)
			found[d.Was.EventID.String()] = d.Was.WorkerSeq
		}
		require.Equal(t, wanted, found)
		require.Equal(t, 3, captures)
	}
	stdout, _, code := in("retranslate", place, "--with", loudVersion, "--diff")
	require.Equal(t, exitChanged, code)
	require.Contains(t, stdout, "#3: Message of frame 9, rule acp.thought\n    kind.text\n      - \"Counting the sacks.\"\n      + \"Counting the sacks.!\"\n")
	require.Contains(t, stdout, "different: 0 added, 0 removed, 2 changed: 3 captures, ")
	stdout, _, code = in("retranslate", "testdata/sacks.jsonl", "--with", acp.Version, "--diff")
	require.Equal(t, exitChanged, code, "a file's events are those of the current version")
	require.Contains(t, stdout, "- \"Counting the sacks.!\"\n      + \"Counting the sacks.\"\n")

	// A build without the version that made it proves the rest, and says so.
	build(t, schema.ACP, loud{})
	for _, of := range [][]string{{"verify"}, {"verify", place}} {
		stdout, stderr, code := in(of...)
		require.Equal(t, exitRuntime, code, stderr)
		require.Equal(t, 3, strings.Count(stdout, "not repeated: "), stdout)
		require.Contains(t, stdout, ": "+acp.Version+" is not in this build")
		require.Contains(t, stdout, "verified but for the translation of 3 captures: ")
		require.Contains(t, stdout, ", 0 unaccounted")
	}
	stdout, _, code = in("verify", place, "--json")
	require.Equal(t, exitRuntime, code)
	require.Contains(t, stdout, `"unrepeated":[{"capture":"`)
	stdout, _, code = in("explain", "default/two/#3")
	require.Equal(t, exitRuntime, code)
	require.Contains(t, stdout, "not repeated: this build does not have "+acp.Version)
}

func TestRetranslateSaysWhatItNeeds(t *testing.T) {
	for _, tt := range []struct{ args, says string }{
		{"retranslate", "give --with; this build has a2a/1, acp/1"},
		{"retranslate --with acp/99", "find translator \"acp/99\": this build does not have it; it has a2a/1, acp/1"},
		{"retranslate --all KEY --with acp/1", "want one of them"},
		{"retranslate testdata/sacks.jsonl --with a2a/1", "testdata/sacks.jsonl is of acp"},
		{"explain", "which event? such as: steno explain KEY#14"},
		{"explain KEY", "want KEY#NUMBER"},
		{"explain KEY#0", "want KEY#NUMBER"},
		{"explain KEY#x", "want KEY#NUMBER"},
		{"explain #4", "want KEY#NUMBER"},
		{"explain KEY#4 --key x", "it is for --archive"},
		{"rebuild", "from which archive? give --archive DIR"},
		{"rebuild --archive nowhere", "want an archive's directory, or a bundle"},
		{"rebuild --archive x --ledger postgres://x", "of which NATS?"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			args := strings.Fields(tt.args)
			if !strings.Contains(tt.args, "--ledger") {
				args = append(args, "--data", t.TempDir())
			}
			stdout, stderr, code := steno(t, args...)
			require.Equal(t, exitUsage, code, stderr)
			require.Contains(t, stderr, tt.says)
			require.Empty(t, stdout)
		})
	}
}
