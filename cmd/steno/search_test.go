package main

import (
	"bytes"
	database "database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink"
)

const goose = "default/import/4abc45d3-210f-5adc-8cae-c9a1ea02eb91/0/1/1"

func hits(t *testing.T, ndjson string) (all []sink.Hit) {
	t.Helper()
	for line := range strings.Lines(ndjson) {
		var h sink.Hit
		require.NoError(t, json.Unmarshal([]byte(line), &h))
		all = append(all, h)
	}
	return all
}

// importedDirectory makes a directory with three recordings of ACP and one of A2A.
func importedDirectory(t *testing.T) string {
	t.Helper()
	data := t.TempDir()
	ok(t, "import", "--data", data, recording("goose-1.37.0.json"), recording("codex-acp-0.16.0.json"), recording("gemini-cli-0.46.0.json"),
		"testdata/sacks.jsonl")
	return data
}

func TestSearch(t *testing.T) {
	data := importedDirectory(t)
	defer startUp(t, data).kill(t)
	stdout, stderr, code := steno(t, "search", "--data", data, "permission", "dialog", "waiting")
	require.Zero(t, code, stderr)
	require.Equal(t, `Repo Story Request
`+goose+`
  157  agent  2026-06-12 15:29:33 UTC
       `, stdout[:strings.Index(stdout, "…")])
	require.Contains(t, stdout, "A permission dialog waiting for human input?")
	require.NotContains(t, stdout, "\x1b")
	require.Equal(t, "1 hit. steno show KEY --from NUMBER opens one\n", stderr)

	found := hits(t, ok(t, "search", "--data", data, "--json", `"permission dialog"`))
	require.Len(t, found, 1)
	require.Equal(t, goose, found[0].Summary.Key)
	require.Equal(t, uint64(157), found[0].Seq)
	match := found[0].Matches[0]
	require.Equal(t, "permission dialog", found[0].Snippet[match[0]:match[1]])

	shown := ok(t, "show", goose, "--data", data, "--from", "157")
	require.Contains(t, shown, "A permission dialog waiting for human input?")
	require.Less(t, strings.Count(shown, "\n"), strings.Count(ok(t, "show", goose, "--data", data), "\n")/2)
	from := events(t, ok(t, "show", goose, "--data", data, "--from", "157", "--json"))
	require.Equal(t, uint64(157), from[0].StoreSeq)
	_, stderr, code = steno(t, "show", goose, "--data", data, "--from", "99999")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "--from 99999: the last event of "+goose+" has number 160")

	all := hits(t, ok(t, "search", "--data", data, "--json", "--limit", "0", "the"))
	require.Greater(t, len(all), 5)
	require.Equal(t, all[:3], hits(t, ok(t, "search", "--data", data, "--json", "--limit", "3", "the")))
	for i := range all[1:] {
		require.False(t, all[i].At.Before(all[i+1].At), "the newest first")
	}
	_, stderr, _ = steno(t, "search", "--data", data, "--limit", "2", "the")
	require.Contains(t, stderr, "the newest 2 hits; there are more")
	for _, h := range hits(t, ok(t, "search", "--data", data, "--json", "--limit", "0", "--agent", "GOOSE", "the")) {
		require.Equal(t, "goose", h.Summary.Agent)
	}

	stdout, stderr, code = steno(t, "search", "--data", data, "nobody", "said", "this")
	require.Zero(t, code)
	require.Empty(t, stdout)
	require.Equal(t, "nothing found\n", stderr)
	require.Empty(t, ok(t, "search", "--data", data, "--json", "--protocol", "a2a", "permission dialog"))
}

func TestSearchFindsWhatWasJustImported(t *testing.T) {
	data := t.TempDir()
	for i, word := range []string{"windmill", "watermill", "treadmill"} {
		file := filepath.Join(t.TempDir(), word+".jsonl")
		require.NoError(t, os.WriteFile(file, []byte(
			`{"from":"client","protocol":"acp","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s\",\"prompt\":[{\"type\":\"text\",\"text\":\"mend the `+word+`\"}]}}"}`+"\n"), 0o600))
		ok(t, "import", "--data", data, file)
		require.Len(t, hits(t, ok(t, "search", "--data", data, "--json", word)), 1)
		require.Len(t, hits(t, ok(t, "search", "--data", data, "--json", "mend")), i+1)
	}
	require.NoError(t, os.Remove(filepath.Join(data, "ledger-search.db")))
	require.Len(t, hits(t, ok(t, "search", "--data", data, "--json", "mend")), 3, "an index that is gone is made again")
	up := startUp(t, data)
	defer up.kill(t)
	require.Len(t, hits(t, ok(t, "search", "--data", data, "--json", "mend")), 3)
}

