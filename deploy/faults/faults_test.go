//go:build faults

// Package faults runs a deployment of real processes on loopback, NATS servers of the configurations in
// deploy/nats, PostgreSQL, translators, sinks and taps of every kind, and hurts it: processes are killed
// and frozen, servers killed, connections cut, publishes refused and their answers lost, clocks put
// forward and back. Then everything is drained, and an outside checker compares what the taps were
// given with the frames, the frames' offline fold with the records, and the records with the ledger. A
// seed decides what happens when.
package faults

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink/postgres/pgtest"
)

var (
	seedFlag = flag.Uint64("seed", 0, "decides the faults and what is said; 0: the time does")
	duration = flag.Duration("duration", 6*time.Second, "of the faults of each run")
	clocks   = flag.Bool("clocks", false, "let clocks jump: builds a second steno, which takes a while")
	only     = flag.String("only", "", "a pattern of the faults to do, to look at some alone")
	outage   = flag.Duration("outage", 5*time.Second, "how long the broker is away from an import")
)

func TestMain(m *testing.M) {
	if log := os.Getenv(asAgent); log != "" {
		if err := agent(log, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if *seedFlag == 0 {
		*seedFlag = uint64(time.Now().UnixNano())
	}
	code := pgtest.Main(m)
	if made.dir != "" {
		if err := os.RemoveAll(made.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// made are the programs, built once.
var (
	made   programs
	making sync.Mutex
)

// built builds what is not built yet.
func built(t *testing.T) programs {
	t.Helper()
	making.Lock()
	defer making.Unlock()
	if made.steno != "" {
		return made
	}
	dir, err := os.MkdirTemp("", "steno-faults-")
	require.NoError(t, err)
	p := programs{dir: dir, nats: build(t, dir, "nats-server", "github.com/nats-io/nats-server/v2")}
	if *clocks {
		p.skewed = buildSkewed(t, dir)
	}
	p.steno = build(t, dir, "steno", "./cmd/steno")
	made = p
	return made
}

func TestOneServer(t *testing.T) { runFaults(t, 1) }

func TestThreeServers(t *testing.T) { runFaults(t, 3) }

// runFaults runs everything with faults, drains it, and has it checked.
func runFaults(t *testing.T, of int) {
	s := newStorm(t, built(t), of, *seedFlag, *duration)
	s.say("seed %d, %d NATS server(s), faults for %s", s.seed, of, *duration)
	s.rage(schedule(s.seed, *duration, *only))
	s.say("the faults have ended")
	s.drain()
	s.check()
	s.report()
	if *duration >= 10*time.Minute {
		require.GreaterOrEqual(t, s.exits.crashes("nats"), 500, "crashes")
		require.GreaterOrEqual(t, s.zombies.total(), 100, "zombies")
		require.GreaterOrEqual(t, s.exits.count("nats"), 20, "killed servers")
	}
}
