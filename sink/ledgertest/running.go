package ledgertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
)

// Poison makes the store of a name refuse events with the bytes "poison", with an error that says "not
// this one".
type Poison func(t testing.TB, name string)

// RunSink runs a sink from a real stream into the ledger.
func RunSink(t *testing.T, open Open, poison Poison) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Open)
	}{
		{"stores and wakes", runStoresAndWakes},
		{"retries both kinds of failure", runRetriesBothKindsOfFailure},
		{"goes on where it stopped", runGoesOnWhereItStopped},
		{"of two sinks fences one", runOfTwoSinksFencesOne},
		{"outlives the server", runOutlivesTheServer},
		{"reads another stream from its first message", runReadsAnotherStreamFromItsFirstMessage},
		{"resolves large records", runResolvesLargeRecords},
		{"fails loudly without the bytes", runFailsLoudlyWithoutTheBytes},
		{"passes over stray messages", runPassesOverStrayMessages},
		{"takes captures out of the park", runRedrives},
		{"is not asked any more when another owns the partition", runLeavesRedrivesToTheOwner},
		{"gives its partitions back while the server is away", runGivesBackWhileAway},
		{"parks what the database refuses", func(t *testing.T, open Open) { runParksWhatTheDatabaseRefuses(t, open, poison) }},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open) })
	}
}

func runStoresAndWakes(t *testing.T, open Open) {
	s := NewStage(t, 20, open)
	woken, err := s.NC.SubscribeSync("steno.stored.>")
	require.NoError(t, err)
	for _, script := range s.Scripts {
		s.Publish(script)
	}
	var mu sync.Mutex
	events := 0
	k, stop := s.Run(sink.Options{OnStored: func(out sink.Stored) {
		mu.Lock()
		defer mu.Unlock()
		events += out.Events
	}})
	s.Wait(k)
	for range 5 {
		for _, script := range s.Scripts {
			s.Publish(script)
		}
	}
	s.Wait(k)
	require.NoError(t, stop(), "the end of its context is no error")
	s.Check()

	heads, total := map[string]uint64{}, 0
	for {
		m, err := woken.NextMsg(100 * time.Millisecond)
		if err != nil {
			break
		}
		heads[m.Subject], err = strconv.ParseUint(string(m.Data), 10, 64)
		require.NoError(t, err)
	}
	for key, want := range s.Want {
		require.Equal(t, uint64(len(want)), heads[schema.StoredSubject(key)], "the last wake-up says the head")
		total += len(want)
	}
	require.Equal(t, total, events)
	require.ErrorIs(t, k.Wait(within(t), 0, 1<<40), sink.ErrStopped)
}

func runRetriesBothKindsOfFailure(t *testing.T, open Open) {
	s := NewStage(t, 10, open)
	faulty := &Faulty{Ledger: s.Ledger, Plan: func(int, string) Fault {
		return Fault(rand.IntN(3))
	}}
	k, stop := s.Run(sink.Options{Ledger: faulty, MaxEvents: 3})
	for range 30 {
		for _, script := range s.Scripts {
			s.Publish(script)
		}
	}
	s.Wait(k)
	require.NoError(t, stop())
	require.Positive(t, faulty.Faults)
	s.Check()
}

func runGoesOnWhereItStopped(t *testing.T, open Open) {
	s := NewStage(t, 10, open)
	for range 5 {
		for range 10 {
			s.Publish(s.Scripts[rand.IntN(len(s.Scripts))])
		}
		k, stop := s.Run(sink.Options{})
		if rand.IntN(2) == 0 {
			s.Wait(k)
		}
		require.NoError(t, stop())
		require.NoError(t, s.Ledger.Close())
		s.Ledger = s.Open()
	}
	k, _ := s.Run(sink.Options{})
	s.Wait(k)
	s.Check()
}

func runOfTwoSinksFencesOne(t *testing.T, open Open) {
	s := NewStage(t, 10, open)
	first, stopFirst := s.Run(sink.Options{})
	for _, script := range s.Scripts {
		s.Publish(script)
	}
	s.Wait(first)
	other := s.Open() // as another process has it
	second, _ := s.Run(sink.Options{Ledger: other})
	for _, script := range s.Scripts {
		s.Publish(script)
	}
	s.Wait(second)
	for _, script := range s.Scripts {
		s.Publish(script)
	}
	s.Wait(second)
	err := first.Wait(within(t), s.Scripts[0].ID.Partition(s.Info.Partitions), 1<<40)
	require.ErrorIs(t, err, sink.ErrStopped)
	require.ErrorIs(t, err, sink.ErrFenced)
	require.ErrorIs(t, stopFirst(), sink.ErrFenced)
	s.Check()
}

func runOutlivesTheServer(t *testing.T, open Open) {
	s := NewStage(t, 5, open)
	k, stop := s.Run(sink.Options{})
	for range 3 {
		for range 20 {
			s.Publish(s.Scripts[rand.IntN(len(s.Scripts))])
		}
		s.Restart(t)
	}
	s.Publish(s.Scripts[0])
	s.Wait(k)
	require.NoError(t, stop())
	s.Check()
}

