package journal

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// heard collects a writer's notices.
type heard struct {
	mu   sync.Mutex
	list []Notice
	each func(Notice)
}

func (h *heard) report(n Notice) {
	h.mu.Lock()
	h.list = append(h.list, n)
	h.mu.Unlock()
	if h.each != nil {
		h.each(n)
	}
}

func (h *heard) what() (list []What) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.list {
		list = append(list, n.What)
	}
	return list
}

const smallBound = 4 * reserve

// filler puts a dead journal of a size into a directory.
func filler(t *testing.T, dir string, size int64) string {
	t.Helper()
	path := filepath.Join(dir, "filler"+suffix)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, size))
	return path
}

func dirSize(t *testing.T, dir string) (sum int64) {
	t.Helper()
	list, err := List(dir)
	require.NoError(t, err)
	for _, info := range list {
		sum += info.Size
	}
	return sum
}

func TestBlockWaitsForRoom(t *testing.T) {
	dir := t.TempDir()
	var path string
	h := &heard{}
	h.each = func(n Notice) {
		if n.What == Blocked {
			time.AfterFunc(20*time.Millisecond, func() { _ = os.Remove(path) })
		}
	}
	w := create(t, Options{Dir: dir, Max: smallBound, Report: h.report})
	path = filler(t, dir, smallBound-reserve-1000)
	for i := range 100 {
		require.NoError(t, w.Append(t.Context(), schema.FromAgent, time.Now(), numbered(i)[:10]))
	}
	require.NoError(t, w.Close())
	list := readAll(t, open(t, w.Path()))
	require.Len(t, list, 100, "nothing is missing and nothing is a gap")
	require.Equal(t, []What{HalfFull, Blocked, Resumed}, h.what())
	require.Equal(t, int64(smallBound), h.list[1].Max)
	require.Greater(t, h.list[1].Used, int64(smallBound/2))
}

func TestBlockEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	h := &heard{each: func(n Notice) {
		if n.What == Blocked {
			cancel()
		}
	}}
	w := create(t, Options{Dir: dir, Max: smallBound, Report: h.report})
	filler(t, dir, smallBound)
	err := w.Append(ctx, schema.FromAgent, time.Now(), []byte("x"))
	require.ErrorIs(t, err, ErrFull)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, w.Control(t.Context(), schema.TypeClose, time.Now(), schema.CloseInfo{Reason: schema.ReasonEOF}),
		"the end fits all the same")
}

// Pass: everything before the bound is kept, what is missing is counted exactly, and keeping resumes.
func TestPassCountsTheGap(t *testing.T) {
	dir := t.TempDir()
	h := &heard{}
	w := create(t, Options{Dir: dir, Max: smallBound, WhenFull: Pass, Report: h.report})
	path := filler(t, dir, smallBound-reserve-5000)
	send := func(from schema.From, n int) {
		for range n {
			require.NoError(t, w.Append(t.Context(), from, time.Now(), make([]byte, 100)))
		}
	}
	send(schema.FromAgent, 100)
	send(schema.FromClient, 7)
	require.LessOrEqual(t, dirSize(t, dir), int64(smallBound))
	killed := readAll(t, copyOf(t, w.Path()))
	require.Equal(t, schema.TypeGap, killed[len(killed)-1].Type, "a writer killed now has left word of the gap")
	require.NoError(t, os.Remove(path))
	time.Sleep(2 * lookAgain)
	send(schema.FromAgent, 3)
	filler(t, dir, smallBound)
	time.Sleep(measureEvery)
	send(schema.FromStderr, 5)
	require.NoError(t, w.Close())

	var kept, gaps, chunks uint64
	missed := map[schema.From]uint64{}
	resumed := -1
	for i, e := range readAll(t, open(t, w.Path())) {
		if e.Type == schema.TypeData {
			kept++
			if gaps > 0 && resumed < 0 {
				resumed = i
				require.Equal(t, schema.FromAgent, e.From)
				require.Equal(t, uint64(700), missed[schema.FromClient], "what is missing stands before what resumes")
			}
			continue
		}
		require.Equal(t, schema.FromControl, e.From)
		require.Equal(t, schema.TypeGap, e.Type)
		var g schema.GapInfo
		require.NoError(t, json.Unmarshal(e.Data, &g))
		require.Equal(t, ErrFull.Error(), g.Reason)
		gaps++
		chunks += g.Chunks
		for from, n := range g.From {
			missed[from] += n
		}
	}
	require.Equal(t, uint64(4), gaps, "two entries a gap")
	require.Equal(t, uint64(115), kept+chunks)
	require.Equal(t, uint64(500), missed[schema.FromStderr])
	require.Equal(t, 100*(115-kept), missed[schema.FromAgent]+missed[schema.FromClient]+missed[schema.FromStderr])
	require.Equal(t, []What{HalfFull, Passing, Resumed, HalfFull, Passing}, h.what())
}

// copyOf reads what a journal holds now, as if its writer had been killed.
func copyOf(t *testing.T, path string) *Reader {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return open(t, written(t, b))
}

// Several writers of one directory keep its bound together.
func TestWritersShareTheBound(t *testing.T) {
	dir := t.TempDir()
	const bound = 1 << 20
	var all sync.WaitGroup
	failures := make(chan error, 4)
	for range 4 {
		w := create(t, Options{Dir: dir, Max: bound, WhenFull: Pass})
		all.Go(func() {
			for range 1000 {
				if err := w.Append(t.Context(), schema.FromAgent, time.Now(), make([]byte, 1000)); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(failures)
	require.NoError(t, <-failures)
	require.Less(t, dirSize(t, dir), int64(bound*2))
	require.Greater(t, dirSize(t, dir), int64(bound/2))
}

// Bytes that go into a file without a name are lost: that is an error, not a success.
func TestJournalRemovedUnderItsWriter(t *testing.T) {
	for _, policy := range []WhenFull{Block, Pass} {
		h := &heard{}
		w, err := Create(Options{Dir: t.TempDir(), Head: testHead(), WhenFull: policy, Report: h.report})
		require.NoError(t, err)
		require.NoError(t, w.Append(t.Context(), schema.FromAgent, time.Now(), []byte("x")))
		require.NoError(t, os.Remove(w.Path()))
		w.space.at = w.space.at.Add(-measureEvery) // as if it were a second ago
		err = w.Append(t.Context(), schema.FromAgent, time.Now(), []byte("x"))
		if policy == Block {
			require.ErrorIs(t, err, ErrRemoved)
			require.Equal(t, []What{Failed}, h.what())
		} else {
			require.NoError(t, err)
			require.Equal(t, []What{Passing}, h.what())
			require.ErrorIs(t, h.list[0].Err, ErrRemoved)
		}
		require.NoError(t, w.Close())
	}
}

func TestNoticeSaysWhatMatters(t *testing.T) {
	require.Equal(t, "journal /j: half full (5 of 10 bytes used)", Notice{What: HalfFull, Path: "/j", Used: 5, Max: 10}.String())
	require.Equal(t, "journal /j: failed: disk on fire", Notice{What: Failed, Path: "/j", Err: errDisk}.String())
}
