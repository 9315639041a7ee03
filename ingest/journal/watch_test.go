package journal

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

func startWatch(t *testing.T, w *Writer) (*Watch, func()) {
	t.Helper()
	watch := NewWatch(filepath.Dir(w.Path()))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- watch.Run(ctx) }()
	<-watch.Came() // it rings once it stands
	return watch, func() {
		cancel()
		require.NoError(t, <-done)
	}
}

func TestWatchTellsOfNewJournals(t *testing.T) {
	w := create(t, Options{})
	watch, stop := startWatch(t, w)
	defer stop()
	other := create(t, Options{Dir: filepath.Dir(w.Path())})
	<-watch.Came()
	list, err := List(filepath.Dir(w.Path()))
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, other.Path(), list[1].Path)
}

func TestNextEndsWithItsContext(t *testing.T) {
	w := create(t, Options{})
	r := open(t, w.Path())
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	_, err := r.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)

	require.NoError(t, w.Append(t.Context(), schema.FromAgent, time.Now(), []byte("x")))
	e, err := r.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, "x", string(e.Data))
}

// A watcher that is not running, or a system without notifications, costs time and nothing else.
func TestReaderWithoutNotifications(t *testing.T) {
	for _, shared := range []bool{false, true} {
		w := create(t, Options{})
		r := open(t, w.Path())
		r.deaf = true
		if shared {
			idle, err := NewWatch(filepath.Dir(w.Path())).Open(w.Path())
			require.NoError(t, err)
			defer func() { require.NoError(t, idle.Close()) }()
			r = idle
		}
		appended := make(chan error, 1)
		time.AfterFunc(20*time.Millisecond, func() {
			appended <- w.Append(t.Context(), schema.FromAgent, time.Now(), []byte("x"))
		})
		e, err := r.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, "x", string(e.Data))
		require.NoError(t, <-appended)
	}
}
