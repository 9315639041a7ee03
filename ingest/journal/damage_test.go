package journal

import (
	"context"
	"encoding/json"
	"errors"
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

// A flipped bit is never read as data: in the last entry it is a torn tail, before it a gap that counts
// the entry's bytes and is reported once, and every other entry is given.
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
		var notices []Notice
		r.Report(func(n Notice) { notices = append(notices, n) })
		have := readAll(t, r)
		if i >= last {
			require.Equal(t, list[:len(list)-1], have, "byte %d", i)
			require.Equal(t, len(whole)-last, int(r.Torn()))
			require.Empty(t, notices)
			continue
		}
		want := append([]Entry(nil), list...)
		for n, e := range list {
			if i < int(e.End()) {
				want[n] = damage(t, e.Offset-entryHead, e.End(), r.Head().CreatedAt)
				if n > 0 {
					want[n].At = list[n-1].At
				}
				break
			}
		}
		require.Equal(t, want, have, "byte %d", i)
		require.Zero(t, r.Torn())
		require.Len(t, notices, 1)
		require.Equal(t, Damaged, notices[0].What)
		require.ErrorIs(t, notices[0].Err, ErrDamaged)
		require.Contains(t, notices[0].String(), path)
		require.Equal(t, have, readAll(t, open(t, path)), "another reader gives the same")
	}
}

// damage is the entry that stands for the bytes from one offset up to another.
func damage(t *testing.T, from, to uint64, at time.Time) Entry {
	t.Helper()
	payload, err := json.Marshal(schema.GapInfo{Reason: "journal damaged", Bytes: to - from})
	require.NoError(t, err)
	return Entry{From: schema.FromControl, Type: schema.TypeGap, At: at, Data: payload, Offset: from, Lost: to - from}
}

// Several damaged places are several gaps.
func TestSeveralDamagedPlaces(t *testing.T) {
	path, whole := fixture(t, 9)
	list := readAll(t, open(t, path))
	for _, i := range []int{0, 1, 4, 8} {
		whole[list[i].Offset-1] ^= 1
	}
	r := open(t, written(t, whole))
	have := readAll(t, r)
	require.Equal(t, []Entry{
		damage(t, r.Start(), list[1].End(), r.Head().CreatedAt), list[2], list[3],
		damage(t, list[3].End(), list[4].End(), list[3].At), list[5], list[6], list[7],
		damage(t, list[7].End(), list[8].End(), list[7].At), list[9],
	}, have)
}

// Bytes that are gone from an entry do not take the next entry with them.
func TestBytesGoneFromAnEntry(t *testing.T) {
	path, whole := fixture(t, 3)
	list := readAll(t, open(t, path))
	for _, i := range []int{1, 2} { // behind the last one only the close is left
		at := list[i].Offset + 3
		r := open(t, written(t, append(append([]byte(nil), whole[:at]...), whole[at+5:]...)))
		var have []string
		for {
			e, err := r.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			have = append(have, string(e.Data))
		}
		var want []string
		for n, e := range list {
			if n == i {
				e = damage(t, e.Offset, e.End()-5+entryHead, e.At)
			}
			want = append(want, string(e.Data))
		}
		require.Equal(t, want, have)
	}
}

// An agent that prints a journal leaves whole entries inside an entry. In damage they stay data.
func TestEntriesInsideADamagedEntry(t *testing.T) {
	foreign, err := appendEntry(nil, Lane{}, schema.FromAgent, schema.TypeData, time.Now().Add(time.Hour).UnixNano(), []byte("foreign"))
	require.NoError(t, err)
	older, err := appendEntry(nil, Lane{}, schema.FromAgent, schema.TypeData, 1, []byte("older"))
	require.NoError(t, err)
	w, err := Create(Options{Dir: t.TempDir(), Head: testHead()})
	require.NoError(t, err)
	for _, data := range [][]byte{[]byte("first"), append(foreign, 'x'), []byte("second"), append(older, 'x'), []byte("third")} {
		require.NoError(t, w.Append(t.Context(), schema.FromAgent, time.Now(), data))
	}
	require.NoError(t, w.Close())
	list := readAll(t, open(t, w.Path()))
	b, err := os.ReadFile(w.Path())
	require.NoError(t, err)
	b[list[1].End()-1] ^= 1            // its length is believed: what it carries is its own
	b[list[3].Offset-entryHead] ^= 0x1 // its length is not: what it carries is too old to follow here
	have := readAll(t, open(t, written(t, b)))
	require.Equal(t, []Entry{
		list[0], damage(t, list[0].End(), list[1].End(), list[0].At),
		list[2], damage(t, list[2].End(), list[3].End(), list[2].At), list[4],
	}, have)
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
		e, err := r.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, damage(t, last, last+uint64(gap), list[len(list)-2].At), e)
		e, err = r.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, string(list[len(list)-1].Data), string(e.Data))
		_, err = r.Next(t.Context())
		require.ErrorIs(t, err, io.EOF)
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
		b, err := appendEntry(nil, Lane{}, schema.FromAgent, schema.TypeData, 1, []byte(s))
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

// Damage in a living writer's file is given as soon as a whole entry stands behind it.
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
	gap, err := r.Next(t.Context())
	require.NoError(t, err)
	require.NoError(t, <-appended)
	require.Equal(t, damage(t, e.End(), e.End()+entryHead+3, e.At), gap)
	e, err = r.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, "three", string(e.Data))
}

// An entry that a living writer is still writing behind damage is waited for, whatever it carries.
func TestHalfWrittenEntryBehindDamage(t *testing.T) {
	inner, err := appendEntry(nil, Lane{}, schema.FromAgent, schema.TypeData, time.Now().Add(time.Hour).UnixNano(), []byte("inner"))
	require.NoError(t, err)
	outer, err := appendEntry(nil, Lane{}, schema.FromAgent, schema.TypeData, time.Now().Add(time.Hour).UnixNano(), append(inner, 'x'))
	require.NoError(t, err)
	w := create(t, Options{})
	require.NoError(t, w.Append(t.Context(), schema.FromAgent, time.Now(), []byte("two")))
	end := w.end
	_, err = w.file.WriteAt([]byte{0xff}, end-3-entryHead)
	require.NoError(t, err)
	_, err = w.file.WriteAt(outer[:len(outer)-1], end)
	require.NoError(t, err)
	r := open(t, w.Path())
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = r.Next(soon)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = w.file.WriteAt(outer, end)
	require.NoError(t, err)
	gap, err := r.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, damage(t, r.Start(), uint64(end), r.Head().CreatedAt), gap)
	e, err := r.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, string(append(inner, 'x')), string(e.Data))
}

func TestOpenRefusesOtherFiles(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "none"+suffix))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Open(written(t, []byte("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}\n")))
	require.True(t, errors.Is(err, ErrDamaged))
	_, err = Open(written(t, []byte(magic[:7]+"\x02 a later version")))
	require.ErrorIs(t, err, ErrDamaged)
}
