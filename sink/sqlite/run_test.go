package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
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
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/sqlite"
)

// stage is a server with a ledger and hand-made captures on it.
type stage struct {
	*natstest.Server
	t       testing.TB
	path    string
	ledger  *sqlite.Ledger
	scripts []*ledgertest.Script
	want    map[schema.Transcript][][]byte
	last    map[uint32]uint64 // sequence of the last record, by partition
}

func newStage(t testing.TB, captures int) *stage {
	s := &stage{
		Server: natstest.Start(t), t: t, path: filepath.Join(t.TempDir(), "ledger.db"),
		want: map[schema.Transcript][][]byte{}, last: map[uint32]uint64{},
	}
	for i := range captures {
		s.scripts = append(s.scripts, ledgertest.NewScript(fmt.Sprintf("run-%d", i)))
	}
	s.ledger = s.open()
	return s
}

func (s *stage) open() *sqlite.Ledger {
	l, err := sqlite.Open(s.path, sqlite.Options{})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = l.Close() }) // some tests close it themselves
	return l
}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// publish commits one record of a capture: some events over two sessions.
func (s *stage) publish(script *ledgertest.Script) {
	s.t.Helper()
	for i := range 1 + rand.IntN(4) {
		script.Next(uint32(i%2), ledgertest.Raw(strconv.Itoa(i)))
	}
	s.publishRecord(script, script.Record())
}

func (s *stage) publishRecord(script *ledgertest.Script, r schema.Record) {
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
	s.send(script, header, payload)
	for _, e := range r.Events {
		event, err := schema.DecodeEvent(e)
		require.NoError(s.t, err)
		n, err := schema.WithStoreSeq(e, uint64(len(s.want[event.Transcript])+1))
		require.NoError(s.t, err)
		s.want[event.Transcript] = append(s.want[event.Transcript], n)
	}
}

// send puts a record on the stream once, whatever becomes of the answers.
func (s *stage) send(script *ledgertest.Script, header map[string][]string, payload []byte) {
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
	s.last[script.ID.Partition(s.Info.Partitions)] = seq
}

