package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink/verify"
)

// TestVerifyAPart proves one capture, and those with something since a time: what is wrong elsewhere is
// not looked at.
func TestVerifyAPart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	ok(t, "import", "--data", data, "testdata/sacks.jsonl", recording("a2a-go-2.4.0.jsonl"))
	path := filepath.Join(data, "ledger.db") // the sacks were counted on November 27th, orders taken on the 29th
	ledger, err := os.ReadFile(path)
	require.NoError(t, err)
	at := strings.Index(string(ledger), "There are 14 sacks.")
	require.Positive(t, at)
	ledger[at] ^= 1
	require.NoError(t, os.WriteFile(path, ledger, 0o600))

	stdout, stderr, code := steno(t, "verify", "--data", data, "Sacks", "--json")
	require.Equal(t, exitChanged, code, stderr)
	var report provedReport
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	require.Equal(t, 1, report.Captures)
	require.Len(t, report.Heads, 1)
	require.Equal(t, "capture "+report.Heads[0].Capture, report.Selected)
	require.Equal(t, &verify.First{
		Capture: report.Heads[0].Capture, Frame: report.Findings[0].Frame,
		Transcript: report.Heads[0].Capture + "/1", Seq: report.Findings[0].Seq,
	}, report.First)

	for _, tt := range []struct {
		args string
		says string
		code int
	}{
		{"verify " + report.Heads[0].Capture, "not verified, capture " + report.Heads[0].Capture + ": 23 frames, ", exitChanged},
		{"verify --since 2026-11-27", "not verified, 2 of 2 captures: since 2026-11-27T00:00:00", exitChanged},
		{"verify --since 2026-11-29", "verified, 1 of 2 captures: since 2026-11-29T00:00:00", exitOK},
		{"verify --since 2099-01-01", "verified, 0 of 2 captures: since 2099-01-01T00:00:00", exitOK},
		{"verify nobody", "no key, session id, title or task has it", exitRuntime},
		{"verify default/a/b/0/1", "no key, session id, title or task has it", exitRuntime},
		{"verify Sacks --since 2h", "what KEY names, is verified whole", exitUsage},
		{"verify --since yesterday", "--since", exitUsage},
	} {
		stdout, stderr, code := steno(t, append(strings.Fields(tt.args), "--data", data)...)
		require.Equal(t, tt.code, code, "%s: %s%s", tt.args, stdout, stderr)
		require.Contains(t, stdout+stderr, tt.says, tt.args)
	}
}
