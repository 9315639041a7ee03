//go:build e2e

// Package e2e starts what docker-compose.yml describes as plain processes on loopback, records into it
// while some of them are killed, and compares what PostgreSQL holds with what NATS holds, and that with
// what clients were told. It shares no code with the stages: it reads streams and tables by itself, and
// folds with the steno command.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/deploy/plain"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

// within bounds the whole: make test's patience is not this suite's.
const within = 110 * time.Second

const top = "../.."

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// deployment is the stack with what the test needs of it.
type deployment struct {
	*plain.Stack
	ctx   context.Context
	steno string // the binary
	dir   string
	nats  string // URL of all three servers
	js    jetstream.JetStream
	db    *pgx.Conn
	base  string // URL of the database
	began time.Time
}

// say prints a line of what is done, and when.
func (d *deployment) say(format string, args ...any) {
	fmt.Printf("%5.1fs  %s\n", time.Since(d.began).Seconds(), fmt.Sprintf(format, args...))
}

func TestEndToEnd(t *testing.T) {
	d := deploy(t)
	proxy := d.startProxy(t)
	var stop atomic.Bool
	files := make(chan []imported, 1)
	go func() { files <- d.importUntil(t, &stop) }()
	said := make(chan int, 1)
	go func() { said <- proxy.talkUntil(t, &stop) }()

	for _, victim := range []string{"translate-1", "sink-1", d.leader(t)} {
		time.Sleep(2 * time.Second)
		require.NoError(t, d.Kill(victim))
		d.say("killed %s", victim)
	}
	for _, name := range []string{"nats-1", "nats-2", "nats-3"} {
		require.NoError(t, d.Healthy(d.ctx, name))
	}
	d.say("all three NATS servers are healthy again")
	time.Sleep(2 * time.Second)
	stop.Store(true)
	captures, turns := <-files, <-said
	proxy.end(t)
	d.say("imported %d files and talked %d turns through the proxy", len(captures), turns)
	if t.Failed() {
		return
	}
	d.check(t, captures, turns)
}

// deploy builds both programs and starts the stack.
func deploy(t *testing.T) *deployment {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	t.Cleanup(cancel)
	d := &deployment{ctx: ctx, dir: t.TempDir(), began: time.Now()}
	d.steno = d.build(t, "steno", "./cmd/steno")
	server := d.build(t, "nats-server", "github.com/nats-io/nats-server/v2")
	database, err := url.Parse(pgtest.Database(t))
	require.NoError(t, err)
	d.db, err = pgx.Connect(ctx, database.String())
	require.NoError(t, err)
	_, err = d.db.Exec(ctx, "CREATE DATABASE steno") // the file's
	require.NoError(t, err)
	require.NoError(t, d.db.Close(ctx))
	d.say("built steno and nats-server, started PostgreSQL")

	password, _ := database.User.Password()
	d.Stack, err = plain.Start(ctx, plain.Options{
		Compose: top + "/docker-compose.yml", Dir: d.dir,
		Variables:    map[string]string{"STENO_NATS_PASSWORD": "1e2e", "STENO_DB_PASSWORD": password},
		Programs:     map[string]string{"steno": d.steno, "nats-server": server},
		Elsewhere:    map[string]string{"postgres:5432": database.Host},
		RestartAfter: 2 * time.Second,
	})
	t.Cleanup(func() {
		require.NoError(t, d.Stop())
		if t.Failed() {
			t.Log(d.Logs())
		}
	})
	require.NoError(t, err)
	d.say("started what docker-compose.yml describes: %s", strings.Join(d.Names(), ", "))
	d.connect(t, database)
	return d
}

func (d *deployment) build(t *testing.T, name, pkg string) string {
	path := filepath.Join(d.dir, name)
	cmd := exec.CommandContext(d.ctx, "go", "build", "-o", path, pkg)
	cmd.Dir = top
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "build %s: %s", pkg, out)
	return path
}

// connect reaches the streams and the ledger as anyone may.
func (d *deployment) connect(t *testing.T, database *url.URL) {
	var urls []string
	for _, member := range []string{"nats-1", "nats-2", "nats-3"} {
		address, err := d.Address(member + ":4222")
		require.NoError(t, err)
		urls = append(urls, "nats://steno:1e2e@"+address)
	}
	d.nats = strings.Join(urls, ",")
	conn, err := nats.Connect(d.nats, nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	d.js, err = jetstream.New(conn)
	require.NoError(t, err)
	database.Path = "/steno"
	d.base = database.String()
	d.db, err = pgx.Connect(d.ctx, database.String())
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, d.db.Close(context.Background()))
	})
}

// command is steno as a user runs it, with directories of its own.
func (d *deployment) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(d.ctx, d.steno, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.dir}
	return cmd
}

// leader is the server that the frames depend on most.
func (d *deployment) leader(t *testing.T) string {
	s, err := d.js.Stream(d.ctx, "STENO_RAW")
	require.NoError(t, err)
	info, err := s.Info(d.ctx)
	require.NoError(t, err)
	require.EqualValues(t, 3, info.Config.Replicas)
	return info.Cluster.Leader
}

// imported is what steno import says of a file.
type imported struct {
	Capture string `json:"capture"`
	Frames  uint64 `json:"frames"`
}

// importUntil imports all bundled recordings, over and over under other names. The first round meets the
// kills and waits for who takes over; the last one begins after them.
func (d *deployment) importUntil(t *testing.T, stop *atomic.Bool) (all []imported) {
	files, err := filepath.Glob(top + "/cmd/steno/recordings/*.json*")
	if err != nil || len(files) == 0 {
		t.Errorf("no recordings: %v", err)
		return nil
	}
	for round := 1; round <= 2 || !stop.Load(); round++ {
		args := append([]string{"import", "--json", "--nats", d.nats, "--workflow", "round-" + strconv.Itoa(round)}, files...)
		cmd := d.command(args...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("import: %v\n%s", err, errs.String())
			return all
		}
		for line := range strings.Lines(string(out)) {
			var one imported
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Errorf("import printed %q: %v", line, err)
			}
			all = append(all, one)
		}
	}
	return all
}
