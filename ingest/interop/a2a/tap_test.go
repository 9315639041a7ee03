package interop

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tap is a steno proxy and the directory that it writes to.
type tap struct {
	url, data string
	said      *bytes.Buffer // its stderr; whole once it has ended
	end       func()
}

var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// startTap puts a proxy before a server and returns once it says where it listens.
func startTap(t *testing.T, upstream string, flags ...string) *tap {
	t.Helper()
	p := &tap{data: t.TempDir(), said: &bytes.Buffer{}}
	args := append([]string{"proxy", "--listen", "127.0.0.1:0", "--upstream", upstream, "--peer", "orders"}, flags...)
	p.end = p.start(t, args, p.said, func(line string) bool {
		for _, url := range address.FindAllString(line, -1) {
			if url != upstream && p.url == "" {
				p.url = url
			}
		}
		return p.url != ""
	})
	return p
}

// start runs a command that lives until it is ended, and returns once a line on its stderr is what is
// waited for. The end is by SIGTERM, in time, with status 0.
func (p *tap) start(t *testing.T, args []string, said *bytes.Buffer, ready func(line string) bool) (end func()) {
	t.Helper()
	cmd := exec.Command(steno, append(args, "--data", p.data)...)
	cmd.Env = clean(p.data)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	is, closed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(closed)
		waits := true
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			said.Write(append(lines.Bytes(), '\n'))
			if waits && ready(lines.Text()) {
				waits = false
				close(is)
			}
		}
	}()
	var once sync.Once
	end = func() {
		once.Do(func() {
			late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM), "steno %s", args[0])
			<-closed
			err := cmd.Wait()
			require.True(t, late.Stop(), "steno %s did not end in time:\n%s", args[0], said)
			require.NoError(t, err, "steno %s:\n%s", args[0], said)
		})
	}
	t.Cleanup(end)
	select {
	case <-is:
	case <-closed:
		once.Do(func() {}) // there is nothing left to end
		t.Fatalf("steno %s has ended: %v\n%s", args[0], cmd.Wait(), said)
	case <-time.After(patience):
		t.Fatalf("steno %s does not say that it is there", args[0])
	}
	return end
}

// clean is an environment in which nothing of the user's own settings steers steno.
func clean(home string) []string {
	env := []string{"HOME=" + home}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "HOME" && !strings.HasPrefix(name, "STENO_") && !strings.HasPrefix(name, "XDG_") {
			env = append(env, v)
		}
	}
	return env
}

// command runs a reading command and gives its lines.
func (p *tap) command(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), steno, append(args, "--data", p.data)...)
	cmd.Env = clean(p.data)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &said, patience
	require.NoError(t, cmd.Run(), "steno %s:\n%s", strings.Join(args, " "), &said)
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// listed is a line of steno ls.
type listed struct {
	Key, Protocol, Agent              string
	Frames, Events, Head, Unaccounted int
	Empty                             bool
}

// hasTold requires that the conversations which passed have given exactly these transcripts, while the
// proxy lives, and that steno verify agrees.
func (p *tap) hasTold(t *testing.T, want []transcript) {
	t.Helper()
	// Each command would do without, but would have to start all that is needed for it.
	defer p.start(t, []string{"up", "--listen", "off"}, &bytes.Buffer{}, func(line string) bool { return strings.HasPrefix(line, "steno up: data in ") })()
	left := map[string]int{}
	for _, w := range want {
		left[w.String()]++
	}
	frames, events := 0, 0
	for _, line := range p.command(t, "ls", "--json") {
		var l listed
		require.NoError(t, json.Unmarshal([]byte(line), &l), line)
		require.Equal(t, []any{"a2a", "orders", 0, l.Events}, []any{l.Protocol, l.Agent, l.Unaccounted, l.Head}, line)
		require.Regexp(t, `^default/orders/[0-9a-f-]{36}/0/1/0$`, l.Key)
		frames, events = frames+l.Frames, events+l.Events
		if l.Empty { // a card, or what else is no conversation
			continue
		}
		takes := func(line string) bool { return strings.HasPrefix(line, `{"takes":`) } // behind the events
		shown := slices.DeleteFunc(p.command(t, "show", l.Key, "--json"), takes)
		require.Len(t, shown, l.Events, l.Key)
		got := read(t, shown)
		require.Positive(t, left[got.String()], "%s is not expected, or not so often:\n%s\nexpected:\n%v", l.Key, got, left)
		left[got.String()]--
	}
	for text, n := range left {
		require.Zero(t, n, "missing:\n%s", text)
	}
	var v struct {
		Frames, Events, Unaccounted, Open, Gaps int
		Findings                                []any
	}
	verdict := p.command(t, "verify", "--json")
	require.NoError(t, json.Unmarshal([]byte(verdict[len(verdict)-1]), &v))
	require.Equal(t, []any{frames, events, 0, 0, 0, 0}, []any{v.Frames, v.Events, v.Unaccounted, v.Open, v.Gaps, len(v.Findings)}, verdict)
}

// keepsSecret requires that none of the words is anywhere in what the proxy leaves behind.
func (p *tap) keepsSecret(t *testing.T, words ...string) {
	t.Helper()
	p.end()
	require.NoError(t, filepath.WalkDir(p.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, word := range words {
			require.NotContains(t, string(text), word, path)
		}
		return err
	}))
	for _, word := range words {
		require.NotContains(t, p.said.String(), word)
	}
}
