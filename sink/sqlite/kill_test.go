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
	return sink.New(sink.Options{JS: js, Ledger: l, MaxEvents: 8}).Run(context.Background())
}

// TestKilledAtRandomPoints kills a sink's process again and again while it stores; the last one is
// left to finish.
func TestKilledAtRandomPoints(t *testing.T) {
	s := newStage(t, 10)
	require.NoError(t, s.ledger.Close())
	for round := range 12 {
		for range 100 {
			s.publish(s.scripts[rand.IntN(len(s.scripts))])
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), sinkURL+"="+s.URL(), sinkLedger+"="+s.path)
		cmd.Stderr = os.Stderr
		require.NoError(t, cmd.Start())
		time.Sleep(time.Duration(20+rand.IntN(150)) * time.Millisecond)
		require.NoError(t, cmd.Process.Kill(), "round %d", round)
		require.Error(t, cmd.Wait())
		s.checkPrefix()
	}
	s.ledger = s.open()
	k, _ := s.run(sink.Options{})
	s.wait(k)
	s.check()
}

// checkPrefix checks that whatever is stored is a beginning of what was published.
func (s *stage) checkPrefix() {
	s.t.Helper()
	l, err := sqlite.Open(s.path, sqlite.Options{ReadOnly: true})
	if err != nil {
		require.ErrorIs(s.t, err, sink.ErrVersion, "killed before it had made its tables")
		return
	}
	defer func() { require.NoError(s.t, l.Close()) }()
	for key, want := range s.want {
		n := 0
		for e, err := range l.Events(within(s.t), key, 0, 0) {
			require.NoError(s.t, err)
			require.Equal(s.t, uint64(n+1), e.Seq)
			require.Equal(s.t, want[n], e.Bytes)
			n++
		}
	}
}
