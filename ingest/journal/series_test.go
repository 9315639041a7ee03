package journal

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// run runs a series until the test, or stop, ends it.
func run(t *testing.T, s *Series) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

func seriesOptions(dir string) SeriesOptions {
	h := testHead()
	h.ID, h.CreatedAt = "", time.Time{}
	return SeriesOptions{Options: Options{Dir: dir, Head: h}, Rotate: 10_000, Closed: func(err error) { panic(err) }}
}

// What begins stays in its journal to its end, however many others are begun meanwhile.
func TestASeriesGoesOnInNewJournals(t *testing.T) {
	dir := t.TempDir()
	s := NewSeries(seriesOptions(dir))
	stop := run(t, s)
	long, end, err := s.Begin(t.Context())
	require.NoError(t, err)
	write := func(w *Writer, n int) {
		require.NoError(t, w.AppendTo(t.Context(), Lane{Exchange: uuid.New()}, schema.FromAgent, time.Now(), make([]byte, n)))
	}
	write(long, 100)
	paths := map[string]bool{long.Path(): true}
	for range 10 {
		w, end, err := s.Begin(t.Context())
		require.NoError(t, err)
		paths[w.Path()] = true
		write(w, 4000)
		end()
		end() // again: it has ended
	}
	require.Len(t, paths, 4)
	write(long, 100)
	list, err := List(dir)
	require.NoError(t, err)
	require.Len(t, list, 4)
	alive := func() (n int) {
		list, err := List(dir)
		require.NoError(t, err)
		for _, j := range list {
			if j.Alive {
				n++
			}
		}
		return n
	}
	require.Eventually(t, func() bool { return alive() == 2 }, 10*time.Second, time.Millisecond, "the first, in which something goes on, and the last")
	end()
	require.Eventually(t, func() bool { return alive() == 1 }, 10*time.Second, time.Millisecond)
	stop()
	require.Zero(t, alive())
	_, _, err = s.Begin(t.Context())
	require.ErrorIs(t, err, ErrClosed)
}

// The end of a series waits for what has begun, and for who follows.
func TestTheEndOfASeriesWaits(t *testing.T) {
	var mu sync.Mutex
	read := 0
	o := seriesOptions(t.TempDir())
	o.Grace = time.Minute
	o.Follow = func(ctx context.Context, w *Writer) {
		r, err := Open(w.Path())
		if err != nil {
			panic(err)
		}
		defer r.Close()
		for {
			_, err := r.Next(ctx)
			if err == io.EOF {
				return
			}
			if err != nil {
				panic(err)
			}
			mu.Lock()
			read++
			mu.Unlock()
		}
	}
	s := NewSeries(o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	w, end, err := s.Begin(t.Context())
	require.NoError(t, err)
	cancel()
	require.NoError(t, w.Append(t.Context(), schema.FromAgent, time.Now(), []byte("x")))
	select {
	case <-done:
		t.Fatal("it ended before what it began")
	case <-time.After(50 * time.Millisecond):
	}
	end()
	<-done
	require.Equal(t, 1, read)
}

// A journal that cannot be written is left behind: the next to begin gets a new one.
func TestASeriesLeavesAJournalThatFails(t *testing.T) {
	dir := t.TempDir()
	s := NewSeries(seriesOptions(dir))
	s.o.Closed = func(error) {}
	run(t, s)
	w, end, err := s.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.Remove(w.Path()))
	w.space.at = w.space.at.Add(-measureEvery)
	require.ErrorIs(t, w.Append(t.Context(), schema.FromAgent, time.Now(), []byte("x")), ErrRemoved)
	next, endNext, err := s.Begin(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, w.Path(), next.Path())
	require.NoError(t, next.Append(t.Context(), schema.FromAgent, time.Now(), []byte("x")))
	end()
	endNext()
}

func TestASeriesThatCannotBegin(t *testing.T) {
	dir := t.TempDir() + "/file"
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	s := NewSeries(seriesOptions(dir))
	run(t, s)
	_, _, err := s.Begin(t.Context())
	require.ErrorContains(t, err, "journal directory")

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fmt.Errorf("gone"))
	_, _, err = NewSeries(seriesOptions(dir)).Begin(ctx)
	require.ErrorContains(t, err, "gone", "it does not run")
}

// Who follows may go on behind a journal's end while the series lives, and for the grace behind its end.
func TestFollowersEndWithTheSeries(t *testing.T) {
	o := seriesOptions(t.TempDir())
	o.Grace = 20 * time.Millisecond
	ended := make(chan string, 10)
	o.Follow = func(ctx context.Context, w *Writer) {
		<-w.Ended()
		ended <- "journal"
		<-ctx.Done()
		ended <- "follower"
	}
	s := NewSeries(o)
	stop := run(t, s)
	for range 2 {
		w, end, err := s.Begin(t.Context())
		require.NoError(t, err)
		require.NoError(t, w.Append(t.Context(), schema.FromAgent, time.Now(), make([]byte, 11_000)))
		end()
	}
	require.Equal(t, "journal", <-ended, "the first is full and past")
	stop()
	require.Equal(t, []string{"journal", "follower", "follower"}, []string{<-ended, <-ended, <-ended})
}
