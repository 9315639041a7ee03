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

// TestSealAndVerify seals recordings of both protocols, takes the archive away from everything else, and
// proves it; then it is changed.
func TestSealAndVerify(t *testing.T) {
	data, away := t.TempDir(), t.TempDir()
	place, key := filepath.Join(away, "archive"), filepath.Join(away, "mill.key")
	public := strings.TrimSpace(ok(t, "keygen", key, "--name", "mill.example"))
	stdout, stderr, code := steno(t, "keygen", key)
	require.Equal(t, exitUsage, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "never written over")

	files, err := filepath.Glob(recording("*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	ok(t, append([]string{"import", "--data", data, "testdata/sacks.jsonl"}, files...)...)
	sealed := ok(t, "seal", "--data", data, "--all", "--archive", place, "--signing-key", key)
	require.Equal(t, len(files)+1, strings.Count(sealed, ": sealed up to frame "), sealed)
	require.Equal(t, sealed, ok(t, "seal", "--data", data, "--all", "--archive", place, "--signing-key", key), "again")

	bundle := filepath.Join(away, "sacks.tar")
	ok(t, "seal", "--data", data, "Sacks in the store", "--archive", place, "--signing-key", key, "--out", bundle)
	stdout, stderr, code = steno(t, "seal", "--data", data, "Sacks in the store", "--archive", place, "--signing-key", key, "--out", bundle)
	require.Equal(t, exitRuntime, code)
	require.Equal(t, "steno: write "+bundle+": file already exists; --force takes its place\n", stderr)
	require.Empty(t, stdout, "nothing is sealed before that is said")
	ok(t, "seal", "--data", data, "Sacks in the store", "--archive", place, "--signing-key", key, "--out", bundle, "--force")
	require.NoError(t, os.RemoveAll(data))
	said := ok(t, "verify", place)
	require.Contains(t, said, "not checked against yours")
	require.Contains(t, said, "\nverified: ")
	require.Contains(t, said, " 0 unaccounted")
	require.NotContains(t, ok(t, "verify", place, "--key", public), "not checked")
	require.Contains(t, ok(t, "verify", bundle), "verified: 1 seal of 1 capture, 23 frames, 28 events, 0 unaccounted")
	isSealedIn(t, place, "default/import/ce9f8754-f513-53ef-84cb-9a17872c6d73/0/1", 23)
	isSealedIn(t, place, "default/import/nobody/0/1", 0)

	other := filepath.Join(away, "other.key")
	foreign := ok(t, "keygen", other)
	require.Regexp(t, `"findings":\[\],.*"unfinished":\[\]`, ok(t, "verify", bundle, "--json"), "a list that is empty is one")
	stdout, _, code = steno(t, "verify", bundle, "--key", strings.TrimSpace(foreign), "--json")
	require.Equal(t, exitSignature, code)
	var report struct {
		Findings []struct{ Problem, File string }
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	require.Equal(t, "signature", report.Findings[0].Problem)
	require.True(t, strings.HasSuffix(report.Findings[0].File, ".note"))

	parts, err := filepath.Glob(filepath.Join(place, "*", "*", "*", "*", "s1", "*.zst"))
	require.NoError(t, err)
	text, err := os.ReadFile(parts[0])
	require.NoError(t, err)
	text[len(text)/2] ^= 1
	require.NoError(t, os.WriteFile(parts[0], text, 0o600))
	stdout, _, code = steno(t, "verify", place)
	require.Equal(t, exitChanged, code)
	name, err := filepath.Rel(place, parts[0])
	require.NoError(t, err)
	require.Contains(t, stdout, "file: "+filepath.ToSlash(name)+": its bytes have SHA-256 ")
	require.Contains(t, stdout, "not verified: ")
}

func TestAnEmptyArchiveIsNotVerified(t *testing.T) {
	_, stderr, code := steno(t, "verify", t.TempDir())
	require.Equal(t, exitRuntime, code)
	require.Contains(t, stderr, "nothing is sealed in ")
}

func TestABundleIsAsItWasWritten(t *testing.T) {
	data, bundle := t.TempDir(), filepath.Join(t.TempDir(), "b.tar")
	ok(t, "import", "--data", data, "testdata/sacks.jsonl")
	ok(t, "seal", "--data", data, "Sacks in the store", "--out", bundle)
	whole, err := os.ReadFile(bundle)
	require.NoError(t, err)
	for _, at := range []int{110, 150, 300, 520, len(whole) - 1} { // of headers, content and padding
		changed := append([]byte(nil), whole...)
		changed[at] ^= 1
		require.NoError(t, os.WriteFile(bundle, changed, 0o600))
		stdout, stderr, code := steno(t, "verify", bundle)
		require.Equal(t, exitChanged, code, "byte %d: %s%s", at, stdout, stderr)
	}
	require.NoError(t, os.WriteFile(bundle, append(whole, 0), 0o600))
	_, _, code := steno(t, "verify", bundle)
	require.Equal(t, exitChanged, code)
}

func TestSealSaysWhatItNeeds(t *testing.T) {
	for _, tt := range []struct{ args, says string }{
		{"seal --archive x", "want KEY, or --all"},
		{"seal --all KEY --archive x", "want KEY, or --all"},
		{"seal --all", "where to? give --archive DIR, or --out FILE.tar"},
		{"seal --all --out x.tar", "give one KEY"},
		{"seal KEY --out -", "a bundle goes into a file"},
		{"seal --all --archive x --signing-key nowhere", "--signing-key: want a private key"},
		{"seal --all --archive x --signing-key seal_test.go", "file seal_test.go: read private key"},
		{"seal --all --archive x --signing-key PRIVATE+KEY+x", "--signing-key: read private key"},
		{"keygen", "into which file?"},
		{"verify ./nowhere", "want an archive's directory, or a bundle"},
		{"verify seal_test.go", "neither an archive's directory nor a bundle"},
		{"verify --key x", "steno verify PATH --key KEY"},
	} {
		_, stderr, code := steno(t, strings.Fields(tt.args)...)
		require.Equal(t, exitUsage, code, "%s: %s", tt.args, stderr)
		require.Contains(t, stderr, tt.says, tt.args)
	}
}

// isSealedIn looks up to which frame consoles say that a capture is sealed.
func isSealedIn(t *testing.T, place, capture string, want uint64) {
	t.Helper()
	id, err := schema.ParseIdentity(capture)
	require.NoError(t, err)
	frame, known, err := (&session{archives: &archives{}}).sealedIn(place)(t.Context(), id)
	require.NoError(t, err)
	require.True(t, known)
	require.Equal(t, want, frame)
}
