package topology_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

const (
	subjectA = "steno.raw.3.n.w.a.0.1"
	subjectB = "steno.raw.3.n.w.b.0.1"
	subjectC = "steno.raw.4.n.w.c.0.1"
)

// fill stores messages numbered 1 to n on each subject in turn.
func fill(t testing.TB, js jetstream.JetStream, n int, subjects ...string) {
	t.Helper()
	for i := range n {
		for _, subject := range subjects {
			_, err := js.PublishMsg(deadline(t), &nats.Msg{
				Subject: subject, Data: fmt.Append(nil, i+1), Header: nats.Header{"Steno-Seq": {fmt.Sprint(i + 1)}},
			})
			require.NoError(t, err)
		}
	}
}

// texts reads a filter and writes each message as run:data@sequence.
func texts(t testing.TB, js jetstream.JetStream, subject string, from uint64) []string {
	t.Helper()
	var out []string
	for m, err := range topology.Read(deadline(t), js, topology.Raw, subject, from) {
		require.NoError(t, err)
		require.Equal(t, string(m.Data), m.Header.Get("Steno-Seq"))
		require.False(t, m.Time.IsZero())
		out = append(out, fmt.Sprintf("%s:%s@%d", m.Subject[16:17], m.Data, m.Seq))
	}
	return out
}

func TestReadGivesAFilterInOrder(t *testing.T) {
	s := natstest.Start(t)
	require.Empty(t, texts(t, s.JS, subjectA, 0), "an empty stream")
	fill(t, s.JS, 3, subjectA, subjectB, subjectC) // a1 b1 c1 a2 b2 c2 a3 b3 c3

	require.Equal(t, []string{"a:1@1", "a:2@4", "a:3@7"}, texts(t, s.JS, subjectA, 0))
	require.Equal(t, []string{"a:2@4", "a:3@7"}, texts(t, s.JS, subjectA, 2))
	require.Equal(t, []string{"a:3@7"}, texts(t, s.JS, subjectA, 7), "from the last one")
	require.Equal(t, []string{"a:3@7"}, texts(t, s.JS, subjectA, 5), "one, behind others' messages")
	require.Empty(t, texts(t, s.JS, subjectA, 8))
	require.Equal(t, []string{"b:2@5", "a:3@7", "b:3@8"}, texts(t, s.JS, "steno.raw.3.>", 5), "a partition")
	require.Empty(t, texts(t, s.JS, "steno.raw.5.>", 1), "a partition without messages")
	require.Len(t, texts(t, s.JS, "steno.raw.>", 1), 9)
}

func TestReadEndsAtTheLastMessageOfTheCall(t *testing.T) {
	s := natstest.Start(t)
	fill(t, s.JS, 5, subjectA)
	var read int
	for _, err := range topology.Read(deadline(t), s.JS, topology.Raw, subjectA, 1) {
		require.NoError(t, err)
		read++
		fill(t, s.JS, 1, subjectA) // a reader that waited for these would never end
	}
	require.Equal(t, 5, read)
}

// The last message may go while the ones before it are read: the sealer purges, and a snapshot is
// replaced by the next.
func TestReadEndsWhenItsEndIsGone(t *testing.T) {
	ctx := deadline(t)
	s := natstest.Start(t)
	payload := make([]byte, 700<<10)
	for range 30 { // so that the end is not yet on its way when it is purged
		_, err := s.JS.Publish(ctx, subjectA, payload)
		require.NoError(t, err)
	}
	fill(t, s.JS, 1, subjectB)
	stream, err := s.JS.Stream(ctx, topology.Raw)
	require.NoError(t, err)
	var read int
	for m, err := range topology.Read(ctx, s.JS, topology.Raw, "steno.raw.3.>", 1) {
		require.NoError(t, err)
		require.Equal(t, subjectA, m.Subject)
		if read++; read == 1 {
			require.NoError(t, stream.Purge(ctx, jetstream.WithPurgeSubject(subjectB)))
		}
	}
	require.Equal(t, 30, read)
}

