// Package storetest is the suite that every store of an archive passes.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink/archive"
)

// Open opens the store at an address, in this process or in another one, for reading and writing.
type Open func(ctx context.Context, address string) (archive.Store, error)

// Suite is what the suite runs on. The test binary's TestMain must be Main.
type Suite struct {
	Open Open
	// Fresh gives the address of a store that is empty but for what opening puts into it.
	Fresh func(t *testing.T) string
	// Page is how many names the store gets at once for a list; 0: all.
	Page int
}

// Run runs the suite.
func Run(t *testing.T, of Suite) {
	for name, test := range map[string]func(t *testing.T, s *suite){
		"PutAndOpen": putAndOpen, "PutTwice": putTwice, "Replace": replace, "Sizes": sizes, "Names": names,
		"NotFound": notFound, "List": list, "ListOfManyPages": listOfManyPages, "Cancelled": cancelled,
		"PutRaced": putRaced, "ReplaceRaced": replaceRaced, "PutRacedByProcesses": putRacedByProcesses,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &suite{address: of.Fresh(t), page: of.Page}
			var err error
			s.Store, err = of.Open(t.Context(), s.address)
			require.NoError(t, err)
			test(t, s)
		})
	}
}

// suite is a store that is tested.
type suite struct {
	archive.Store
	address string
	page    int
}

func (s *suite) read(t *testing.T, name string) string {
	t.Helper()
	data, err := s.whole(t.Context(), name)
	require.NoError(t, err)
	return string(data)
}

func (s *suite) whole(ctx context.Context, name string) ([]byte, error) {
	in, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(in)
	return data, errors.Join(err, in.Close())
}

// listed gives names and sizes below a prefix, but for the mark.
func (s *suite) listed(t *testing.T, prefix string) (all []archive.Listed) {
	t.Helper()
	for l, err := range s.List(t.Context(), prefix) {
		require.NoError(t, err)
		if l.Name != archive.MarkName {
			all = append(all, l)
		}
	}
	return all
}

func putAndOpen(t *testing.T, s *suite) {
	require.Empty(t, s.listed(t, ""))
	require.NoError(t, s.Put(t.Context(), "n/w/r/0-1/a.json", []byte("sacks")))
	require.Equal(t, "sacks", s.read(t, "n/w/r/0-1/a.json"))
	require.Equal(t, []archive.Listed{{Name: "n/w/r/0-1/a.json", Bytes: 5}}, s.listed(t, ""))
	require.NotEmpty(t, s.String())
}

func putTwice(t *testing.T, s *suite) {
	require.NoError(t, s.Put(t.Context(), "a", []byte("one")))
	require.ErrorIs(t, s.Put(t.Context(), "a", []byte("two")), archive.ErrExists)
	if err := s.Put(t.Context(), "a", []byte("one")); err != nil { // who cannot tell may take it for its own
		require.ErrorIs(t, err, archive.ErrExists)
	}
	require.Equal(t, "one", s.read(t, "a"))
}

func replace(t *testing.T, s *suite) {
	ctx := t.Context()
	require.ErrorIs(t, s.Replace(ctx, "f/a", []byte("one"), []byte("two")), archive.ErrChanged, "there is none")
	require.NoError(t, s.Replace(ctx, "f/a", nil, []byte("one")))
	require.ErrorIs(t, s.Replace(ctx, "f/a", nil, []byte("two")), archive.ErrChanged, "there is one")
	require.ErrorIs(t, s.Replace(ctx, "f/a", []byte("One"), []byte("two")), archive.ErrChanged)
	require.ErrorIs(t, s.Replace(ctx, "f/a", []byte("on"), []byte("two")), archive.ErrChanged)
	require.ErrorIs(t, s.Replace(ctx, "f/a", []byte("one+"), []byte("two")), archive.ErrChanged)
	require.ErrorIs(t, s.Replace(ctx, "f/a", []byte{}, []byte("two")), archive.ErrChanged)
	require.Equal(t, "one", s.read(t, "f/a"))
	require.NoError(t, s.Replace(ctx, "f/a", []byte("one"), []byte("two, which is longer")))
	require.Equal(t, "two, which is longer", s.read(t, "f/a"))
	require.NoError(t, s.Replace(ctx, "f/a", []byte("two, which is longer"), []byte{}))
	require.NoError(t, s.Replace(ctx, "f/a", []byte{}, []byte("three")))
	require.Equal(t, "three", s.read(t, "f/a"))
	require.Len(t, s.listed(t, ""), 1)
}

func sizes(t *testing.T, s *suite) {
	for _, size := range []int{0, 1, 64<<10 + 1, 16 << 20} {
		data := bytes.Repeat([]byte("a sack of flour, "), size/17+1)[:size]
		name := fmt.Sprintf("n/%d", size)
		require.NoError(t, s.Put(t.Context(), name, data))
		require.True(t, s.read(t, name) == string(data), "%d bytes come back as they went", size)
		require.Equal(t, []archive.Listed{{Name: name, Bytes: int64(size)}}, s.listed(t, name))
		require.ErrorIs(t, s.Put(t.Context(), name, append(data, '.')), archive.ErrExists)
	}
}

