package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAKeyThatIsNoneIsRefused: a check against a key is never left out because there is something wrong with it.
func TestAKeyThatIsNoneIsRefused(t *testing.T) {
	dir := t.TempDir()
	empty, other := filepath.Join(dir, "empty.pub"), filepath.Join(dir, "other.pub")
	require.NoError(t, os.WriteFile(empty, []byte(" \n"), 0o600))
	require.NoError(t, os.WriteFile(other, []byte("no key\n"), 0o600))
	for _, command := range [][]string{{"verify", dir}, {"explain", "k#1", "--archive", dir}, {"rebuild", "--archive", dir, "--data", dir}} {
		for key, says := range map[string]string{
			"": "want a public key", " ": "want a public key", empty: "is empty", other: "read public key", "a+b+c": "read public key",
			filepath.Join(dir, "none.pub"): "want a public key",
		} {
			_, stderr, code := steno(t, append(command, "--key", key)...)
			require.Equal(t, exitUsage, code, "%v --key %q: %s", command, key, stderr)
			require.Contains(t, stderr, says)
		}
	}
}

func TestALineIsNoTerminals(t *testing.T) {
	var out bytes.Buffer
	o := &output{to: &out}
	o.line("%s: %d", "a\x1b[2Jb\nverified: \u202ec\rd", 7)
	require.Equal(t, "a␛[2Jb␊verified: ⟨U+202E⟩c␍d: 7\n", out.String())
	_, stderr, code := steno(t, "verify", "./no\x1b]0;title")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "no␛]0;title")
}

func TestNothingToCompareIsNoSuccess(t *testing.T) {
	_, stderr, code := steno(t, "retranslate", t.TempDir(), "--with", translatorVersions()[0])
	require.Equal(t, exitRuntime, code)
	require.Contains(t, stderr, "nothing was compared")
}
