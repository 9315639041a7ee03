package tap

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// memory keeps what it is given, unless told to fail or wait.
type memory struct {
	mu     sync.Mutex
	data   map[schema.From][]byte
	closed []schema.CloseInfo
	ours   []string // lines of others than the client

	appending func(ctx context.Context, from schema.From, b []byte) error // before a chunk is kept
	saying    func(ctx context.Context) error                             // before a line of ours is
	closing   error
}

func (m *memory) Append(ctx context.Context, from schema.From, _ time.Time, b []byte) error {
	if m.appending != nil {
		if err := m.appending(ctx, from, b); err != nil {
			return err
		}
	}
	m.keep(from, b)
	return nil
}

func (m *memory) keep(from schema.From, b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.data == nil {
		m.data = map[schema.From][]byte{}
	}
	m.data[from] = append(m.data[from], b...)
}

func (m *memory) Control(ctx context.Context, typ schema.FrameType, _ time.Time, info any) error {
	if typ == schema.TypeIntervention && m.saying != nil {
		if err := m.saying(ctx); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b, err := json.Marshal(info)
	if err == nil && typ == schema.TypeIntervention {
		m.ours = append(m.ours, string(b))
	}
	if err != nil || typ != schema.TypeClose {
		return err
	}
	var c schema.CloseInfo
	if err := json.Unmarshal(b, &c); err != nil {
		return err
	}
	m.closed = append(m.closed, c)
	return m.closing
}

func (m *memory) kept(from schema.From) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return string(m.data[from])
}

// tapped is a running tap seen from its client's side.
type tapped struct {
	t              *testing.T
	stdin          *os.File
	stdout, stderr *os.File
	cancel         context.CancelCauseFunc
	done           chan struct{}
	result         Result
	err            error
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = r.Close(), w.Close() }) // closed already in most tests
	return r, w
}

func runTap(t *testing.T, j Journal, agent ...string) *tapped {
	t.Helper()
	return runTapWith(t, Options{Journal: j}, agent...)
}

func runTapWith(t *testing.T, o Options, agent ...string) *tapped {
	t.Helper()
	c := &tapped{t: t, done: make(chan struct{})}
	o.Command, o.Env, o.Grace = agentCommand(agent...), agentEnv(), graceInTests
	o.Stdin, c.stdin = pipe(t)
	c.stdout, o.Stdout = pipe(t)
	var stderr *os.File
	c.stderr, stderr = pipe(t)
	o.Stderr = stderr
	ctx, cancel := context.WithCancelCause(t.Context())
	c.cancel = cancel
	go func() {
		defer close(c.done)
		c.result, c.err = Run(ctx, o)
		_ = stderr.Close() // the process's end does it
	}()
	return c
}

// all reads an output to its end, beside the test.
func all(f *os.File) <-chan string {
	c := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(f)
		c <- string(b)
	}()
	return c
}

func (c *tapped) line() string {
	c.t.Helper()
	var line []byte
	for b := make([]byte, 1); ; {
		_, err := c.stdout.Read(b)
		require.NoError(c.t, err)
		if b[0] == '\n' {
			return string(line)
		}
		line = append(line, b[0])
	}
}

func (c *tapped) wait() (Result, error) {
	c.t.Helper()
	select {
	case <-c.done:
	case <-time.After(20 * time.Second):
		require.FailNow(c.t, "the tap hangs")
	}
	return c.result, c.err
}

func code(n int) *int { return &n }
