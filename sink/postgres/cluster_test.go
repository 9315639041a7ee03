package postgres_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/postgres"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

// Variables that make the test binary a sink.
const (
	sinkURL    = "STENO_TEST_SINK_URL"
	sinkLedger = "STENO_TEST_SINK_LEDGER"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(sinkURL); url != "" {
		if err := runSink(context.Background(), url, os.Getenv(sinkLedger)); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		return
	}
	os.Exit(pgtest.Main(m))
}

// Sinks of these tests are gone sooner than those that people run: what is waited for is a part of what it would be.
const (
	beat  = 250 * time.Millisecond
	lease = 2 * time.Second
)

// What is promised, on a machine that does nothing else; what fails the test is a multiple of it.
const (
	joinsWithin  = 2 * lease
	servedWithin = 4 * lease
	loaded       = 3
)

// runSink is a sink among others, until ctx ends.
func runSink(ctx context.Context, url, ledger string) error {
	nc, err := nats.Connect(url)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	l, err := postgres.Open(ctx, ledger, postgres.Options{})
	if err != nil {
		return err
	}
	defer l.Close() //nolint:errcheck // it always works
	log := zerolog.New(os.Stderr)
	o := postgres.NewOwnership(l, postgres.OwnershipOptions{Beat: beat, Lease: lease, Log: log})
	return sink.New(sink.Options{JS: js, Ledger: l, Ownership: o, Log: log, MaxEvents: 64}).Run(ctx)
}

// cluster is a stage with sinks that share its partitions, and one who publishes all the time.
type cluster struct {
	*ledgertest.Stage
	t    *testing.T
	url  string
	halt func()
}

func newCluster(t *testing.T) *cluster {
	d := databases{}
	c := &cluster{t: t, Stage: ledgertest.NewStage(t, 64, d.open), url: d.url(t, "ledger")}
	c.goOn()
	t.Cleanup(func() { c.halt() })
	return c
}

// goOn publishes until halt is called; not as fast as can be: it goes on for as long as leases last.
func (c *cluster) goOn() {
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			c.Publish(c.Scripts[rand.IntN(len(c.Scripts))])
			time.Sleep(2 * time.Millisecond)
		}
	})
	c.halt = func() {
		stop()
		wg.Wait()
	}
}

// join starts a sink in this process; the function ends it in an orderly way.
func (c *cluster) join() (leave func()) { return c.joinBy(c.url) }

func (c *cluster) joinBy(ledger string) (leave func()) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- runSink(ctx, c.URL(), ledger) }()
	leave = sync.OnceFunc(func() {
		stop()
		require.NoError(c.t, <-done)
	})
	c.t.Cleanup(leave)
	return leave
}

// process starts a sink as a process of its own; what it says goes to the buffer, which is read when
// it has ended.
func (c *cluster) process() (*exec.Cmd, *bytes.Buffer) {
	said := &bytes.Buffer{}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), sinkURL+"="+c.URL(), sinkLedger+"="+c.url)
	cmd.Stderr = said
	require.NoError(c.t, cmd.Start())
	c.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	return cmd, said
}

// shared waits until the partitions are spread so, and tells how long it took.
func (c *cluster) shared(want ...int) time.Duration {
	c.t.Helper()
	began := time.Now()
	conn, err := pgx.Connect(within(c.t), c.url)
	require.NoError(c.t, err)
	defer conn.Close(within(c.t)) //nolint:errcheck // the test has what it wants
	var have []int
	for time.Since(began) < time.Minute {
		rows, err := conn.Query(within(c.t), `SELECT count(*)::int FROM steno.owners GROUP BY owner ORDER BY 1 DESC`)
		require.NoError(c.t, err)
		have, err = pgx.CollectRows(rows, pgx.RowTo[int])
		require.NoError(c.t, err)
		if slices.Equal(have, want) {
			return time.Since(began)
		}
		time.Sleep(50 * time.Millisecond)
	}
	require.Equal(c.t, want, have)
	return 0
}

// served publishes to every capture and waits until that is stored; it tells how long it took.
func (c *cluster) served() time.Duration {
	c.t.Helper()
	c.halt()
	began := time.Now()
	for _, script := range c.Scripts {
		c.Publish(script)
	}
	c.WaitStored()
	took := time.Since(began)
	c.goOn()
	return took
}

func (c *cluster) check() {
	c.t.Helper()
	c.halt()
	c.WaitStored()
	c.Check()
}

func TestSinksShareThePartitions(t *testing.T) {
	c := newCluster(t)
	leave := c.join()
	c.join()
	killed, _ := c.process()
	t.Log("three sinks share after", c.shared(11, 11, 10))
	c.join()
	took := c.shared(8, 8, 8, 8)
	t.Log("a fourth has its share after", took)
	require.Less(t, took, loaded*joinsWithin)
	c.served()

	require.NoError(t, killed.Process.Kill())
	took = c.served()
	t.Log("all is served after a kill in", took)
	require.Less(t, took, loaded*servedWithin)
	c.shared(11, 11, 10)

	leave()
	t.Log("all is served after an orderly end in", c.served())
	c.shared(16, 16)
	c.check()
}

func TestZombieIsFenced(t *testing.T) {
	c := newCluster(t)
	c.join()
	zombie, said := c.process()
	c.shared(16, 16)
	c.served()
	require.NoError(t, zombie.Process.Signal(syscall.SIGSTOP))
	t.Log("all is served after a freeze in", c.served())
	c.shared(32)
	require.NoError(t, zombie.Process.Signal(syscall.SIGCONT))
	c.shared(16, 16)
	c.served()
	require.NoError(t, zombie.Process.Kill())
	_ = zombie.Wait() // it was killed
	t.Log("partitions that the zombie found taken:", strings.Count(said.String(), sink.ErrFenced.Error()))
	c.check()
}

// TestSinkCutOffFromTheDatabase freezes one sink's way to the database, and to its heartbeat with it.
func TestSinkCutOffFromTheDatabase(t *testing.T) {
	c := newCluster(t)
	c.join()
	way := newProxy(t, pgtest.Address(t, c.url), nil)
	c.joinBy(pgtest.Through(t, c.url, way.address))
	c.shared(16, 16)
	way.freeze()
	t.Log("all is served after a cut in", c.served())
	c.shared(32)
	way.thaw()
	c.shared(16, 16)
	c.check()
}

// TestSinksThroughRestarts ends the database and NATS under three sinks, again and again.
func TestSinksThroughRestarts(t *testing.T) {
	c := newCluster(t)
	for range 3 {
		c.join()
	}
	for i := range 3 {
		time.Sleep(time.Duration(500+rand.IntN(1000)) * time.Millisecond)
		if i%2 == 0 {
			pgtest.Restart(t)
		} else {
			c.Restart(t)
		}
	}
	c.shared(11, 11, 10)
	c.check()
}
