package journal

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/steno-io/steno/schema"
)

// smallDisk gives a directory on a disk of 256 KiB where the process may mount one.
func smallDisk(t *testing.T) (dir string, ok bool) {
	t.Helper()
	dir = t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k,mode=700"); err != nil {
		return dir, false
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return dir, true
}

// A disk that is really full, with a follower: every chunk comes out, in order, once. Where none can
// be mounted, writes are refused for a while instead.
func TestRealFullDisk(t *testing.T) {
	dir, mounted := smallDisk(t)
	other := filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, make([]byte, 100<<10), 0o600))
	refused := 0
	h := &heard{each: func(n Notice) {
		if n.What == Blocked {
			time.AfterFunc(3*lookAgain, func() { _ = os.Remove(other) })
		}
	}}
	w, err := Create(Options{Dir: dir, Head: testHead(), Report: h.report})
	require.NoError(t, err)
	if !mounted {
		disk := withFaults(w)
		disk.write = func(b []byte, off int64) (int, error) {
			if off > 150<<10 && refused < 3 {
				refused++
				n, err := disk.file.WriteAt(b[:len(b)/2], off)
				return n, errors.Join(unix.ENOSPC, err)
			}
			return disk.file.WriteAt(b, off)
		}
	}
	r := open(t, w.Path())
	const count = 30
	failed := make(chan error, 1)
	go func() {
		for i := range count {
			if err := w.Append(t.Context(), schema.FromAgent, time.Now(), append(numbered(i)[:10], make([]byte, 7000)...)); err != nil {
				failed <- errors.Join(err, w.Close())
				return
			}
		}
		failed <- w.Close()
	}()
	n := 0
	for ; ; n++ {
		e, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		require.Equal(t, string(numbered(n)[:10]), string(e.Data[:10]))
	}
	require.NoError(t, <-failed)
	require.Equal(t, count, n)
	require.Equal(t, []What{Blocked, Resumed}, h.what())
	require.Zero(t, r.Torn())
}
