package ledgertest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink"
)

// counted stores events of which each says its number.
func (b *bench) counted(s *Script, n int) {
	b.t.Helper()
	for i := range n {
		s.Next(1, Prompt(fmt.Sprintf("counted count%d", i)))
	}
	b.store(s, s.Record())
}

// foundOnce checks that each of the events is found just once: all by the word that they share, some by their own.
func (b *bench) foundOnce(s *Script, n int) {
	b.t.Helper()
	at := func(i int) string { return fmt.Sprintf("%s/1:%d", s.ID.Run, i+1) }
	want := make([]string, n)
	for i := range want {
		want[n-1-i] = at(i) // the newest first
	}
	require.Equal(b.t, want, b.hits(sink.SearchQuery{Text: "counted", Limit: sink.MaxHits}))
	for i := 0; i < n; i += 97 {
		require.Equal(b.t, []string{at(i)}, b.hits(sink.SearchQuery{Text: fmt.Sprintf("count%d", i)}))
	}
}

func indexResumes(t *testing.T, b *bench) {
	s := NewScript("one")
	b.counted(s, 1500) // more than one transaction indexes
	n, err := b.Index(ctx())
	require.NoError(t, err)
	require.Positive(t, n)
	now, err := b.Indexing(ctx())
	require.NoError(t, err)
	require.Equal(t, 1500-n, int(now.Behind))
	b.reopen()
	b.index()
	b.foundOnce(s, 1500)
	again := NewScript("two")
	b.counted(again, 3)
	b.reopen()
	b.index()
	require.Len(t, b.hits(sink.SearchQuery{Text: "count2"}), 2)
}

func indexFailures(t *testing.T, b *bench) {
	s := NewStage(t, 1, b.open)
	script := s.Scripts[0]
	for i := range 60 {
		script.Next(1, Prompt(fmt.Sprintf("counted count%d", i)))
		s.PublishRecord(script, script.Record())
	}
	faulty := &FaultyIndex{To: s.Ledger, Faulty: Faulty{Plan: func(write int, _ string) Fault { return Fault(write % 3) }}}
	k, stop := s.Run(sink.Options{Index: faulty, MaxEvents: 4})
	s.Wait(k)
	s.WaitIndexed(t)
	require.NoError(t, stop())
	require.Positive(t, faulty.Faults)
	s.Check()
	(&bench{Ledger: s.Ledger, t: t}).foundOnce(script, 60)
}

func indexersAtOnce(t *testing.T, b *bench) {
	var scripts []*Script
	for i := range 8 {
		s := NewScript(fmt.Sprintf("run-%d", i))
		scripts = append(scripts, s)
		b.counted(s, 400)
	}
	var wg sync.WaitGroup
	for range 4 {
		l := b.open(t, "ledger")
		wg.Go(func() {
			defer l.Close() //nolint:errcheck // what it indexed is looked at
			for {
				n, err := l.Index(ctx())
				if err != nil {
					t.Error(err)
				}
				if n == 0 || err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	b.index()
	for _, i := range []int{0, 1, 199, 399} {
		require.Len(t, b.hits(sink.SearchQuery{Text: fmt.Sprintf("count%d", i)}), len(scripts))
	}
}

func indexRefuses(t *testing.T, b *bench, poison Poison) {
	b.index() // makes what there is to poison
	poison(t, "ledger")
	var scripts []*Script
	for i := range 3 {
		s := NewScript(fmt.Sprintf("run-%d", i))
		b.counted(s, 5)
		scripts = append(scripts, s)
	}
	b.index()
	for i := range 5 {
		want := len(scripts)
		if i == 1 {
			want = 0
		}
		require.Len(t, b.hits(sink.SearchQuery{Text: fmt.Sprintf("count%d", i)}), want, "those beside it are found")
	}
	st, err := b.Stats(ctx())
	require.NoError(t, err)
	require.Equal(t, sink.Indexing{Failed: uint64(len(scripts))}, st.Indexing, "and it is not silent")
	require.Len(t, b.events(scripts[0].Transcript(1)), 5, "the ledger has it")
}

func sinkIndexes(t *testing.T, b *bench) {
	s := NewStage(t, 3, b.open)
	k, stop := s.Run(sink.Options{Index: s.Ledger})
	for i := range 20 {
		for _, script := range s.Scripts {
			script.Next(1, Prompt(fmt.Sprintf("counted count%d", i)))
			s.PublishRecord(script, script.Record())
		}
	}
	s.Wait(k)
	s.WaitIndexed(t)
	require.NoError(t, stop())
	s.Check()
	require.Len(t, (&bench{Ledger: s.Ledger, t: t}).hits(sink.SearchQuery{Text: "count7"}), 3)
}

// WaitIndexed waits until all that is stored is indexed, whoever does it.
func (s *Stage) WaitIndexed(t testing.TB) {
	t.Helper()
	for ctx := within(t); ; time.Sleep(5 * time.Millisecond) {
		now, err := s.Ledger.Indexing(ctx)
		require.NoError(t, err)
		if now.Behind == 0 {
			return
		}
	}
}
