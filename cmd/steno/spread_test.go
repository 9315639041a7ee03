package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/sink/postgres/pgtest"
	"github.com/steno-io/steno/translate/lease"
)

// What is promised, on a machine that does nothing else; what fails the test is a multiple of it.
const (
	joinsWithin  = 10 * time.Second
	servedWithin = 5 * time.Second
	loaded       = 6
)

// openCapture is a capture with a message that grows.
type openCapture struct {
	id       schema.Identity
	appender *publish.Appender
	frames   uint64
	text     string
	next     uint64 // index of the next delta
}

// say appends a chunk to the open message.
func (c *openCapture) say(ctx context.Context, chunk string) error {
	err := c.append(ctx, schema.FromAgent, schema.TypeData, fmt.Sprintf(
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`, chunk))
	c.text += chunk
	c.next++
	return err
}

func (c *openCapture) append(ctx context.Context, from schema.From, kind schema.FrameType, data string) error {
	c.frames++
	return c.appender.Append(ctx, []schema.Frame{{
		At: time.Unix(1700000000, int64(c.frames)).UTC(), From: from, Type: kind, End: schema.EndNone, Data: []byte(data),
		Writer: schema.Writer{Offset: c.frames},
	}})
}

// openCaptures begins captures, each with a prompt and an answer that is not finished.
func openCaptures(t *testing.T, s *natstest.Server, count int) []*openCapture {
	t.Helper()
	all := make([]*openCapture, count)
	each(t, all, func(ctx context.Context, i int) error {
		c := &openCapture{id: schema.Identity{Namespace: "default", Workflow: "open", Run: fmt.Sprint("r", i), Attempt: 1}}
		all[i] = c
		var err error
		c.appender, err = publish.NewAppender(publish.AppenderOptions{JS: s.JS, Identity: c.id, Partitions: s.Info.Partitions, Journal: "j"})
		if err != nil {
			return err
		}
		return errors.Join(
			c.append(ctx, schema.FromControl, schema.TypeOpen, `{"protocol":"acp","tap":"record"}`),
			c.append(ctx, schema.FromClient, schema.TypeData, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"How many?"}]}}`),
			c.say(ctx, fmt.Sprint("I am number ", i)), c.say(ctx, " of many"))
	})
	return all
}

// each does something with each capture, many at once.
func each(t *testing.T, all []*openCapture, do func(ctx context.Context, i int) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(64)
	for i := range all {
		g.Go(func() error { return do(ctx, i) })
	}
	require.NoError(t, g.Wait())
}

// served asks until an owner answers with all of the capture's text.
func (c *openCapture) served(ctx context.Context, s *natstest.Server) error {
	for {
		asking, done := context.WithTimeout(ctx, time.Second)
		reply, err := askOpen(asking, s.NC, s.Info.Partitions, c.id)
		done()
		if err == nil && reply.Frame == c.frames && len(reply.Messages) == 1 && reply.Messages[0].Text == c.text && reply.Messages[0].Next == c.next {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not served: %w: %+v: %w", c.id, ctx.Err(), reply, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// owners waits until each of the workers that live has its part of the partitions.
func owners(t *testing.T, s *natstest.Server, workers ...string) (by map[uint32]string) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		by, err = lease.Owners(t.Context(), s.JS)
		return err == nil && even(by, s.Info.Partitions, workers)
	}, loaded*joinsWithin, 20*time.Millisecond)
	return by
}

// even reports whether each partition has an owner and no worker has more than one above another.
func even(by map[uint32]string, partitions uint32, workers []string) bool {
	counts := map[string]int{}
	for _, worker := range by {
		counts[worker]++
	}
	names := slices.Sorted(maps.Keys(counts))
	if len(by) != int(partitions) || len(counts) != len(workers) || workers[0] != "" && !slices.Equal(names, workers) {
		return false
	}
	sizes := slices.Sorted(maps.Values(counts))
	return sizes[len(sizes)-1]-sizes[0] <= 1
}

