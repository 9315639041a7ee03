package archive_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/sqlite"
	"github.com/steno-io/steno/sink/verify"
	"github.com/steno-io/steno/sink/verify/verifytest"
)

// captures are the frames in memory that are sealed.
type captures map[schema.Identity][]*schema.Frame

func (c captures) Frames(_ context.Context, id schema.Identity, first uint64) iter.Seq2[schema.Frame, error] {
	return func(yield func(schema.Frame, error) bool) {
		for _, f := range c[id] {
			if f.Seq >= first && !yield(*f, nil) {
				return
			}
		}
	}
}

// site is an archive in the making: frames, a ledger that has what they fold to, and a directory.
type site struct {
	t      *testing.T
	frames captures
	ledger *sqlite.Ledger
	claim  sink.Claim
	seq    uint64
	dir    string
	key    archive.Key
	secret string // the key
}

func newSite(t *testing.T) *site {
	s := &site{t: t, frames: captures{}, dir: filepath.Join(t.TempDir(), "archive")}
	var err error
	s.ledger, err = sqlite.Open(filepath.Join(t.TempDir(), "ledger.db"), sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.ledger.Close()) })
	s.claim, err = s.ledger.Claim(context.Background(), 0)
	require.NoError(t, err)
	private, _, err := archive.Generate("mill")
	require.NoError(t, err)
	s.secret = private
	s.key, err = archive.NewKey(private)
	require.NoError(t, err)
	return s
}

// tell records words behind those that a capture has.
func (s *site) tell(id schema.Identity, words string) {
	s.t.Helper()
	var all []string
	for _, f := range s.frames[id] {
		word := string(f.Data)
		if f.Type == schema.TypeGap {
			word = "gap"
		}
		all = append(all, word)
	}
	s.take(id, verifytest.Tell(s.t, strings.Join(append(all, words), " ")))
}

// take records what is new among all frames of a capture.
func (s *site) take(id schema.Identity, frames []*schema.Frame) {
	s.t.Helper()
	had := uint64(len(s.frames[id]))
	s.frames[id] = frames
	s.seq++
	e := sink.NewEntry(id, s.seq, ledgertest.Epoch, "", verifytest.Record(s.t, id, s.frames[id], had+1))
	require.NoError(s.t, e.Refused)
	_, err := s.ledger.Store(context.Background(), sink.Batch{Claim: s.claim, Entries: []sink.Entry{e}})
	require.NoError(s.t, err)
}

func (s *site) store() *archive.Dir {
	s.t.Helper()
	d, err := archive.OpenDir(s.dir, true)
	require.NoError(s.t, err)
	return d
}

func (s *site) seal(id schema.Identity) *archive.Seal {
	s.t.Helper()
	seal, err := archive.NewSealer(s.store(), s.frames, s.ledger, s.key).Seal(context.Background(), id)
	require.NoError(s.t, err)
	return seal
}

func (s *site) check(trusted string) archive.Checked {
	s.t.Helper()
	d, err := archive.OpenDir(s.dir, false)
	require.NoError(s.t, err)
	c, err := archive.Check(context.Background(), d, archive.CheckOptions{Trusted: trusted, NewFold: verifytest.Fold})
	require.NoError(s.t, err)
	return c
}

// files gives the archive's objects by name.
func (s *site) files() map[string]string {
	s.t.Helper()
	out := map[string]string{}
	require.NoError(s.t, filepath.WalkDir(s.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(s.dir, path)
		out[filepath.ToSlash(name)] = string(data)
		return err
	}))
	return out
}

// remove takes an object away.
func (s *site) remove(name string) {
	s.t.Helper()
	require.NoError(s.t, os.Remove(filepath.Join(s.dir, filepath.FromSlash(name))))
}

func identity(name string) schema.Identity { return ledgertest.NewScript(name).ID }

const story = "open a c c m b c m d c c"

