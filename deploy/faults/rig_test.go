//go:build faults

package faults

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink/postgres/pgtest"
)

const top = "../.."

// programs are what a run is made of.
type programs struct {
	dir    string
	steno  string
	skewed string // whose clock jumps; empty: none
	nats   string
}

// rig is a deployment, and what is known of it from outside.
type rig struct {
	*servers
	t        *testing.T
	ctx      context.Context
	dir      string
	seed     uint64
	programs programs
	exits    *exits
	seen     evidence
	ledger   string // URL
	js       jetstream.JetStream
	began    time.Time
	over     chan struct{} // closed: nobody begins anything any more

	mu    sync.Mutex
	lines []*line
}

// newRig starts servers with their streams, and a database.
func newRig(t *testing.T, p programs, replicas int, seed uint64, within time.Duration) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	t.Cleanup(cancel)
	r := &rig{t: t, ctx: ctx, dir: t.TempDir(), seed: seed, programs: p, began: time.Now(), over: make(chan struct{})}
	r.exits = &exits{dir: r.dir, starts: map[string]int{}, killed: map[string]int{}}
	t.Cleanup(r.end)
	var err error
	r.servers, err = newServers(p.nats, r.dir, replicas, r.exits)
	require.NoError(t, err)
	require.NoError(t, r.startAll(ctx))
	out, err := r.command("", "streams", "apply", "--nats", r.url(), "--replicas", fmt.Sprint(replicas)).CombinedOutput()
	require.NoError(t, err, string(out))
	conn, err := nats.Connect(r.url(), nats.MaxReconnects(-1), nats.ReconnectWait(look), nats.ReconnectJitter(0, 0))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	r.js, err = jetstream.New(conn)
	require.NoError(t, err)
	r.ledger = pgtest.Database(t)
	return r
}

// say prints a line of what is done, and when.
func (r *rig) say(format string, args ...any) {
	fmt.Printf("%6.1fs  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

// end ends what the test left, and shows the logs of a failure.
func (r *rig) end() {
	for _, one := range r.all {
		if one.process != nil {
			r.kill(one)
		}
	}
	for _, l := range r.lines {
		l.close()
	}
	if !r.t.Failed() {
		return
	}
	fmt.Printf("seed %d\n", r.seed)
	logs, err := filepath.Glob(filepath.Join(r.dir, "*.log"))
	if err != nil {
		return
	}
	for _, log := range logs {
		if text, err := os.ReadFile(log); err == nil && len(text) > 0 {
			fmt.Printf("== %s\n%s\n", filepath.Base(log), text[max(0, len(text)-3000):])
		}
	}
}

// line makes a line to the servers, which ends with the test.
func (r *rig) line() *line {
	l, err := newLine(r.addresses(), user+":"+password, &r.seen)
	require.NoError(r.t, err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, l)
	return l
}

// command is steno as an operator runs it, with directories of its own. program "" is the usual one.
func (r *rig) command(program string, args ...string) *exec.Cmd {
	if program == "" {
		program = r.programs.steno
	}
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, skewVariable + "=" + skewBy, "GOMAXPROCS=2"}
	return cmd
}

// steno is a command that no fault meets.
func (r *rig) steno(args ...string) *exec.Cmd { return r.command("", args...) }

// database connects to the ledger.
func (r *rig) database() *pgx.Conn {
	db, err := pgx.Connect(r.ctx, r.ledger)
	require.NoError(r.t, err)
	return db
}

// folder makes a directory of the run.
func (r *rig) folder(name string) string {
	path := filepath.Join(r.dir, name)
	require.NoError(r.t, os.MkdirAll(path, 0o700))
	return path
}

// sleep waits, or until done.
func sleep(done <-chan struct{}, d time.Duration) bool {
	select {
	case <-done:
		return false
	case <-time.After(d):
		return true
	}
}

// build makes the programs that a run needs.
func build(t *testing.T, dir, name, pkg string, flags ...string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	cmd := exec.Command("go", append(append([]string{"build", "-o", path}, flags...), pkg)...)
	cmd.Dir, cmd.Env = top, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "build %s: %s", pkg, out)
	return path
}