func names(t *testing.T, s *suite) {
	all := []string{
		"n/a=b", "n/%41%2F%", "n/a b+c", "n/a&b?c#d", "n/ü-ñ-漢", "n/~!@$^*(){}[];:',|", `n/"<>`, "n/-._",
		"n/" + strings.Repeat("w", 64) + "/" + strings.Repeat("r", 64) + "/0-1/" + strings.Repeat("long", 50),
	}
	for _, name := range all {
		require.NoError(t, s.Put(t.Context(), name, []byte(name)), name)
	}
	var have []string
	for _, l := range s.listed(t, "n/") {
		have = append(have, l.Name)
	}
	require.ElementsMatch(t, all, have)
	for _, name := range all {
		require.Equal(t, name, s.read(t, name))
		require.Len(t, s.listed(t, name), 1, name)
	}
}

func notFound(t *testing.T, s *suite) {
	require.NoError(t, s.Put(t.Context(), "n/a/b", nil))
	for _, name := range []string{"x", "n/a/c", "n/b/c", "n/a/b2", "n/a/b/c", "n/a", "n"} {
		_, err := s.Open(t.Context(), name)
		require.ErrorIs(t, err, archive.ErrNotFound, name)
		require.ErrorContains(t, err, name)
	}
}

func list(t *testing.T, s *suite) {
	for _, name := range []string{"b/c/2", "b/a/1", "b/c/1", "b/c/10", "b/d", "bb/c/1", "a", "b/c/sub/3"} {
		require.NoError(t, s.Put(t.Context(), name, []byte(name)))
	}
	for prefix, want := range map[string][]string{
		"b/c/":  {"b/c/1", "b/c/10", "b/c/2", "b/c/sub/3"},
		"b/c/1": {"b/c/1", "b/c/10"},
		"b":     {"b/a/1", "b/c/1", "b/c/10", "b/c/2", "b/c/sub/3", "b/d", "bb/c/1"},
		"":      {"a", "b/a/1", "b/c/1", "b/c/10", "b/c/2", "b/c/sub/3", "b/d", "bb/c/1"},
		"c":     nil,
		"b/c/3": nil,
	} {
		var have []string
		for _, l := range s.listed(t, prefix) {
			have = append(have, l.Name)
			require.Equal(t, int64(len(l.Name)), l.Bytes)
		}
		require.Equal(t, want, have, "prefix %q", prefix)
	}
	for l, err := range s.List(t.Context(), "b/") { // left in the middle
		require.NoError(t, err)
		require.Equal(t, "b/a/1", l.Name)
		break
	}
}

func listOfManyPages(t *testing.T, s *suite) {
	many := s.page + 53
	var want []archive.Listed
	for n := range many {
		want = append(want, archive.Listed{Name: fmt.Sprintf("n/seals.log/%012d.json", n), Bytes: 1})
	}
	var writers sync.WaitGroup
	failed := make([]error, 8)
	for w := range failed {
		writers.Go(func() {
			for n := w; n < many && failed[w] == nil; n += len(failed) {
				failed[w] = s.Put(t.Context(), want[n].Name, []byte("x"))
			}
		})
	}
	writers.Wait()
	require.NoError(t, errors.Join(failed...))
	require.Equal(t, want, s.listed(t, "n/"))
}

func cancelled(t *testing.T, s *suite) {
	require.NoError(t, s.Put(t.Context(), "a", []byte("one")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Put(ctx, "b", []byte("two")), context.Canceled)
	require.ErrorIs(t, s.Replace(ctx, "a", []byte("one"), []byte("two")), context.Canceled)
	_, err := s.Open(ctx, "a")
	require.ErrorIs(t, err, context.Canceled)
	var last error
	for _, err := range s.List(ctx, "") {
		last = err
	}
	require.ErrorIs(t, last, context.Canceled, "a list that is broken off is no short list")
	require.Equal(t, "one", s.read(t, "a"))
	require.Len(t, s.listed(t, ""), 1)
}

// racers is how many write a name at the same time.
const racers = 20

func putRaced(t *testing.T, s *suite) {
	for round := range 5 {
		name := fmt.Sprintf("n/%d", round)
		won := race(t, func(me string) error { return s.Put(t.Context(), name, []byte(me)) }, archive.ErrExists)
		require.Len(t, won, 1, "one has put it")
		require.Equal(t, won[0], s.read(t, name))
	}
}

// replaceRaced counts to the number of racers: each adds one to what it has read, until that was there.
func replaceRaced(t *testing.T, s *suite) {
	require.NoError(t, s.Put(t.Context(), "n/count", []byte{0}))
	won := race(t, func(string) error {
		for {
			old, err := s.whole(t.Context(), "n/count")
			if err == nil {
				err = s.Replace(t.Context(), "n/count", old, []byte{old[0] + 1})
			}
			if !errors.Is(err, archive.ErrChanged) {
				return err
			}
		}
	}, archive.ErrChanged)
	require.Len(t, won, racers)
	require.Equal(t, []byte{racers}, []byte(s.read(t, "n/count")))
}

// race lets racers do something at the same time, and gives those that had no error; others had refused.
func race(t *testing.T, do func(me string) error, refused error) (won []string) {
	t.Helper()
	results := make([]error, racers)
	start := make(chan struct{})
	var all sync.WaitGroup
	for n := range results {
		all.Go(func() {
			<-start
			results[n] = do(fmt.Sprintf("racer %d", n))
		})
	}
	close(start)
	all.Wait()
	for n, err := range results {
		if err == nil {
			won = append(won, fmt.Sprintf("racer %d", n))
			continue
		}
		require.ErrorIs(t, err, refused)
	}
	slices.Sort(won)
	return won
}