func TestSealedInPartsAndVerified(t *testing.T) {
	s := newSite(t)
	one, two := identity("one"), identity("two")
	s.tell(one, story)
	s.tell(two, "open a b")
	first := s.seal(one)
	require.Equal(t, uint64(9), first.Last, "a seal ends at a record's last event: the chunks behind it wait")
	require.Equal(t, map[uint32]uint64{1: 0}, first.Open)
	s.seal(two)
	before := s.files()
	require.Equal(t, first, s.seal(one), "nothing is behind it")
	require.Equal(t, before, s.files())

	s.tell(one, "m e gap f")
	last := s.seal(one)
	require.Equal(t, uint64(15), last.Last)
	require.Equal(t, uint64(1), last.Gaps)
	require.Equal(t, uint64(9), last.Previous.Last)
	for name, data := range before {
		if !strings.HasSuffix(name, "head.note") {
			require.Equal(t, data, s.files()[name], "what is written stays")
		}
	}

	c := s.check("")
	require.Empty(t, c.Findings)
	require.Equal(t, 3, c.Seals)
	require.Equal(t, uint64(18), c.Frames)
	require.Zero(t, c.Unaccounted)
	require.Len(t, c.Keys, 1)
	require.Equal(t, 11, c.ExitCode(), "it has a gap")
	require.Empty(t, s.check(s.key.Public()).Findings)

	_, foreign, err := archive.Generate("mill")
	require.NoError(t, err)
	c = s.check(foreign)
	require.Equal(t, 12, c.ExitCode())
	require.Equal(t, verify.BadSignature, c.Findings[0].Problem)
}

func TestSealersMakeTheSame(t *testing.T) {
	s, again := newSite(t), newSite(t)
	again.key = s.key
	for _, one := range []*site{s, again} {
		one.tell(identity("one"), story+" m "+strings.Repeat("a ", 200))
		one.seal(identity("one"))
	}
	require.Equal(t, s.files(), again.files())
}

// TestBrokenOffAtEveryObject breaks sealing off before and behind every write, and goes on.
func TestBrokenOffAtEveryObject(t *testing.T) {
	whole := newSite(t)
	id := identity("one")
	fill := func(s *site) {
		s.key = whole.key
		s.tell(id, story)
	}
	fill(whole)
	whole.seal(id)
	whole.tell(id, "m e f")
	whole.seal(id)
	for _, stored := range []bool{false, true} {
		for at := 1; ; at++ {
			s := newSite(t)
			fill(s)
			broken := &breaking{Store: s.store(), left: at, stored: stored}
			sealer := archive.NewSealer(broken, s.frames, s.ledger, s.key)
			_, err := sealer.Seal(context.Background(), id)
			if err == nil {
				s.tell(id, "m e f")
				_, err = sealer.Seal(context.Background(), id)
			} else {
				s.seal(id)
				s.tell(id, "m e f")
			}
			if err == nil {
				require.Greater(t, at, 10, "writes that were broken off")
				break
			}
			require.ErrorIs(t, err, errBroken)
			s.seal(id)
			require.Equal(t, whole.files(), s.files(), "broken off at write %d, stored %t", at, stored)
			require.Empty(t, s.check("").Findings)
		}
	}
}

var errBroken = fmt.Errorf("the store is away")

// breaking fails one write: refused, or stored with the answer lost.
type breaking struct {
	archive.Store
	left   int
	stored bool
}

func (b *breaking) fails(write func() error) error {
	if b.left--; b.left != 0 {
		return write()
	}
	if b.stored {
		if err := write(); err != nil {
			return err
		}
	}
	return errBroken
}

func (b *breaking) Put(ctx context.Context, name string, data []byte) error {
	return b.fails(func() error { return b.Store.Put(ctx, name, data) })
}

func (b *breaking) Replace(ctx context.Context, name string, old, data []byte) error {
	return b.fails(func() error { return b.Store.Replace(ctx, name, old, data) })
}

// TestAStoreThatFailsIsNoFinding has every read fail once, when an object is opened and while it is read:
// nothing is then said of what the archive holds.
func TestAStoreThatFailsIsNoFinding(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.tell(identity("one"), story)
	s.seal(identity("one"))
	s.tell(identity("one"), "m e f")
	s.seal(identity("one"))
	for _, opened := range []bool{false, true} {
		for at := 1; ; at++ {
			failing := &failing{Store: s.store(), left: at, opened: opened}
			c, err := archive.Check(context.Background(), failing, archive.CheckOptions{NewFold: verifytest.Fold})
			if err == nil {
				require.Empty(t, c.Findings)
				require.Greater(t, at, 10, "reads that failed")
				break
			}
			require.ErrorIs(t, err, errBroken)
		}
	}
}

// failing fails one read.
type failing struct {
	archive.Store
	left   int
	opened bool // it can be opened
}

func (f *failing) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if f.left--; f.left != 0 {
		return f.Store.Open(ctx, name)
	}
	if !f.opened {
		return nil, errBroken
	}
	return io.NopCloser(iotest.ErrReader(errBroken)), nil
}
