//go:build s3

package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/archive/s3/s3test"
)

// between stands in front of a server, and kills its client at one of the writes.
type between struct {
	proxy *httputil.ReverseProxy

	mu     sync.Mutex
	left   int  // writes until then; 0: never
	behind bool // the write is carried out before
	kill   func()
}

func newBetween(t *testing.T, server string) (b *between, address string) {
	target, err := url.Parse(server)
	require.NoError(t, err)
	b = &between{proxy: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // it is signed
	}}}
	front := httptest.NewServer(b)
	t.Cleanup(front.Close)
	return b, front.URL
}

// aim says at which of the next writes what is killed.
func (b *between) aim(left int, behind bool, kill func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left, b.behind, b.kill = left, behind, kill
}

// ServeHTTP implements http.Handler.
func (b *between) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	now, behind, kill := false, b.behind, b.kill
	if r.Method == http.MethodPut && b.left > 0 {
		b.left--
		now = b.left == 0
	}
	b.mu.Unlock()
	if !now {
		b.proxy.ServeHTTP(w, r)
		return
	}
	if behind {
		b.proxy.ServeHTTP(httptest.NewRecorder(), r)
	}
	kill()
	panic(http.ErrAbortHandler)
}

// objects gives the files below a folder that are an archive's objects.
func objects(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if _, wrong := archive.ParseObject(filepath.ToSlash(name)); err != nil || wrong != nil || name == archive.MarkName {
			return err
		}
		data, err := os.ReadFile(path)
		out[name] = string(data)
		return err
	}))
	return out
}

// TestKilledWhileSealingIntoABucket kills seal at writes that are drawn, before and behind them, until one
// comes through: then the bucket holds what a directory holds that nobody has disturbed.
func TestKilledWhileSealingIntoABucket(t *testing.T) {
	ownBucket(t)
	server := s3test.StartServer(t)
	server.Bucket(t, "mill", false)
	front, address := newBetween(t, server.URL)
	place := s3test.Address("mill/archive", address)
	data, whole := t.TempDir(), filepath.Join(t.TempDir(), "whole")
	files, err := filepath.Glob(recording("*.jsonl"))
	require.NoError(t, err)
	ok(t, append([]string{"import", "--data", data, "testdata/sacks.jsonl"}, files...)...)

	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	killed, finished := 0, false
	for ; !finished; killed++ {
		seal := stenoCommand(t.Context(), "seal", "--data", data, "--all", "--archive", place)
		var errs strings.Builder
		seal.Stderr = &errs
		require.NoError(t, seal.Start())
		// The first two find out whether the server is fit.
		front.aim(3+r.IntN(5), r.IntN(2) == 0, func() { _ = seal.Process.Kill() })
		if finished = seal.Wait() == nil; !finished {
			require.Equal(t, -1, seal.ProcessState.ExitCode(), "seed %d: it was not killed: %s", seed, errs.String())
		}
	}
	front.aim(0, false, nil)
	t.Logf("killed %d times, seed %d", killed-1, seed)
	require.Greater(t, killed, 3)
	ok(t, "seal", "--data", data, "--all", "--archive", whole)
	require.Equal(t, objects(t, whole), objects(t, filepath.Join(server.Dir, "mill", "archive")))
	require.Contains(t, ok(t, "verify", place), " 0 unaccounted")

	changed := filepath.Join(server.Dir, "mill", "archive", "default", "seals.log", "000000000001.json")
	text, err := os.ReadFile(changed)
	require.NoError(t, err)
	text[len(text)/2] ^= 1
	require.NoError(t, os.WriteFile(changed, text, 0o600))
	stdout, _, code := steno(t, "verify", place)
	require.Equal(t, exitChanged, code)
	require.Contains(t, stdout, "default/seals.log/000000000001.json")

	server.Stop()
	_, stderr, code := steno(t, "verify", s3test.Address("mill/archive", server.URL))
	require.Equal(t, exitUnavailable, code, stderr)
}

// manyEvents writes a recording whose frames give one event each, and some more.
func manyEvents(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"mill"}}}
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/"}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1"}}
> {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":"Grind."}]}}
`)
	for i := range n {
		fmt.Fprintf(&b, `< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"plan","entries":[{"content":"grind sack %d","priority":"high","status":"in_progress"}]}}}`+"\n", i)
	}
	b.WriteString(`< {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}` + "\n")
	path := filepath.Join(t.TempDir(), "many.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

// timed is ok that also says how long the command took from its start to its end, and of the cores.
func timed(t *testing.T, args ...string) (stdout, took string) {
	t.Helper()
	cmd := stenoCommand(t.Context(), args...)
	began := time.Now()
	out, err := cmd.Output()
	require.NoError(t, err)
	state := cmd.ProcessState
	return string(out), fmt.Sprintf("%v, of which %v on a core", time.Since(began), state.UserTime()+state.SystemTime())
}

// TestHundredThousandEventsInABucket says how fast so many are sealed and verified, beside a directory.
func TestHundredThousandEventsInABucket(t *testing.T) {
	ownBucket(t)
	server := s3test.StartServer(t)
	data := t.TempDir()
	ok(t, "import", "--data", data, "--sync", "1s", manyEvents(t, 100_000))
	for _, place := range []string{filepath.Join(t.TempDir(), "archive"), server.Bucket(t, "mill", false)} {
		_, sealing := timed(t, "seal", "--data", data, "--sync", "1s", "--all", "--archive", place)
		said, verifying := timed(t, "verify", place)
		t.Logf("%s\nseal: %s\nverify: %s\n%s", place, sealing, verifying, said)
		require.Contains(t, said, "verified: 1 seal of 1 capture, 100008 frames, 100010 events, 0 unaccounted")
	}
}
