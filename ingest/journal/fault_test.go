package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

var errDisk = errors.New("disk on fire")

// faulty stands between a writer and its real file.
type faulty struct {
	file
	write    func(b []byte, off int64) (n int, err error) // nil: the file's own
	truncate error
	sync     error
	syncs    atomic.Int32
}

func (f *faulty) WriteAt(b []byte, off int64) (int, error) {
	if f.write != nil {
		return f.write(b, off)
	}
	return f.file.WriteAt(b, off)
}

func (f *faulty) Truncate(size int64) error {
	if f.truncate != nil {
		return f.truncate
	}
	return f.file.Truncate(size)
}

func (f *faulty) Sync() error {
	f.syncs.Add(1)
	if f.sync != nil {
		return f.sync
	}
	return f.file.Sync()
}

func withFaults(w *Writer) *faulty {
	f := &faulty{file: w.file}
	w.file = f
	return f
}

// Every way in which one write can fail, and what the journal holds afterwards.
func TestWriteFails(t *testing.T) {
	ways := map[string]struct {
		part   float64 // of the entry that reaches the file
		cut    error   // of the truncation
		stored bool    // the entry is in the journal after all
	}{
		"refused":                      {0, nil, false},
		"by half":                      {0.5, nil, false},
		"all but a byte":               {0.99, nil, false},
		"done, answer lost":            {1, nil, true},
		"by half and not cut off":      {0.5, errDisk, false},
		"done, lost, no cut possible":  {1, errDisk, true},
		"refused, and no cut possible": {0, errDisk, false},
	}
	for name, way := range ways {
		for _, policy := range []WhenFull{Block, Pass} {
			t.Run(name+"/"+string(policy), func(t *testing.T) {
				var notices []Notice
				w, err := Create(Options{Dir: t.TempDir(), Head: testHead(), WhenFull: policy,
					Report: func(n Notice) { notices = append(notices, n) }})
				require.NoError(t, err)
				add := func(s string) error {
					return w.Append(t.Context(), schema.FromAgent, time.Now(), []byte(s))
				}
				require.NoError(t, add("before"))
				disk := withFaults(w)
				disk.truncate = way.cut
				disk.write = func(b []byte, off int64) (int, error) {
					n, err := disk.file.WriteAt(b[:int(float64(len(b))*way.part)], off)
					return n, errors.Join(errDisk, err)
				}
				failed := add("the chunk")
				disk.write, disk.truncate = nil, nil
				after := add("after")
				closed := w.Close()

				want := []string{"before"}
				if way.stored {
					want = append(want, "the chunk")
				}
				switch {
				case way.stored:
					require.NoError(t, errors.Join(failed, after, closed))
					require.Empty(t, notices)
					want = append(want, "after")
				case policy == Block:
					require.ErrorIs(t, failed, errDisk)
					require.ErrorContains(t, failed, w.Path())
					require.ErrorIs(t, after, errDisk, "it is remembered")
					require.NoError(t, closed)
				case way.cut != nil: // pass, and nothing can follow what stands there
					require.NoError(t, errors.Join(failed, after))
					require.ErrorIs(t, closed, errDisk, "the gap could not be recorded")
				default:
					require.NoError(t, errors.Join(failed, after, closed))
					want = append(want, "gap 1 chunk 9 bytes", "after")
				}
				var have []string
				r := open(t, w.Path())
				for _, e := range readAll(t, r) {
					have = append(have, text(t, e))
				}
				require.Equal(t, want, have)
				if way.cut == nil {
					require.Zero(t, r.Torn())
				}
			})
		}
	}
}

// text shows an entry; of a gap its counts.
func text(t *testing.T, e Entry) string {
	if e.Type != schema.TypeGap {
		return string(e.Data)
	}
	var g schema.GapInfo
	require.NoError(t, json.Unmarshal(e.Data, &g))
	require.NotEmpty(t, g.Reason)
	require.Equal(t, g.Bytes, g.From[schema.FromAgent])
	return fmt.Sprintf("gap %d chunk %d bytes", g.Chunks, g.Bytes)
}

// After a failure the end of the conversation is still written down, if the disk lets it.
func TestCloseEntryAfterAFailure(t *testing.T) {
	w := create(t, Options{})
	disk := withFaults(w)
	disk.write = func([]byte, int64) (int, error) { return 0, errDisk }
	require.ErrorIs(t, w.Append(t.Context(), schema.FromAgent, time.Now(), []byte("x")), errDisk)
	disk.write = nil
	require.NoError(t, w.Control(t.Context(), schema.TypeClose, time.Now(), schema.CloseInfo{Reason: schema.ReasonEOF, Error: "disk on fire"}))
	require.NoError(t, w.Close())
	list := readAll(t, open(t, w.Path()))
	require.Len(t, list, 1)
	require.Equal(t, schema.TypeClose, list[0].Type)
	require.ErrorIs(t, w.Append(t.Context(), schema.FromAgent, time.Now(), []byte("x")), ErrClosed)
	require.ErrorIs(t, w.Control(t.Context(), schema.TypeClose, time.Now(), nil), ErrClosed)
}

// What is appended is synced without being asked, a failure to do so is not kept quiet, and an idle
// writer does not touch the disk.
func TestRunSyncs(t *testing.T) {
	w := create(t, Options{})
	disk := withFaults(w)
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, w.Append(ctx, schema.FromAgent, time.Now(), []byte("x")))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	require.Eventually(t, func() bool { return disk.syncs.Load() > 0 }, 20*time.Second, time.Millisecond)
	time.Sleep(2 * SyncEvery)
	cancel()
	require.NoError(t, <-done)
	require.Equal(t, int32(2), disk.syncs.Load(), "once for the chunk, once at the end")
}

func TestSyncFails(t *testing.T) {
	for _, policy := range []WhenFull{Block, Pass} {
		var notices []Notice
		w, err := Create(Options{Dir: t.TempDir(), Head: testHead(), WhenFull: policy,
			Report: func(n Notice) { notices = append(notices, n) }})
		require.NoError(t, err)
		disk := withFaults(w)
		disk.sync = errDisk
		require.NoError(t, w.Append(t.Context(), schema.FromAgent, time.Now(), []byte("x")))
		ctx, cancel := context.WithTimeout(t.Context(), 3*SyncEvery)
		err = w.Run(ctx)
		cancel()
		require.NotEmpty(t, notices)
		require.Equal(t, Failed, notices[0].What)
		require.ErrorIs(t, notices[0].Err, errDisk)
		after := w.Append(t.Context(), schema.FromAgent, time.Now(), []byte("y"))
		if policy == Block {
			require.ErrorIs(t, err, errDisk)
			require.ErrorIs(t, after, errDisk)
		} else {
			require.NoError(t, err)
			require.NoError(t, after)
		}
		require.ErrorIs(t, w.Close(), errDisk)
	}
}
