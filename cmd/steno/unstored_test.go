package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A proof over what has come through is none over what has not.
func TestVerifyIsNoProofOfWhatHasNotComeThrough(t *testing.T) {
	data := t.TempDir()
	ok(t, "import", "--data", data, recording("gemini-cli-0.46.0.json"))
	ok(t, "verify", "--data", data)
	journals := filepath.Join(data, "journal")
	require.NoError(t, os.MkdirAll(journals, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(journals, "broken.journal"), []byte("no journal"), 0o600))
	stdout, stderr, code := steno(t, "verify", "--data", data)
	require.Equal(t, exitRuntime, code)
	require.Contains(t, stdout, "verified as far as it is numbered, which is not all: ")
	require.Contains(t, stderr, "not come through")
	require.Contains(t, stderr, "not all that was recorded is in it: 1 warning above")
}
