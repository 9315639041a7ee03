package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/archive/s3/s3test"
)

// ownBucket has commands sign as the owner of a server for tests.
func ownBucket(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", s3test.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3test.SecretKey)
}

func TestSealIntoABucket(t *testing.T) {
	ownBucket(t)
	f := &s3test.Fake{}
	data, place := t.TempDir(), f.Start(t, "some/archive")
	ok(t, "import", "--data", data, "testdata/sacks.jsonl")
	_, stderr, code := steno(t, "seal", "--data", data, "--all", "--archive", place, "--legal-hold")
	require.Equal(t, exitConfig, code, stderr)
	require.Contains(t, stderr, "the bucket was made without Object Lock")
	f.Locks = true
	seal := []string{"seal", "--data", data, "--all", "--archive", place, "--object-lock", "2w", "--object-lock-mode", "compliance"}
	sealed := ok(t, seal...)
	require.Contains(t, sealed, ": sealed up to frame 23, root ")
	require.Equal(t, sealed, ok(t, seal...), "again")
	require.Equal(t, "COMPLIANCE", f.Get("some/archive/default/seals.log/000000000001.json").Lock.Get(s3test.LockMode))
	require.Empty(t, f.Get("some/archive/default/seals.log/head.note").Lock)
	require.Contains(t, ok(t, "verify", place), "verified: 1 seal of 1 capture, 23 frames, 28 events, 0 unaccounted")

	f.Set("some/archive/"+archive.MarkName, s3test.Object{Data: []byte("another")})
	stdout, _, code := steno(t, "verify", place)
	require.Equal(t, exitChanged, code)
	require.Contains(t, stdout, archive.MarkName+": it has 7 bytes, not ")

	f.Careless = []string{"If-None-Match"}
	_, stderr, code = steno(t, "seal", "--data", data, "--all", "--archive", place)
	require.Equal(t, exitConfig, code)
	require.Contains(t, stderr, "in spite of If-None-Match")
	_, stderr, code = steno(t, "verify", strings.Replace(place, "//mill", "//quarry", 1))
	require.Equal(t, exitConfig, code)
	require.Contains(t, stderr, "there is no such bucket")
}

func TestAddressesOfArchives(t *testing.T) {
	for _, tt := range []struct{ args, says string }{
		{"verify s3://", "want s3://bucket/prefix"},
		{"verify s3://key:s3cret@mill", "not in an address"},
		{"verify https://", "want https://host/bundle.tar"},
		{"seal --all --archive s3://", "--archive: open archive: want s3://bucket/prefix"},
		{"seal --all --archive a --object-lock 365d", "they are for a bucket"},
		{"seal --all --archive a --legal-hold", "they are for a bucket"},
		{"seal --all --archive s3://mill --object-lock long", `--object-lock "long": want how long`},
		{"seal --all --archive s3://mill --object-lock 0d", `--object-lock "0d": want how long`},
		{"seal --all --archive s3://mill --object-lock 1d --object-lock-mode firm", `"firm": want governance or compliance`},
	} {
		stdout, stderr, code := steno(t, append(strings.Fields(tt.args), "--data", t.TempDir())...)
		require.Equal(t, exitUsage, code, "%s: %s", tt.args, stderr)
		require.Contains(t, stderr, tt.says)
		require.NotContains(t, stderr, "s3cret")
		require.Empty(t, stdout)
	}
	t.Setenv("STENO_ARCHIVE", "s3://")
	_, stderr, code := steno(t, "seal", "--all", "--data", t.TempDir())
	require.Equal(t, exitConfig, code)
	require.Contains(t, stderr, "STENO_ARCHIVE")
}

func TestVerifyAURL(t *testing.T) {
	data, folder := t.TempDir(), t.TempDir()
	ok(t, "import", "--data", data, "testdata/sacks.jsonl")
	ok(t, "seal", "--data", data, "Sacks in the store", "--out", filepath.Join(folder, "sacks.tar"))
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	files := http.NewServeMux()
	files.Handle("/", http.FileServer(http.Dir(folder)))
	files.Handle("/moved.tar", http.RedirectHandler("/sacks.tar", http.StatusFound))
	files.Handle("/round.tar", http.RedirectHandler("/round.tar", http.StatusFound))
	files.Handle("/local.tar", http.RedirectHandler("file://"+folder+"/sacks.tar", http.StatusFound))
	files.HandleFunc("/tired.tar", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	files.HandleFunc("/short.tar", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("less"))
	})
	server := httptest.NewServer(files)
	defer server.Close()

	for _, name := range []string{"/sacks.tar", "/moved.tar", "/sacks.tar?signature=s3cret"} {
		require.Contains(t, ok(t, "verify", server.URL+name), "verified: 1 seal of 1 capture, 23 frames, 28 events, 0 unaccounted")
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "text"), []byte("no tar"), 0o600))
	whole, err := os.ReadFile(filepath.Join(folder, "sacks.tar"))
	require.NoError(t, err)
	whole[len(whole)/2] ^= 1
	require.NoError(t, os.WriteFile(filepath.Join(folder, "changed.tar"), whole, 0o600))
	for _, tt := range []struct {
		name, says string
		code       int
	}{
		{"/changed.tar", "", exitChanged},
		{"/text", "/text is neither an archive's directory nor a bundle", exitUsage},
		{"/none.tar", "/none.tar: 404 Not Found", exitRuntime},
		{"/tired.tar", "502 Bad Gateway", exitUnavailable},
		{"/round.tar", "it redirects too often", exitRuntime},
		{"/local.tar", "or to what is not as safe", exitRuntime},
		{"/short.tar", "unexpected EOF", exitRuntime},
	} {
		stdout, stderr, code := steno(t, "verify", server.URL+tt.name+"?signature=s3cret")
		require.Equal(t, tt.code, code, "%s: %s%s", tt.name, stdout, stderr)
		require.Contains(t, stderr, tt.says)
		require.NotContains(t, stderr, "s3cret")
	}
	server.Close()
	_, stderr, code := steno(t, "verify", server.URL+"/sacks.tar?signature=s3cret")
	require.Equal(t, exitUnavailable, code)
	require.Contains(t, stderr, "the server does not answer")
	require.NotContains(t, stderr, "s3cret")
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	require.Empty(t, left, "nothing stays behind")
}

func TestABundleThatIsTooLarge(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/said" {
			w.Header().Set("Content-Length", "11")
		}
		_, _ = w.Write([]byte("0123456789"))
		_ = http.NewResponseController(w).Flush()
		_, _ = w.Write([]byte("a"))
	}))
	defer server.Close()
	for _, path := range []string{"/said", "/found"} {
		u, err := url.Parse(server.URL + path)
		require.NoError(t, err)
		_, err = fetch(t.Context(), u, 10, time.Minute)
		require.ErrorContains(t, err, "it has more than 10 bytes")
		name, err := fetch(t.Context(), u, 11, time.Minute)
		require.NoError(t, err)
		require.NoError(t, os.Remove(name))
	}
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestAServerThatStallsIsGivenUp(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("a"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	u, err := url.Parse(server.URL)
	require.NoError(t, err)
	_, err = fetch(t.Context(), u, 10, 50*time.Millisecond)
	require.ErrorIs(t, err, errStalled)
	require.Equal(t, exitUnavailable, exitCode(err))
}
