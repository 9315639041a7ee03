package sqlite_test

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/sqlite"
)

// Variables that make the test binary a sink.
const (
	sinkURL    = "STENO_TEST_SINK_URL"
	sinkLedger = "STENO_TEST_SINK_LEDGER"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(sinkURL); url != "" {
		if err := runSink(url, os.Getenv(sinkLedger)); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func runSink(url, path string) error {
	nc, err := nats.Connect(url)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	l, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer l.Close() //nolint:errcheck // the process is to be killed
	o := sink.Options{JS: js, Ledger: l, MaxEvents: 8}
	if os.Getenv(sinkIndexes) != "" {
		o.Index = l
	}
	return sink.New(o).Run(context.Background())
}

// TestKilledAtRandomPoints kills a sink's process again and again while it stores; the last one is
// left to finish.
func TestKilledAtRandomPoints(t *testing.T) {
	f := files{}
	s := ledgertest.NewStage(t, 10, f.open)
	require.NoError(t, s.Ledger.Close())
	for round := range 12 {
		for range 100 {
			s.Publish(s.Scripts[rand.IntN(len(s.Scripts))])
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), sinkURL+"="+s.URL(), sinkLedger+"="+f.path(t, "ledger"))
		cmd.Stderr = os.Stderr
		require.NoError(t, cmd.Start())
		time.Sleep(time.Duration(20+rand.IntN(150)) * time.Millisecond)
		require.NoError(t, cmd.Process.Kill(), "round %d", round)
		require.Error(t, cmd.Wait())
		checkPrefix(t, s, f.path(t, "ledger"))
	}
	s.Ledger = s.Open()
	k, _ := s.Run(sink.Options{})
	s.Wait(k)
	s.Check()
}

func checkPrefix(t *testing.T, s *ledgertest.Stage, path string) {
	t.Helper()
	l, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
	if err != nil {
		require.ErrorIs(t, err, sink.ErrVersion, "killed before it had made its tables")
		return
	}
	defer func() { require.NoError(t, l.Close()) }()
	s.CheckPrefix(l)
}
