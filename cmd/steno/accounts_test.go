package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryFrameOfEveryGoldenCountsOnce holds the ledger's counts, made of the events alone, against
// the frames: tools that end with another session's close, lines of several frames, batches, noise.
func TestEveryFrameOfEveryGoldenCountsOnce(t *testing.T) {
	files, err := filepath.Glob("../../translate/acp/testdata/acp-*/*.golden")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	data, dir := t.TempDir(), t.TempDir()
	args := []string{"import", "--data", data, "--json"}
	captures := map[string]bool{} // some stand in both versions
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		frames, _, _ := strings.Cut(string(text), "----------")
		if captures[frames] {
			continue
		}
		captures[frames] = true
		path := filepath.Join(dir, filepath.Base(filepath.Dir(file))+filepath.Base(file)+".jsonl")
		require.NoError(t, os.WriteFile(path, []byte(frames), 0o600))
		args = append(args, path)
	}
	want := map[string]uint64{}
	for line := range strings.Lines(ok(t, args...)) {
		var r imported
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		want[r.Capture] = r.Frames
	}
	require.Len(t, want, len(captures))
	got := map[string]uint64{}
	for _, s := range list(t, data) {
		require.Zero(t, s.Unaccounted, s.Key)
		got[s.Key[:strings.LastIndexByte(s.Key, 47)]] += s.Frames
	}
	for capture := range got {
		require.Contains(t, want, capture)
	}
	require.Equal(t, want, got)
	require.Contains(t, ok(t, "verify", "--data", data), " 0 unaccounted\n")
}
