package ledgertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
)

// Stage is a server with a ledger and captures written by hand on it.
type Stage struct {
	*natstest.Server
	Ledger  Ledger
	Scripts []*Script
	Want    map[schema.Transcript][][]byte // what was published, numbered
	Last    map[uint32]uint64              // sequence of the last record, by partition

	t    testing.TB
	open Open
}

// NewStage starts a server and opens a ledger.
func NewStage(t testing.TB, captures int, open Open) *Stage {
	s := &Stage{
		Server: natstest.Start(t), t: t, open: open,
		Want: map[schema.Transcript][][]byte{}, Last: map[uint32]uint64{},
	}
	for i := range captures {
		s.Scripts = append(s.Scripts, NewScript(fmt.Sprintf("run-%d", i)))
	}
	s.Ledger = s.Open()
	return s
}

// Open opens the stage's ledger once more, as another process does.
func (s *Stage) Open() Ledger {
	l := s.open(s.t, "ledger")
	s.t.Cleanup(func() { _ = l.Close() }) // some tests close it themselves
	return l
}

// within bounds each wait.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// Publish commits one record of a capture: some events over two sessions.
func (s *Stage) Publish(script *Script) {
	s.t.Helper()
	for i := range 1 + rand.IntN(4) {
		script.Next(uint32(i%2), Raw(strconv.Itoa(i)))
	}
	s.PublishRecord(script, script.Record())
}

// PublishRecord commits a record.
func (s *Stage) PublishRecord(script *Script, r schema.Record) {
	s.t.Helper()
	header, err := r.Header()
	require.NoError(s.t, err)
	payload := r.Payload()
	if len(payload) > schema.MaxInline {
		blobs, err := topology.OpenBlobs(within(s.t), s.JS)
		require.NoError(s.t, err)
		sha, err := blobs.Put(within(s.t), script.ID, payload)
		require.NoError(s.t, err)
		header[schema.HeaderBlob], payload = []string{sha}, nil
	}
	s.Send(script, header, payload)
	for _, e := range r.Events {
		event, err := schema.DecodeEvent(e)
		require.NoError(s.t, err)
		n, err := schema.WithStoreSeq(e, uint64(len(s.Want[event.Transcript])+1))
		require.NoError(s.t, err)
		s.Want[event.Transcript] = append(s.Want[event.Transcript], n)
	}
}

// Send puts a record on the stream once, whatever becomes of the answers.
func (s *Stage) Send(script *Script, header map[string][]string, payload []byte) {
	s.t.Helper()
	subject := schema.EventSubject(script.ID, s.Info.Partitions)
	last := func() uint64 {
		for {
			m, _, err := topology.Last(within(s.t), s.JS, topology.Events, subject)
			if err == nil {
				return m.Seq
			}
			time.Sleep(10 * time.Millisecond) // the server is away
		}
	}
	fence := last()
	seq := fence
	for seq == fence {
		ctx, cancel := context.WithTimeout(within(s.t), time.Second)
		ack, err := s.JS.PublishMsg(ctx, &nats.Msg{Subject: subject, Header: header, Data: payload},
			jetstream.WithExpectLastSequencePerSubject(fence))
		cancel()
		if seq = last(); err == nil {
			seq = ack.Sequence
		}
	}
	s.Last[script.ID.Partition(s.Info.Partitions)] = seq
}

// Run runs a sink until the returned function is called, which waits for it.
func (s *Stage) Run(o sink.Options) (k *sink.Sink, stop func() error) {
	if o.JS == nil {
		o.JS = s.JS
	}
	if o.Ledger == nil {
		o.Ledger = s.Ledger
	}
	o.FirstRetry, o.MaxRetry = time.Millisecond, 5*time.Millisecond
	k = sink.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- k.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	s.t.Cleanup(func() { _ = stop() })
	return k, stop
}

// Wait waits until all that was published is stored.
func (s *Stage) Wait(k *sink.Sink) {
	s.t.Helper()
	for partition, seq := range s.Last {
		require.NoError(s.t, k.Wait(within(s.t), partition, seq))
	}
}

// WaitStored waits until all that was published is stored, whoever stores it.
func (s *Stage) WaitStored() {
	s.t.Helper()
	l := s.open(s.t, "ledger")
	defer func() { require.NoError(s.t, l.Close()) }()
	ctx := within(s.t)
	for {
		st, err := l.Stats(ctx)
		require.NoError(s.t, err)
		behind := 0
		for partition, seq := range s.Last {
			if st.Positions[partition].Seq < seq {
				behind++
			}
		}
		if behind == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Check reads the ledger as an outsider and holds it against what was published.
func (s *Stage) Check() {
	s.t.Helper()
	l := s.open(s.t, "ledger")
	defer func() { require.NoError(s.t, l.Close()) }()
	for key, want := range s.Want {
		got := stored(s.t, l, key)
		require.Equal(s.t, len(want), len(got), key.String())
		require.Equal(s.t, want, got, key.String())
	}
	st, err := l.Stats(within(s.t))
	require.NoError(s.t, err)
	require.Zero(s.t, st.Parked)
}

// CheckPrefix checks that whatever is stored is a beginning of what was published.
func (s *Stage) CheckPrefix(l sink.Reader) {
	s.t.Helper()
	for key, want := range s.Want {
		got := stored(s.t, l, key)
		require.LessOrEqual(s.t, len(got), len(want), key.String())
		require.Equal(s.t, want[:len(got)], append([][]byte{}, got...), key.String())
	}
}

// stored reads a transcript to its end and checks that the numbers are 1, 2, 3 …
func stored(t testing.TB, l sink.Reader, key schema.Transcript) [][]byte {
	t.Helper()
	var out [][]byte
	for e, err := range l.Events(within(t), key, 0, 0) {
		require.NoError(t, err)
		require.Equal(t, uint64(len(out)+1), e.Seq)
		out = append(out, e.Bytes)
	}
	return out
}
