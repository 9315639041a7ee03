package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{200, 4 << 10, 64 << 10} {
		b.Run(fmt.Sprint(size, "B"), func(b *testing.B) {
			w, err := Create(Options{Dir: b.TempDir(), Head: testHead(), Max: 1 << 40})
			require.NoError(b, err)
			data := bytes.Repeat([]byte("x"), size)
			at := time.Now()
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if err := w.Append(b.Context(), schema.FromAgent, at, data); err != nil {
					b.Fatal(err)
				}
				if w.end > 1<<30 {
					b.StopTimer()
					require.NoError(b, w.file.Truncate(0))
					w.end = 0
					b.StartTimer()
				}
			}
			require.NoError(b, w.Close())
		})
	}
}

func BenchmarkNext(b *testing.B) {
	w, err := Create(Options{Dir: b.TempDir(), Head: testHead()})
	require.NoError(b, err)
	data := bytes.Repeat([]byte("x"), 200)
	for range 100_000 {
		require.NoError(b, w.Append(b.Context(), schema.FromAgent, time.Now(), data))
	}
	require.NoError(b, w.Close())
	b.SetBytes(200)
	b.ReportAllocs()
	r, err := Open(w.Path())
	require.NoError(b, err)
	for b.Loop() {
		_, err := r.Next(b.Context())
		if errors.Is(err, io.EOF) {
			require.NoError(b, r.Close())
			r, err = Open(w.Path())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, r.Close())
}

// BenchmarkFollow is the time from an append to the follower that was waiting for it.
func BenchmarkFollow(b *testing.B) {
	w, err := Create(Options{Dir: b.TempDir(), Head: testHead(), Max: 1 << 40})
	require.NoError(b, err)
	r, err := Open(w.Path())
	require.NoError(b, err)
	seen := make(chan error)
	go func() {
		for {
			_, err := r.Next(b.Context())
			seen <- err
			if err != nil {
				return
			}
		}
	}()
	for b.Loop() {
		if err := w.Append(b.Context(), schema.FromAgent, time.Now(), []byte("x")); err != nil {
			b.Fatal(err)
		}
		if err := <-seen; err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, w.Close())
	require.ErrorIs(b, <-seen, io.EOF)
	require.NoError(b, r.Close())
}