func TestReadOfLargeMessages(t *testing.T) {
	s := natstest.Start(t)
	payload := make([]byte, 700<<10)
	for i := range 60 { // 42 MB, far above what may be on its way at once
		payload[0] = byte(i)
		_, err := s.JS.Publish(deadline(t), subjectA, payload)
		require.NoError(t, err)
	}
	var read int
	for m, err := range topology.Read(deadline(t), s.JS, topology.Raw, subjectA, 1) {
		require.NoError(t, err)
		require.Equal(t, byte(read), m.Data[0])
		require.Len(t, m.Data, len(payload))
		read++
	}
	require.Equal(t, 60, read)
}

func TestReadFailsOnAMissingStream(t *testing.T) {
	s := natstest.StartWith(t, natstest.Options{Bare: true})
	var failed error
	for _, err := range topology.Read(deadline(t), s.JS, topology.Raw, subjectA, 1) {
		failed = err
	}
	require.ErrorIs(t, failed, jetstream.ErrStreamNotFound)
	require.ErrorContains(t, failed, topology.Raw)
	_, _, err := topology.Last(deadline(t), s.JS, topology.Raw, subjectA)
	require.ErrorIs(t, err, jetstream.ErrStreamNotFound)
}

func TestReadIsEndedByItsContext(t *testing.T) {
	s := natstest.Start(t)
	fill(t, s.JS, 3, subjectA)
	ctx, cancel := context.WithCancel(deadline(t))
	defer cancel()
	var failed error
	for _, err := range topology.Read(ctx, s.JS, topology.Raw, subjectA, 1) {
		cancel()
		failed = err
	}
	require.ErrorIs(t, failed, context.Canceled)
}

func TestReadAcrossARestart(t *testing.T) {
	s := natstest.Start(t)
	payload := make([]byte, 512<<10)
	const n = 40 // more than one pull, so that the consumer is needed after the restart
	for i := range n {
		payload[0] = byte(i)
		_, err := s.JS.Publish(deadline(t), subjectA, payload)
		require.NoError(t, err)
	}
	var read int
	for m, err := range topology.Read(deadline(t), s.JS, topology.Raw, subjectA, 1) {
		require.NoError(t, err)
		require.Equal(t, byte(read), m.Data[0], "each once and in order")
		if read++; read == 2 {
			s.Restart(t)
		}
	}
	require.Equal(t, n, read)
}

// A reader that keeps nothing for a server which is away, as one of a data directory, waits for the next one,
// whatever of a capture it asks for first.
func TestReadBeginsWhileTheServerIsAway(t *testing.T) {
	s := natstest.Start(t)
	fill(t, s.JS, 3, subjectA)
	conn, err := nats.Connect(s.URL(), nats.ReconnectBufSize(-1), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	away := conn.StatusChanged(nats.RECONNECTING)
	_, _, err = topology.Last(deadline(t), js, topology.Raw, subjectA)
	require.NoError(t, err)
	s.Stop()
	<-away
	_, _, err = topology.Last(deadline(t), js, topology.Raw, subjectA)
	require.ErrorIs(t, err, nats.ErrReconnectBufExceeded)

	read := make(chan []string)
	go func() { read <- texts(t, js, subjectA, 1) }()
	none := schema.Identity{Namespace: "n", Workflow: "w", Run: "none", Attempt: 1}
	frames := topology.Frames{JS: js, Partitions: schema.Partitions}
	asks := map[string]func(context.Context) error{
		"head": func(ctx context.Context) error {
			_, err := frames.Head(ctx, none)
			return err
		},
		"frames from the second one": func(ctx context.Context) (err error) {
			for _, err = range frames.Frames(ctx, none, 2) {
			}
			return err
		},
		"what was given back": func(ctx context.Context) error {
			_, err := topology.ReadReturned(ctx, js, none)
			return err
		},
	}
	for what, ask := range asks {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		require.ErrorIs(t, ask(ctx), context.DeadlineExceeded, what)
		cancel()
	}
	s.Restart(t)
	require.Equal(t, []string{"a:1@1", "a:2@2", "a:3@3"}, <-read)
	for what, ask := range asks {
		require.NoError(t, ask(deadline(t)), what)
	}
}

func TestLast(t *testing.T) {
	ctx := deadline(t)
	s := natstest.Start(t)
	_, ok, err := topology.Last(ctx, s.JS, topology.Raw, subjectA)
	require.NoError(t, err)
	require.False(t, ok)
	fill(t, s.JS, 2, subjectA, subjectB)
	m, ok, err := topology.Last(ctx, s.JS, topology.Raw, subjectA)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, uint64(3), m.Seq)
	require.Equal(t, subjectA, m.Subject)
	require.Equal(t, "2", string(m.Data))
	require.Equal(t, "2", m.Header.Get("Steno-Seq"))
}