func runReadsAnotherStreamFromItsFirstMessage(t *testing.T, open Open) {
	s := NewStage(t, 5, open)
	for range 50 {
		s.Publish(s.Scripts[rand.IntN(len(s.Scripts))])
	}
	k, stop := s.Run(sink.Options{})
	s.Wait(k)
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
	for _, script := range s.Scripts {
		for _, m := range messages {
			if m.Subject == schema.EventSubject(script.ID, s.Info.Partitions) {
				s.Send(script, m.Header, m.Data)
			}
		}
		s.Publish(script)
	}
	k, _ = s.Run(sink.Options{})
	s.Wait(k)
	s.Check()
}

func runResolvesLargeRecords(t *testing.T, open Open) {
	s := NewStage(t, 1, open)
	script := s.Scripts[0]
	script.Next(0, Raw(strings.Repeat("x", 5<<20)))
	s.PublishRecord(script, script.Record())
	s.Publish(script)
	k, _ := s.Run(sink.Options{})
	s.Wait(k)
	s.Check()
}

func runFailsLoudlyWithoutTheBytes(t *testing.T, open Open) {
	s := NewStage(t, 1, open)
	script := s.Scripts[0]
	script.Next(0, Raw("x"))
	r := script.Record()
	header, err := r.Header()
	require.NoError(t, err)
	header[schema.HeaderBlob] = []string{strings.Repeat("ab", 32)}
	s.Send(script, header, nil)
	k, stop := s.Run(sink.Options{})
	err = k.Wait(within(t), script.ID.Partition(s.Info.Partitions), 1)
	require.ErrorIs(t, err, topology.ErrBlob)
	require.ErrorContains(t, stop(), script.ID.String())
}

func runPassesOverStrayMessages(t *testing.T, open Open) {
	s := NewStage(t, 1, open)
	script := s.Scripts[0]
	p := script.ID.Partition(s.Info.Partitions)
	for _, subject := range []string{
		fmt.Sprintf("steno.event.%d.what.is.this", p),
		fmt.Sprintf("steno.event.%d.%s", (p+1)%s.Info.Partitions, script.ID.Subject()),
	} {
		_, err := s.JS.Publish(within(t), subject, []byte("stray"))
		require.NoError(t, err)
	}
	s.Publish(script)
	k, _ := s.Run(sink.Options{})
	s.Wait(k)
	s.Check()
}

func runParksWhatTheDatabaseRefuses(t *testing.T, open Open, poison Poison) {
	s := NewStage(t, 3, open)
	poison(t, "ledger")
	poisoned := s.Scripts[1]
	for range 5 {
		for _, script := range s.Scripts {
			s.Publish(script)
		}
	}
	poisoned.Next(0, Raw("good"))
	poisoned.Next(0, Raw("poison"))
	r := poisoned.Record()
	header, err := r.Header()
	require.NoError(t, err)
	s.Send(poisoned, header, r.Payload())
	for range 5 {
		s.Publish(s.Scripts[0])
		s.Publish(s.Scripts[2])
	}
	k, _ := s.Run(sink.Options{})
	s.Wait(k)

	info, err := s.Ledger.Capture(within(t), poisoned.ID)
	require.NoError(t, err)
	require.Equal(t, sink.ReasonRefused, info.Parked.Reason)
	require.Contains(t, string(info.Parked.Got), "not this one")
	for _, script := range s.Scripts {
		for session := range uint32(2) {
			sum, err := s.Ledger.Transcript(within(t), script.Transcript(session))
			require.NoError(t, err)
			require.Equal(t, len(s.Want[script.Transcript(session)]), int(sum.Head), "no part of the refused record is stored, all others are")
		}
	}
}

// counted tells when a sink takes partitions and when it has given them back.
type counted struct {
	sink.Alone
	taken, back chan struct{}
}

func (c counted) Run(ctx context.Context, count uint32, serve func(context.Context, uint32) error) error {
	c.taken <- struct{}{}
	err := c.Alone.Run(ctx, count, serve)
	c.back <- struct{}{}
	return err
}

func runGivesBackWhileAway(t *testing.T, open Open) {
	s := NewStage(t, 5, open)
	o := counted{taken: make(chan struct{}, 9), back: make(chan struct{}, 9)}
	k, stop := s.Run(sink.Options{Ownership: o, Away: 500 * time.Millisecond}) // more than a server that starts lets a connection wait
	for range 3 {
		<-o.taken
		for _, script := range s.Scripts {
			s.Publish(script)
		}
		s.Wait(k)
		s.Stop()
		<-o.back
		require.Empty(t, o.taken, "it waits for the server first")
		s.Restart(t)
	}
	<-o.taken
	s.Publish(s.Scripts[0])
	s.Wait(k)
	require.NoError(t, stop())
	s.Check()
}
