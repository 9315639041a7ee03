package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// A file cut anywhere gives every entry that is whole before the cut, and says how much is torn.
func TestCutAtEveryByte(t *testing.T) {
	path, whole := fixture(t, 6)
	full := open(t, path)
	start := int(full.Start())
	list := readAll(t, full)
	for cut := 0; cut <= len(whole); cut++ {
		path := written(t, whole[:cut])
		if cut < start {
			_, err := Open(path)
			require.ErrorIs(t, err, ErrDamaged, "cut at %d", cut)
			require.ErrorContains(t, err, path)
			continue
		}
		var want []Entry
		for _, e := range list {
			if int(e.End()) <= cut {
				want = append(want, e)
			}
		}
		r := open(t, path)
		require.Equal(t, want, readAll(t, r), "cut at %d", cut)
		require.Equal(t, uint64(cut), r.End()+r.Torn())
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, whole[:cut], after, "a reader does not write")
	}
}

// A flipped bit is never read as data: in the last entry it is a torn tail, before it an error that
// names file and offset, after every entry before it was given.
func TestFlipEveryByte(t *testing.T) {
	path, whole := fixture(t, 6)
	full := open(t, path)
	start := int(full.Start())
	list := readAll(t, full)
	last := int(list[len(list)-1].Offset) - entryHead
	for i := range whole {
		b := append([]byte(nil), whole...)
		b[i] ^= 1 << (i % 8)
		path := written(t, b)
		if i < start {
			_, err := Open(path)
			require.ErrorIs(t, err, ErrDamaged, "byte %d", i)
			continue
		}
		r := open(t, path)
		n := 0
		var err error
		for {
			var e Entry
			if e, err = r.Next(t.Context()); err != nil {
				break
			}
			require.Equal(t, string(list[n].Data), string(e.Data), "byte %d", i)
			n++
		}
		at := r.End()
		require.LessOrEqual(t, int(at), i, "byte %d", i)
		if i >= last {
			require.ErrorIs(t, err, io.EOF, "byte %d", i)
			require.Equal(t, len(whole)-last, int(r.Torn()))
			continue
		}
		require.ErrorIs(t, err, ErrDamaged, "byte %d", i)
		require.ErrorContains(t, err, fmt.Sprintf("%s: the entry at offset %d", path, at))
	}
}

// What a machine's end leaves: the size is there, the bytes are zeros.
func TestTailOfZerosIsTorn(t *testing.T) {
	path, whole := fixture(t, 3)
	want := readAll(t, open(t, path))
	r := open(t, written(t, append(whole, make([]byte, 10000)...)))
	require.Equal(t, want, readAll(t, r))
	require.Equal(t, uint64(10000), r.Torn())
}

// Damage may be larger than what the search holds at once.
func TestWholeEntryFarBehindDamage(t *testing.T) {
	path, whole := fixture(t, 2)
	r := open(t, path)
	list := readAll(t, r)
	last := list[len(list)-1].Offset - entryHead
	for _, gap := range []int{1, 2 * (entryHead + MaxData), 5*MaxData + 3} {
		b := append([]byte(nil), whole[:last]...)
		b = append(b, make([]byte, gap)...)
		b = append(b, whole[last:]...)
		r := open(t, written(t, b))
		for range len(list) - 1 {
			_, err := r.Next(t.Context())
			require.NoError(t, err)
		}
		_, err := r.Next(t.Context())
		require.ErrorIs(t, err, ErrDamaged)
		require.ErrorContains(t, err, fmt.Sprintf("next whole one stands at %d", int(last)+gap))
	}
}

// An entry that a living writer has written by half is waited for, byte by byte, and so is one that
// it cuts back and replaces by a shorter one.
func TestHalfWrittenEntryOfALivingWriter(t *testing.T) {
	h := testHead()
	h.ID = "j1"
	h.CreatedAt = time.Unix(1, 0)
	head, err := appendHead(nil, h)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "j1"+suffix)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	require.NoError(t, lockFile(f))
	_, err = f.Write(head)
	require.NoError(t, err)

	got := make(chan string)
	failed := make(chan error, 1)
	r := open(t, path)
	go func() {
		defer close(got)
		for {
			e, err := r.Next(t.Context())
			if err != nil {
				failed <- err
				return
			}
			got <- string(e.Data)
		}
	}()
	entry := func(s string) []byte {
		b, err := appendEntry(nil, schema.FromAgent, schema.TypeData, 1, []byte(s))
		require.NoError(t, err)
		return b
	}
	end := int64(len(head))
	for i, b := range entry("slowly") {
		_, err := f.WriteAt([]byte{b}, end+int64(i))
		require.NoError(t, err)
		time.Sleep(100 * time.Microsecond)
	}
	require.Equal(t, "slowly", <-got)
	end += int64(len(entry("slowly")))
	for range 200 {
		half := entry("taken back, as the disk was full")
		_, err = f.WriteAt(half[:len(half)-3], end)
		require.NoError(t, err)
		require.NoError(t, f.Truncate(end))
		_, err = f.WriteAt(entry("gap"), end)
		require.NoError(t, err)
		require.Equal(t, "gap", <-got)
		end += int64(len(entry("gap")))
	}
	_, err = f.WriteAt(entry("half")[:25], end)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	_, more := <-got
	require.False(t, more)
	require.ErrorIs(t, <-failed, io.EOF)
	require.Equal(t, uint64(25), r.Torn())
}

// Damage in a living writer's file is found as soon as a whole entry stands behind it.
func TestDamageUnderALivingWriter(t *testing.T) {
	w := create(t, Options{})
	require.NoError(t, w.Append(t.Context(), schema.FromAgent, time.Now(), []byte("one")))
	require.NoError(t, w.Append(t.Context(), schema.FromAgent, time.Now(), []byte("two")))
	_, err := w.file.WriteAt([]byte("T"), w.end-3)
	require.NoError(t, err)
	r := open(t, w.Path())
	e, err := r.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, "one", string(e.Data))
	appended := make(chan error, 1)
	time.AfterFunc(20*time.Millisecond, func() {
		appended <- w.Append(t.Context(), schema.FromAgent, time.Now(), []byte("three"))
	})
	_, err = r.Next(t.Context())
	require.ErrorIs(t, err, ErrDamaged)
	require.NoError(t, <-appended)
}

func TestOpenRefusesOtherFiles(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "none"+suffix))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Open(written(t, []byte("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}\n")))
	require.True(t, errors.Is(err, ErrDamaged))
	_, err = Open(written(t, []byte(magic[:7]+"\x02 a later version")))
	require.ErrorIs(t, err, ErrDamaged)
}
