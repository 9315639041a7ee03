package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// An end that nobody saw is said by the operator; what comes behind it opens the capture again.
func TestCloseEndsARecording(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	text, err := os.ReadFile("testdata/sacks.jsonl")
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	half := t.TempDir() + "/half.jsonl"
	require.NoError(t, os.WriteFile(half, []byte(strings.Join(lines[:6], "")+"{"), 0o600)) // it breaks off
	_, _, code := steno(t, "import", "--data", data, half)
	require.Equal(t, exitRuntime, code)
	status := func() string { return string(list(t, data)[0].Status) }
	require.Equal(t, string(schema.StatusOpen), status())

	require.Contains(t, ok(t, "close", "--data", data, "--json", "sacks", "--reason", "power cut"), `"added":true`)
	require.Equal(t, string(schema.StatusEnded), status())
	require.Contains(t, ok(t, "show", "--data", data, "--json", strings.TrimSuffix(list(t, data)[0].Key, "/1")+"/0"), `"reason":"power cut"`)
	require.Contains(t, ok(t, "close", "--data", data, "--json", "sacks"), `"added":false`)
	require.Contains(t, ok(t, "verify", "--data", data), " 0 unaccounted")

	_, stderr, code := steno(t, "close", "--data", data)
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "which transcript?")
}
