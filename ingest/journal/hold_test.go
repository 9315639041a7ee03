package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/steno-io/steno/schema"
)

// A full disk holds the conversation under block, however the write fails, and it goes on without a
// loss when there is room; under pass the chunk is a gap.
func TestFullDisk(t *testing.T) {
	for _, full := range []error{unix.ENOSPC, unix.EDQUOT} {
		for _, part := range []float64{0, 0.5, 1} { // refused, partly written, written with the answer lost
			for _, policy := range []WhenFull{Block, Pass} {
				t.Run(fmt.Sprintf("%v/%v/%s", full, part, policy), func(t *testing.T) {
					h := &heard{}
					w, err := Create(Options{Dir: t.TempDir(), Head: testHead(), WhenFull: policy, Report: h.report})
					require.NoError(t, err)
					disk := withFaults(w)
					left := 3
					disk.write = func(b []byte, off int64) (int, error) {
						if left == 0 {
							return disk.file.WriteAt(b, off)
						}
						left--
						n, err := disk.file.WriteAt(b[:int(float64(len(b))*part)], off)
						return n, errors.Join(&os.PathError{Op: "write", Path: w.Path(), Err: full}, err)
					}
					for _, s := range []string{"the chunk", "after"} {
						require.NoError(t, w.Append(t.Context(), schema.FromAgent, time.Now(), []byte(s)))
					}
					left = 0 // of a gap that could not be written yet
					require.NoError(t, w.Close())
					var have []string
					for _, e := range readAll(t, open(t, w.Path())) {
						have = append(have, text(t, e))
					}
					switch {
					case part == 1:
						require.Equal(t, []string{"the chunk", "after"}, have)
						require.Empty(t, h.what())
					case policy == Block:
						require.Equal(t, []string{"the chunk", "after"}, have)
						require.Equal(t, []What{Blocked, Resumed}, h.what(), "said once")
						require.ErrorIs(t, h.list[0].Err, full)
						require.ErrorIs(t, h.list[0].Err, ErrDiskFull)
						require.Contains(t, h.list[0].String(), "free space on that disk")
						require.NotContains(t, h.list[0].String(), newSuffix)
					default:
						require.Equal(t, []string{"gap 2 chunk 14 bytes"}, have)
						require.Equal(t, Passing, h.what()[0])
					}
				})
			}
		}
	}
}

// What waits for a full disk leaves with its context, and what comes later may still be written.
func TestFullDiskEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	h := &heard{each: func(n Notice) {
		if n.What == Blocked {
			cancel()
		}
	}}
	w := create(t, Options{Report: h.report})
	disk := withFaults(w)
	disk.write = func([]byte, int64) (int, error) { return 0, unix.ENOSPC }
	err := w.Append(ctx, schema.FromAgent, time.Now(), []byte("x"))
	require.ErrorIs(t, err, ErrDiskFull)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, ErrFull)
	disk.write = nil
	require.NoError(t, w.Append(t.Context(), schema.FromAgent, time.Now(), []byte("y")))
	require.Equal(t, []What{Blocked}, h.what())
}

// A half entry that cannot be cut off is no matter of room.
func TestFullDiskThatCannotBeCut(t *testing.T) {
	w := create(t, Options{})
	disk := withFaults(w)
	disk.truncate = errDisk
	disk.write = func(b []byte, off int64) (int, error) {
		n, err := disk.file.WriteAt(b[:5], off)
		return n, errors.Join(unix.ENOSPC, err)
	}
	err := w.Append(t.Context(), schema.FromAgent, time.Now(), []byte("x"))
	require.ErrorIs(t, err, errDisk)
	require.ErrorIs(t, err, unix.ENOSPC)
}

// Two sides wait; that one finds room does not mean that the conversation goes on.
func TestBothSidesAreHeld(t *testing.T) {
	h := &heard{}
	w := create(t, Options{Report: h.report})
	disk := withFaults(w)
	room := make(chan int, 1) // the longest entry for which there is room
	room <- 0
	disk.write = func(b []byte, off int64) (int, error) {
		n := <-room
		room <- n
		if len(b) > n {
			return 0, unix.ENOSPC
		}
		return disk.file.WriteAt(b, off)
	}
	done := map[schema.From]chan error{schema.FromAgent: make(chan error, 1), schema.FromClient: make(chan error, 1)}
	for from, c := range done {
		size := map[schema.From]int{schema.FromAgent: 1000, schema.FromClient: 10}[from]
		go func() { c <- w.Append(t.Context(), from, time.Now(), make([]byte, size)) }()
	}
	held := func() int {
		w.turn <- struct{}{}
		defer w.give()
		return w.held
	}
	require.Eventually(t, func() bool { return held() == 2 }, 20*time.Second, time.Millisecond)
	<-room
	room <- 100
	require.NoError(t, <-done[schema.FromClient])
	require.Equal(t, []What{Blocked}, h.what())
	<-room
	room <- 10000
	require.NoError(t, <-done[schema.FromAgent])
	require.Equal(t, []What{Blocked, Resumed}, h.what())
}