func TestConsumeFollows(t *testing.T) {
	s := natstest.Start(t)
	fill(t, s.JS, 2, subjectA, subjectC)
	ctx, cancel := context.WithCancel(deadline(t))
	got, done := make(chan string, 100), make(chan error)
	go func() {
		done <- topology.Consume(ctx, s.JS, topology.Raw, "steno.raw.3.>", 2, func(m topology.Message) error {
			got <- fmt.Sprintf("%s@%d", m.Data, m.Seq)
			return nil
		})
	}()
	require.Equal(t, "2@3", <-got)
	fill(t, s.JS, 2, subjectB)
	require.Equal(t, "1@5", <-got)
	require.Equal(t, "2@6", <-got)

	s.Restart(t) // the consumer is gone with the server's memory
	fill(t, s.JS, 1, subjectA)
	require.Equal(t, "1@7", <-got)

	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.Empty(t, got)
	require.Empty(t, consumers(t, s.JS), "it takes its consumer away")
}

func TestConsumeReturnsTheErrorOfHandle(t *testing.T) {
	s := natstest.Start(t)
	fill(t, s.JS, 3, subjectA)
	broken := errors.New("broken")
	var handled int
	err := topology.Consume(deadline(t), s.JS, topology.Raw, subjectA, 1, func(m topology.Message) error {
		if handled++; handled == 2 {
			return broken
		}
		return nil
	})
	require.Equal(t, broken, err)
	require.Equal(t, 2, handled)
	err = topology.Consume(deadline(t), s.JS, "NONE", subjectA, 1, func(topology.Message) error { return nil })
	require.ErrorIs(t, err, jetstream.ErrStreamNotFound)
}

// A consumer that somebody deletes is made anew, without a message lost or repeated.
func TestConsumeOutlivesItsConsumer(t *testing.T) {
	s := natstest.Start(t)
	ctx, cancel := context.WithCancel(deadline(t))
	got, done := make(chan string, 100), make(chan error)
	go func() {
		done <- topology.Consume(ctx, s.JS, topology.Raw, subjectA, 0, func(m topology.Message) error {
			got <- string(m.Data)
			return nil
		})
	}()
	fill(t, s.JS, 2, subjectA)
	require.Equal(t, "1", <-got)
	require.Equal(t, "2", <-got)
	for _, name := range consumers(t, s.JS) {
		require.NoError(t, s.JS.DeleteConsumer(ctx, topology.Raw, name))
	}
	fill(t, s.JS, 2, subjectA)
	require.Equal(t, "1", <-got)
	require.Equal(t, "2", <-got)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.Empty(t, got)
}

func consumers(t testing.TB, js jetstream.JetStream) []string {
	t.Helper()
	stream, err := js.Stream(deadline(t), topology.Raw)
	require.NoError(t, err)
	var names []string
	list := stream.ConsumerNames(deadline(t))
	for name := range list.Name() {
		names = append(names, name)
	}
	require.NoError(t, list.Err())
	return names
}

func TestReadHeadersLeavesThePayloadOut(t *testing.T) {
	s := natstest.Start(t)
	fill(t, s.JS, 3, subjectA, subjectB)
	var seqs []uint64
	for m, err := range topology.ReadHeaders(deadline(t), s.JS, topology.Raw, subjectA) {
		require.NoError(t, err)
		require.NotEmpty(t, m.Header.Get("Steno-Seq"))
		require.Empty(t, m.Data)
		seqs = append(seqs, m.Seq)
	}
	require.Equal(t, []uint64{1, 3, 5}, seqs)
}

func TestAt(t *testing.T) {
	s := natstest.Start(t)
	fill(t, s.JS, 2, subjectA, subjectB)
	m, ok, err := topology.At(deadline(t), s.JS, topology.Raw, 4)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, subjectB, m.Subject)
	require.EqualValues(t, 4, m.Seq)
	require.Equal(t, "2", string(m.Data))
	for _, seq := range []uint64{5, 1 << 60} {
		_, ok, err = topology.At(deadline(t), s.JS, topology.Raw, seq)
		require.NoError(t, err)
		require.False(t, ok)
	}
}