// Three translators and two sinks share 32 partitions evenly; a fourth translator takes its share; when one
// is killed, what it had open is served again.
func TestAThousandOpenCaptures(t *testing.T) {
	s, database := natstest.Start(t), pgtest.Database(t)
	translators := map[string]*exec.Cmd{}
	join := func(name string) { translators[name] = startWorker(t, "translate", s.URL(), "--name", name) }
	for _, name := range []string{"w1", "w2", "w3"} {
		join(name)
	}
	for range 2 {
		startWorker(t, "sink", s.URL(), "--ledger", database)
	}
	owners(t, s, "w1", "w2", "w3")
	evenSinks(t, database, s.Info.Partitions)

	began := time.Now()
	all := openCaptures(t, s, 1000)
	each(t, all, func(ctx context.Context, i int) error { return all[i].served(ctx, s) })
	t.Logf("%d captures with an open message are recorded and served after %.1f s", len(all), time.Since(began).Seconds())

	began = time.Now()
	join("w4")
	by := owners(t, s, "w1", "w2", "w3", "w4")
	took := time.Since(began)
	each(t, all, func(ctx context.Context, i int) error { return all[i].served(ctx, s) })
	t.Logf("a fourth translator, started, has its part after %.1f s (promised: %.0f s), and all captures are served after %.1f s",
		took.Seconds(), joinsWithin.Seconds(), time.Since(began).Seconds())

	var left []*openCapture
	for _, c := range all {
		if by[c.id.Partition(s.Info.Partitions)] == "w2" {
			left = append(left, c)
		}
	}
	require.Greater(t, len(left), len(all)/8)
	require.NoError(t, translators["w2"].Process.Kill())
	killed := time.Now()
	require.Error(t, translators["w2"].Wait())
	var mu sync.Mutex
	var answered []time.Duration
	each(t, left, func(ctx context.Context, i int) error {
		err := left[i].served(ctx, s)
		mu.Lock()
		defer mu.Unlock()
		answered = append(answered, time.Since(killed))
		return err
	})
	flow(t, s, left)
	t.Logf("%d captures of a killed one: the first is served again after %.1f s, the last after %.1f s (promised: %.0f s); a delta of each flows after %.1f s",
		len(left), slices.Min(answered).Seconds(), slices.Max(answered).Seconds(), servedWithin.Seconds(), time.Since(killed).Seconds())
	require.Less(t, slices.Max(answered), loaded*servedWithin)
	owners(t, s, "w1", "w3", "w4")
	require.Contains(t, ok(t, "verify", "--nats", s.URL(), "--ledger", database), "verified: ")
}

// flow appends to each capture until a delta comes, with the index that is next or, where one was left
// out while its worker caught up, behind it.
func flow(t *testing.T, s *natstest.Server, all []*openCapture) {
	t.Helper()
	each(t, all, func(ctx context.Context, i int) error {
		c := all[i]
		deltas, err := s.NC.SubscribeSync(schema.DeltaSubject(schema.Transcript{Identity: c.id, Session: 1}))
		if err != nil {
			return err
		}
		defer deltas.Unsubscribe() //nolint:errcheck // the test is over
		for {
			index, chunk := c.next, fmt.Sprintf(", chunk %d", c.next)
			if err := c.say(ctx, chunk); err != nil {
				return err
			}
			switch got, err := nextDelta(ctx, deltas); {
			case err == nil && (got.Index != index || got.TextFragment != chunk):
				return fmt.Errorf("delta of %s: want %d %q, got %+v", c.id, index, chunk, got)
			case err == nil:
				return nil
			case ctx.Err() != nil:
				return fmt.Errorf("no delta of %s: %w", c.id, err)
			}
		}
	})
}

// nextDelta gives the next delta, if it comes within two seconds.
func nextDelta(ctx context.Context, deltas *nats.Subscription) (*schema.Delta, error) {
	ctx, done := context.WithTimeout(ctx, 2*time.Second)
	defer done()
	for {
		m, err := deltas.NextMsgWithContext(ctx)
		if err != nil {
			return nil, err
		}
		if e, err := schema.DecodeEvent(m.Data); err == nil { // else they are heads
			if d, ok := e.Kind.(*schema.Delta); ok {
				return d, nil
			}
		}
	}
}

// evenSinks waits until the sinks share the partitions evenly.
func evenSinks(t *testing.T, database string, partitions uint32) {
	t.Helper()
	require.Eventually(t, func() bool {
		by := map[uint32]string{}
		conn, err := pgx.Connect(t.Context(), database)
		require.NoError(t, err)
		defer conn.Close(context.Background()) //nolint:errcheck // it only read
		rows, err := conn.Query(t.Context(), `SELECT partition, owner FROM steno.owners WHERE owner <> ''`)
		require.NoError(t, err)
		var partition uint32
		var owner string
		_, err = pgx.ForEachRow(rows, []any{&partition, &owner}, func() error { by[partition] = owner; return nil })
		require.NoError(t, err)
		return even(by, partitions, []string{"", ""})
	}, loaded*joinsWithin, 50*time.Millisecond)
}
