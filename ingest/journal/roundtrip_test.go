package journal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
)

func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		w, err := Create(Options{Dir: dir, Head: testHead()})
		require.NoError(rt, err)
		defer func() { require.NoError(rt, os.Remove(w.Path())) }()
		type chunk struct {
			lane Lane
			from schema.From
			at   int64
			data []byte
		}
		var want []chunk
		last := w.Head().CreatedAt.UnixNano()
		for range rapid.IntRange(0, 30).Draw(rt, "entries") {
			c := chunk{
				lane: drawLane(rt),
				from: rapid.SampledFrom([]schema.From{schema.FromClient, schema.FromAgent, schema.FromStderr}).Draw(rt, "from"),
				at:   rapid.Int64Range(last-1000, last+1e12).Draw(rt, "at"),
				data: rapid.SliceOfN(rapid.Byte(), 1, 3000).Draw(rt, "data"),
			}
			require.NoError(rt, w.AppendTo(t.Context(), c.lane, c.from, time.Unix(0, c.at), c.data))
			c.at = max(c.at, last)
			last = c.at
			want = append(want, c)
		}
		require.NoError(rt, w.Close())
		r, err := Open(w.Path())
		require.NoError(rt, err)
		require.Equal(rt, w.Head(), r.Head())
		for _, c := range want {
			e, err := r.Next(t.Context())
			require.NoError(rt, err)
			require.Equal(rt, c, chunk{e.Lane, e.From, e.At.UnixNano(), e.Data})
		}
		_, err = r.Next(t.Context())
		require.ErrorIs(rt, err, io.EOF)
		require.Zero(rt, r.Torn())
		require.NoError(rt, r.Close())
	})
}

func TestFileIsPrivateAndNeverReplaced(t *testing.T) {
	dir := t.TempDir() + "/data/journals"
	h := testHead()
	h.ID = "j1"
	w := create(t, Options{Dir: dir, Head: h})
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	info, err = os.Stat(w.Path())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.Equal(t, "j1", w.Head().Open.Journal)

	_, err = Create(Options{Dir: dir, Head: h})
	require.ErrorIs(t, err, os.ErrExist)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 1, "a refused journal leaves nothing behind")
}

func TestCreateRefuses(t *testing.T) {
	bad := testHead()
	bad.Identity.Run = "a/b"
	for name, o := range map[string]Options{
		"identity": {Head: bad},
		"id":       {Head: Head{ID: "a b", Identity: testHead().Identity}},
		"policy":   {Head: testHead(), WhenFull: "drop"},
		"bound":    {Head: testHead(), Max: 1000},
	} {
		o.Dir = t.TempDir()
		_, err := Create(o)
		require.Error(t, err, name)
		files, err := os.ReadDir(o.Dir)
		require.NoError(t, err)
		require.Empty(t, files, name)
	}
}

func TestLongChunksAreCut(t *testing.T) {
	w := create(t, Options{})
	long := bytes.Repeat([]byte("0123456789abcdef"), (2*MaxData+512)/16)
	require.NoError(t, w.Append(t.Context(), schema.FromClient, time.Now(), long))
	require.NoError(t, w.Append(t.Context(), schema.FromClient, time.Now(), nil))
	require.Error(t, w.Control(t.Context(), schema.TypeClose, time.Now(), schema.CloseInfo{Error: string(long)}))
	require.NoError(t, w.Close())
	list := readAll(t, open(t, w.Path()))
	require.Len(t, list, 3)
	var joined []byte
	for _, e := range list {
		require.LessOrEqual(t, len(e.Data), MaxData)
		joined = append(joined, e.Data...)
	}
	require.True(t, bytes.Equal(long, joined))
}

// Two directions are appended at once and followed while they are: each comes out whole and in order.
func TestFollowTwoDirections(t *testing.T) {
	for _, shared := range []bool{false, true} {
		w := create(t, Options{})
		r := open(t, w.Path())
		if shared {
			watch, stop := startWatch(t, w)
			defer stop()
			var err error
			r, err = watch.Open(w.Path())
			require.NoError(t, err)
			defer func() { require.NoError(t, r.Close()) }()
		}
		const each = 2000
		failures := make(chan error, 2)
		var writers sync.WaitGroup
		for _, from := range []schema.From{schema.FromClient, schema.FromAgent} {
			writers.Go(func() {
				for i := range each {
					if err := w.Append(t.Context(), from, time.Now(), numbered(i)); err != nil {
						failures <- err
						return
					}
				}
			})
		}
		go func() {
			writers.Wait()
			failures <- w.Close()
		}()
		next := map[schema.From]int{}
		for {
			e, err := r.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			require.Equal(t, string(numbered(next[e.From])), string(e.Data))
			next[e.From]++
		}
		require.NoError(t, <-failures)
		require.Equal(t, map[schema.From]int{schema.FromClient: each, schema.FromAgent: each}, next)
	}
}

// Messages name the file that stays, not the one that it is while it is made.
func TestMessagesNameTheFinalFile(t *testing.T) {
	w := create(t, Options{})
	disk := w.file.(*os.File)
	require.Equal(t, w.Path(), disk.Name())
	h := testHead()
	h.ID = "j1"
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(Path(dir, "j1")+newSuffix, nil, 0o600))
	_, err := Create(Options{Dir: dir, Head: h})
	require.ErrorIs(t, err, os.ErrExist)
	require.ErrorContains(t, err, Path(dir, "j1"))
	require.NotContains(t, err.Error(), newSuffix)
	gone := dir + "/gone"
	_, err = openNew(gone+"/j1.journal.new", gone+"/j1.journal")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NotContains(t, err.Error(), newSuffix)
}

// Two publishers of one journal write its mark, and the one that knows less comes last.
func TestADoneMarkStays(t *testing.T) {
	dir := t.TempDir()
	id := schema.Identity{Namespace: "n", Workflow: "w", Run: "r", Attempt: 1}
	done := Mark{Identity: id, Offset: 9, Frames: 3, Done: true}
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for range 20 {
				require.NoError(t, WriteMark(dir, "j", Mark{Identity: id, Offset: 5, Frames: 2}))
			}
		})
	}
	writers.Wait()
	require.NoError(t, WriteMark(dir, "j", done))
	require.NoError(t, WriteMark(dir, "j", Mark{Identity: id, Offset: 5, Frames: 2}))
	got, err := ReadMark(dir, "j")
	require.NoError(t, err)
	require.True(t, got.Done)
	require.Equal(t, done.Offset, got.Offset)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 1, "nothing half written is left")
}
