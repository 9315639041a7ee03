package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

func TestExportsOfADirectory(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	ok(t, "import", "--data", data, "testdata/sacks.jsonl")
	ok(t, "import", "--data", data, recording("goose-1.37.0.json"))
	defer startUp(t, data).kill(t)
	stored := ok(t, "show", "ce9f8754", "--data", data, "--json")

	lines, says, code := steno(t, "export", "ce9f8754", "--data", data)
	require.Zero(t, code, says)
	require.Equal(t, stored, lines, "byte for byte")
	require.Equal(t, "wrote stdout: 22 events, 17 frames, no suspected secret\n", says)
	for line := range strings.Lines(lines) {
		require.True(t, json.Valid([]byte(line)))
	}

	page := filepath.Join(dir, "page.html")
	_, says, code = steno(t, "export", "ce9f8754", "--data", data, "--format", "html", "--out", page)
	require.Zero(t, code, says)
	require.Equal(t, "wrote "+page+": 22 events, 17 frames, no suspected secret\n", says)
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(html), "<p>There are 14 sacks.</p>")
	require.NotContains(t, string(html), "This is a part")
	info, err := os.Stat(page)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "what was said is its owner's")

	// What is there stays, unless it is told to go; and nothing else is left beside it.
	_, says, code = steno(t, "export", "ce9f8754", "--data", data, "--format", "md", "--out", page)
	require.Equal(t, exitRuntime, code)
	require.Contains(t, says, "--force takes its place")
	again, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, string(html), string(again))
	ok(t, "export", "ce9f8754", "--data", data, "--format", "md", "--out", page, "--force")
	md, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(md), "# Sacks in the store\n")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)

	// A link stays one, and a device a device.
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(page, link))
	ok(t, "export", "ce9f8754", "--data", data, "--out", link, "--force")
	info, err = os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	jsonl, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, stored, string(jsonl))
	null := filepath.Join(t.TempDir(), "null")
	require.NoError(t, os.Symlink(os.DevNull, null))
	ok(t, "export", "ce9f8754", "--data", data, "--out", null, "--force")
	info, err = os.Stat(os.DevNull)
	require.NoError(t, err)
	require.False(t, info.Mode().IsRegular())

	_, says, code = steno(t, "export", "ce9f8754", "--data", data, "--out", filepath.Join(dir, "none", "x"))
	require.Equal(t, exitRuntime, code)
	require.Contains(t, says, "write "+filepath.Join(dir, "none", "x"))
}

// The frames that are exported give what the ledger holds, and importing them adds nothing.
func TestExportedFramesAreTheCapture(t *testing.T) {
	data := t.TempDir()
	ok(t, "import", "--data", data, recording("goose-1.37.0.json"), recording("a2a-go-2.4.0.jsonl"), "testdata/sacks.jsonl")
	up := startUp(t, data)
	defer up.kill(t)
	captures := map[string]schema.Identity{}
	for _, line := range list(t, data) {
		key, err := schema.ParseTranscript(line.Key)
		require.NoError(t, err)
		captures[key.Identity.String()] = key.Identity
		file := filepath.Join(t.TempDir(), "frames.jsonl")
		_, says, code := steno(t, "export", line.Key, "--data", data, "--frames", "--out", file)
		require.Zero(t, code, says)
		require.Regexp(t, `^wrote .*: \d+ frames of the capture, no suspected secret\n$`, says)
		translated := durable(t, ok(t, "translate", file, "--namespace", key.Namespace, "--workflow", key.Workflow, "--run", key.Run))
		require.Equal(t, ok(t, "show", line.Key, "--data", data, "--json"), numbered(t, translated[key.Session]))
		require.Contains(t, ok(t, "import", "--data", data, file, "--namespace", key.Namespace, "--workflow", key.Workflow, "--run", key.Run), " 0 added")
	}
	require.Len(t, captures, 3)
}

func TestAnExportOfWhatGoesOnSaysSo(t *testing.T) {
	data := t.TempDir()
	_, _, code := steno(t, "import", "--data", data, halfOf(t, "testdata/sacks.jsonl", 9))
	require.Equal(t, exitRuntime, code, "it broke off")
	require.Contains(t, ok(t, "ls", "--data", data, "--json"), `"status":"open"`)
	for _, args := range [][]string{{"--format", "jsonl"}, {"--frames"}} {
		_, says, code := steno(t, append([]string{"export", "--data", data}, args...)...)
		require.Zero(t, code, says)
		require.Contains(t, says, "; a part: the recording is open\n")
	}
	for _, format := range []string{"md", "html"} {
		require.Contains(t, ok(t, "export", "--data", data, "--format", format), "This is a part: the recording had not ended", format)
	}
}