// run runs a sink until the returned function is called, which waits for it.
func (s *stage) run(o sink.Options) (k *sink.Sink, stop func() error) {
	if o.JS == nil {
		o.JS = s.JS
	}
	if o.Ledger == nil {
		o.Ledger = s.ledger
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

func (s *stage) wait(k *sink.Sink) {
	s.t.Helper()
	for partition, seq := range s.last {
		require.NoError(s.t, k.Wait(within(s.t), partition, seq))
	}
}

// check reads the ledger as an outsider and holds it against what was published.
func (s *stage) check() {
	s.t.Helper()
	l, err := sqlite.Open(s.path, sqlite.Options{ReadOnly: true})
	require.NoError(s.t, err)
	defer func() { require.NoError(s.t, l.Close()) }()
	for key, want := range s.want {
		var got [][]byte
		for e, err := range l.Events(within(s.t), key, 0, 0) {
			require.NoError(s.t, err)
			require.Equal(s.t, uint64(len(got)+1), e.Seq)
			got = append(got, e.Bytes)
		}
		require.Equal(s.t, len(want), len(got), key.String())
		require.Equal(s.t, want, got, key.String())
	}
	st, err := l.Stats(within(s.t))
	require.NoError(s.t, err)
	require.Zero(s.t, st.Parked)
}

func TestRunStoresAndWakes(t *testing.T) {
	s := newStage(t, 20)
	woken, err := s.NC.SubscribeSync("steno.stored.>")
	require.NoError(t, err)
	for _, script := range s.scripts {
		s.publish(script)
	}
	var mu sync.Mutex
	events := 0
	k, stop := s.run(sink.Options{OnStored: func(out sink.Stored) {
		mu.Lock()
		defer mu.Unlock()
		events += out.Events
	}})
	s.wait(k)
	for range 5 {
		for _, script := range s.scripts {
			s.publish(script)
		}
	}
	s.wait(k)
	require.NoError(t, stop(), "the end of its context is no error")
	s.check()

	heads, total := map[string]uint64{}, 0
	for {
		m, err := woken.NextMsg(100 * time.Millisecond)
		if err != nil {
			break
		}
		heads[m.Subject], err = strconv.ParseUint(string(m.Data), 10, 64)
		require.NoError(t, err)
	}
	for key, want := range s.want {
		require.Equal(t, uint64(len(want)), heads[schema.StoredSubject(key)], "the last wake-up says the head")
		total += len(want)
	}
	require.Equal(t, total, events)
	require.ErrorIs(t, k.Wait(within(t), 0, 1<<40), sink.ErrStopped)
}

func TestRunRetriesBothKindsOfFailure(t *testing.T) {
	s := newStage(t, 10)
	faulty := &ledgertest.Faulty{Ledger: s.ledger, Plan: func(int, string) ledgertest.Fault {
		return ledgertest.Fault(rand.IntN(3))
	}}
	k, stop := s.run(sink.Options{Ledger: faulty, MaxEvents: 3})
	for range 30 {
		for _, script := range s.scripts {
			s.publish(script)
		}
	}
	s.wait(k)
	require.NoError(t, stop())
	require.Positive(t, faulty.Faults)
	s.check()
}

func TestRunGoesOnWhereItStopped(t *testing.T) {
	s := newStage(t, 10)
	for range 10 {
		for range 10 {
			s.publish(s.scripts[rand.IntN(len(s.scripts))])
		}
		k, stop := s.run(sink.Options{})
		if rand.IntN(2) == 0 {
			s.wait(k)
		}
		require.NoError(t, stop())
		require.NoError(t, s.ledger.Close())
		s.ledger = s.open()
	}
	k, _ := s.run(sink.Options{})
	s.wait(k)
	s.check()
}

func TestRunOfTwoSinksFencesOne(t *testing.T) {
	s := newStage(t, 10)
	first, stopFirst := s.run(sink.Options{})
	for _, script := range s.scripts {
		s.publish(script)
	}
	s.wait(first)
	other := s.open() // as another process has it
	second, _ := s.run(sink.Options{Ledger: other})
	for _, script := range s.scripts {
		s.publish(script)
	}
	s.wait(second)
	for _, script := range s.scripts {
		s.publish(script)
	}
	s.wait(second)
	err := first.Wait(within(t), s.scripts[0].ID.Partition(s.Info.Partitions), 1<<40)
	require.ErrorIs(t, err, sink.ErrStopped)
	require.ErrorIs(t, err, sink.ErrFenced)
	require.ErrorIs(t, stopFirst(), sink.ErrFenced)
	s.check()
}

func TestRunOutlivesTheServer(t *testing.T) {
	s := newStage(t, 5)
	k, stop := s.run(sink.Options{})
	for range 3 {
		for range 20 {
			s.publish(s.scripts[rand.IntN(len(s.scripts))])
		}
		s.Restart(t)
	}
	s.publish(s.scripts[0])
	s.wait(k)
	require.NoError(t, stop())
	s.check()
}

func TestRunReadsAnotherStreamFromItsFirstMessage(t *testing.T) {
	s := newStage(t, 5)
	for range 50 {
		s.publish(s.scripts[rand.IntN(len(s.scripts))])
	}
	k, stop := s.run(sink.Options{})
	s.wait(k)
	require.NoError(t, stop())

	// The same records on a stream that was made anew, in another order and with more behind them.
	var messages []topology.Message
	for m, err := range topology.Read(within(t), s.JS, topology.Events, schema.EventSubjects, 1) {
		require.NoError(t, err)
		messages = append(messages, m)
	}
	require.NoError(t, s.JS.DeleteStream(within(t), topology.Events))
	_, err := topology.Apply(within(t), s.JS, topology.Config{})
	require.NoError(t, err)
	for _, script := range s.scripts {
		for _, m := range messages {
			if m.Subject == schema.EventSubject(script.ID, s.Info.Partitions) {
				s.send(script, m.Header, m.Data)
			}
		}
		s.publish(script)
	}
	k, _ = s.run(sink.Options{})
	s.wait(k)
	s.check()
}

func TestRunResolvesLargeRecords(t *testing.T) {
	s := newStage(t, 1)
	script := s.scripts[0]
	script.Next(0, ledgertest.Raw(strings.Repeat("x", 5<<20)))
	s.publishRecord(script, script.Record())
	s.publish(script)
	k, _ := s.run(sink.Options{})
	s.wait(k)
	s.check()
}

func TestRunFailsLoudlyWithoutTheBytes(t *testing.T) {
	s := newStage(t, 1)
	script := s.scripts[0]
	script.Next(0, ledgertest.Raw("x"))
	r := script.Record()
	header, err := r.Header()
	require.NoError(t, err)
	header[schema.HeaderBlob] = []string{strings.Repeat("ab", 32)}
	s.send(script, header, nil)
	k, stop := s.run(sink.Options{})
	err = k.Wait(within(t), script.ID.Partition(s.Info.Partitions), 1)
	require.ErrorIs(t, err, topology.ErrBlob)
	require.ErrorContains(t, stop(), script.ID.String())
}

func TestRunParksWhatTheDatabaseRefuses(t *testing.T) {
	s := newStage(t, 3)
	db, err := sql.Open("sqlite", "file:"+s.path)
	require.NoError(t, err)
	defer db.Close() //nolint:errcheck // the test is over
	_, err = db.Exec(`CREATE TRIGGER refuse BEFORE INSERT ON events WHEN instr(NEW.event, CAST('poison' AS BLOB)) > 0
BEGIN SELECT RAISE(ABORT, 'not this one'); END`)
	require.NoError(t, err)

	poisoned := s.scripts[1]
	for range 5 {
		for _, script := range s.scripts {
			s.publish(script)
		}
	}
	poisoned.Next(0, ledgertest.Raw("good"))
	poisoned.Next(0, ledgertest.Raw("poison"))
	r := poisoned.Record()
	header, err := r.Header()
	require.NoError(t, err)
	s.send(poisoned, header, r.Payload())
	for range 5 {
		s.publish(s.scripts[0])
		s.publish(s.scripts[2])
	}
	k, _ := s.run(sink.Options{})
	s.wait(k)

	info, err := s.ledger.Capture(within(t), poisoned.ID)
	require.NoError(t, err)
	require.Equal(t, sink.ReasonRefused, info.Parked.Reason)
	require.Contains(t, string(info.Parked.Got), "not this one")
	for _, script := range s.scripts {
		for session := range uint32(2) {
			sum, err := s.ledger.Transcript(within(t), script.Transcript(session))
			require.NoError(t, err)
			require.Equal(t, len(s.want[script.Transcript(session)]), int(sum.Head), "no part of the refused record is stored, all others are")
		}
	}
}

func TestRunPassesOverStrayMessages(t *testing.T) {
	s := newStage(t, 1)
	script := s.scripts[0]
	p := script.ID.Partition(s.Info.Partitions)
	for _, subject := range []string{
		fmt.Sprintf("steno.event.%d.what.is.this", p),
		fmt.Sprintf("steno.event.%d.%s", (p+1)%s.Info.Partitions, script.ID.Subject()),
	} {
		_, err := s.JS.Publish(within(t), subject, []byte("stray"))
		require.NoError(t, err)
	}
	s.publish(script)
	k, _ := s.run(sink.Options{})
	s.wait(k)
	s.check()
}