func TestListFilters(t *testing.T) {
	data := importedDirectory(t)
	defer startUp(t, data).kill(t)
	keys := func(args ...string) (keys []string) {
		for line := range strings.Lines(ok(t, append([]string{"ls", "--data", data, "--json"}, args...)...)) {
			var s sink.Summary
			require.NoError(t, json.Unmarshal([]byte(line), &s))
			keys = append(keys, s.Key)
		}
		return keys
	}
	all := list(t, data)
	want := func(is func(sink.Summary) bool) (keys []string) {
		for _, s := range all {
			if is(s) {
				keys = append(keys, s.Key)
			}
		}
		require.NotEmpty(t, keys)
		require.Less(t, len(keys), len(all))
		return keys
	}
	require.Equal(t, want(func(s sink.Summary) bool { return s.Agent == "goose" }), keys("--agent", "OOS"))
	require.Equal(t, want(func(s sink.Summary) bool { return s.Status == "ended" && s.Agent == "goose" }), keys("--agent", "goose", "--status", "ended", "--namespace", "default"))
	day := time.Date(2026, 6, 12, 15, 29, 0, 0, time.UTC)
	require.Equal(t, want(func(s sink.Summary) bool { return !s.LastAt.IsZero() && s.LastAt.Before(day) }), keys("--until", day.Format(time.RFC3339)))
	require.Equal(t, []string{goose}, keys("--text", `"permission dialog"`))
	require.Empty(t, keys("--namespace", "other"))
	require.Empty(t, keys("--label", "team=mill"))
	require.Empty(t, keys("--status", "parked"))
	require.Empty(t, keys("--text", "nobody said this"))
	require.Len(t, keys("--since", "1000w"), len(all))
}

func TestFilterUsage(t *testing.T) {
	data := t.TempDir()
	for _, tt := range []struct{ args, says string }{
		{"search", "search for what?"},
		{"search *", "no word to search for"},
		{"search x --limit -1", "--limit -1: want 0 or more"},
		{"search x --since tomorrow", `--since "tomorrow": want how long ago`},
		{"search x --nats nats://x", "steno search reads a ledger too"},
		{"ls --text *", "no word to search for"},
		{"ls --text=", "no word to search for"},
		{"ls --until -2h", `--until "-2h": want how long ago`},
		{"ls --status broken", `--status "broken": want open, ended, abandoned or parked`},
		{"ls --protocol mcp", `--protocol "mcp": want acp or a2a`},
		{"ls --label team", `--label "team": want k=v`},
		{"ls --namespace a/b", `--namespace "a/b": want 1 to 64 characters`},
	} {
		t.Run(tt.args, func(t *testing.T) {
			args := strings.Fields(tt.args)
			if !strings.Contains(tt.args, "--nats") {
				args = append(args, "--data", data)
			}
			stdout, stderr, code := steno(t, args...)
			require.Equal(t, exitUsage, code, stderr)
			require.Contains(t, stderr, tt.says)
			require.Empty(t, stdout)
		})
	}
}

func TestASearchSaysWhatItDoesNotKnow(t *testing.T) {
	var errs bytes.Buffer
	sayUnindexed(&errs, sink.Indexing{})
	require.Empty(t, errs.String())
	sayUnindexed(&errs, sink.Indexing{Behind: 3, Failed: 1})
	require.Equal(t, "steno: warning: 3 stored events are not indexed yet, and not searched\n"+
		"steno: warning: 1 event could not be indexed, and cannot be found\n", errs.String())

	h := health{Ledger: sink.Stats{Events: 5, Indexing: sink.Indexing{Behind: 2}}}
	require.Contains(t, h.counts(), "5 events; the search is 2 events behind")
}

// TestDoctorSaysWhatCannotBeFound makes the index refuse an event.
func TestDoctorSaysWhatCannotBeFound(t *testing.T) {
	data := t.TempDir()
	ok(t, "import", "--data", data, recording("gemini-cli-0.46.0.json"))
	ok(t, "search", "--data", data, "x")
	db, err := database.Open("sqlite", "file:"+filepath.Join(data, "ledger-search.db"))
	require.NoError(t, err)
	_, err = db.Exec(`CREATE TRIGGER refuse BEFORE INSERT ON places BEGIN SELECT RAISE(ABORT, 'not this one'); END`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	ok(t, "import", "--data", data, recording("codex-acp-0.16.0.json"))
	_, stderr, code := steno(t, "search", "--data", data, "x")
	require.Zero(t, code)
	require.Contains(t, stderr, "could not be indexed, and cannot be found")
	stdout, _, code := steno(t, "doctor", "--data", data)
	require.Equal(t, exitRuntime, code)
	require.Contains(t, stdout, "could not be indexed")
}
