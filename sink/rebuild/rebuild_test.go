package rebuild_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/rebuild"
	"github.com/steno-io/steno/sink/sqlite"
	"github.com/steno-io/steno/sink/verify/verifytest"
)

// captures are frames in memory.
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

// site has recorded, sealed and purged captures, and lost its ledger.
type site struct {
	*ledgertest.Stage
	t     *testing.T
	told  captures
	want  map[string]string
	place string
}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func open(t testing.TB, name string) ledgertest.Ledger {
	l, err := sqlite.Open(filepath.Join(t.TempDir(), name), sqlite.Options{})
	require.NoError(t, err)
	return l
}

func newSite(t *testing.T) *site {
	s := &site{Stage: ledgertest.NewStage(t, 5, open), t: t, told: captures{}, place: filepath.Join(t.TempDir(), "archive")}
	for i, script := range s.Scripts {
		s.record(script, "open a c c m b c "+strings.Repeat("d ", i))
	}
	k, stop := s.Run(sink.Options{})
	s.Wait(k)
	private, _, err := archive.Generate("mill")
	require.NoError(t, err)
	key, err := archive.NewKey(private)
	require.NoError(t, err)
	store, err := archive.OpenDir(s.place, true)
	require.NoError(t, err)
	for _, script := range s.Scripts {
		_, err := archive.NewSealer(store, s.told, s.Ledger, key).Seal(within(t), script.ID)
		require.NoError(t, err)
	}
	sealed := map[schema.Identity]uint64{} // the last record
	for _, script := range s.Scripts {
		m, _, err := topology.Last(within(t), s.JS, topology.Events, schema.EventSubject(script.ID, s.Info.Partitions))
		require.NoError(t, err)
		sealed[script.ID] = m.Seq
	}
	for _, script := range s.Scripts[:3] { // go on behind their seals
		s.record(script, "m e")
	}
	s.Wait(k)
	require.NoError(t, stop())
	s.want = rows(t, s.Ledger)
	for i, script := range s.Scripts[1:] { // the first one stays whole
		if i < 2 {
			s.purge(script, jetstream.WithPurgeSequence(sealed[script.ID]+1))
		} else {
			s.purge(script, jetstream.WithPurgeKeep(1))
		}
	}
	return s
}

func (s *site) purge(script *ledgertest.Script, upTo jetstream.StreamPurgeOpt) {
	s.t.Helper()
	stream, err := s.JS.Stream(within(s.t), topology.Events)
	require.NoError(s.t, err)
	require.NoError(s.t, stream.Purge(within(s.t), jetstream.WithPurgeSubject(schema.EventSubject(script.ID, s.Info.Partitions)), upTo))
}

// record records words behind those that a capture has: each is a record, if it gives an event.
func (s *site) record(script *ledgertest.Script, words string) {
	s.t.Helper()
	for word := range strings.FieldsSeq(words) {
		var all []string
		for _, f := range s.told[script.ID] {
			all = append(all, string(f.Data))
		}
		had := uint64(len(all))
		s.told[script.ID] = verifytest.Tell(s.t, strings.Join(append(all, word), " "))
		r := verifytest.Record(s.t, script.ID, s.told[script.ID], had+1)
		if len(r.Events) == 0 {
			continue
		}
		header, err := r.Header()
		require.NoError(s.t, err)
		s.Send(script, header, r.Payload())
	}
}

// rows is what a ledger holds, but for when it was added.
func rows(t testing.TB, l ledgertest.Ledger) map[string]string {
	t.Helper()
	out := map[string]string{}
	put := func(name string, v any) {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		out[name] = string(text)
	}
	infos, err := l.Captures(within(t), "", 100)
	require.NoError(t, err)
	for _, c := range infos {
		c.ID = 0
		put(c.Capture.Capture.String(), c)
	}
	for s, err := range sink.All(within(t), l) {
		require.NoError(t, err)
		s.AddedAt, s.IdleSince = time.Time{}, time.Time{}
		put(s.Key, s)
		for e, err := range l.Events(within(t), s.Transcript, 0, 0) {
			require.NoError(t, err)
			out[fmt.Sprintf("%s#%d", s.Key, e.Seq)] = string(e.Bytes)
		}
	}
	return out
}

func (s *site) options(l rebuild.Ledger) rebuild.Options {
	s.t.Helper()
	store, err := archive.OpenDir(s.place, false)
	require.NoError(s.t, err)
	return rebuild.Options{Archive: store, Check: archive.CheckOptions{NewFold: verifytest.Fold}, Ledger: l, JS: s.JS, Info: s.Info}
}

// faulty is a ledger whose writes fail now and then.
type faulty struct {
	ledgertest.Ledger
	ledgertest.Faulty
}

func (f *faulty) Claim(ctx context.Context, partition uint32) (sink.Claim, error) {
	return f.Faulty.Claim(ctx, partition)
}

func (f *faulty) Store(ctx context.Context, b sink.Batch) (sink.Stored, error) {
	return f.Faulty.Store(ctx, b)
}

func (f *faulty) Redrive(ctx context.Context, c sink.Claim, id schema.Identity) (bool, error) {
	return f.Faulty.Redrive(ctx, c, id)
}

func (f *faulty) Drop(ctx context.Context, c sink.Claim, d sink.Dropped) (bool, error) {
	return f.Faulty.Drop(ctx, c, d)
}

// TestRebuild loses ledgers with a capture that the streams have whole, some that go on behind their seals, and
// some of which only the last record is left.
func TestRebuild(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	l := open(t, "whole")
	defer func() { require.NoError(t, l.Close()) }()
	result, err := rebuild.Run(within(t), s.options(l))
	require.NoError(t, err)
	require.Empty(t, result.Checked.Findings)
	require.Empty(t, result.Parked)
	require.Empty(t, result.Holes)
	require.Equal(t, s.want, rows(t, l))
	require.Equal(t, uint64(4*4+1+2+3+4), result.Sealed, "but for the capture that the streams have whole")
	_, err = rebuild.Run(within(t), s.options(l))
	require.ErrorIs(t, err, rebuild.ErrNotEmpty)

	// What is behind a seal is gone, too: an event of a session that no record goes on with.
	s.purge(s.Scripts[1], jetstream.WithPurgeKeep(1))
	holed := open(t, "holed")
	defer func() { require.NoError(t, holed.Close()) }()
	result, err = rebuild.Run(within(t), s.options(holed))
	require.NoError(t, err)
	require.Equal(t, []rebuild.Hole{{Capture: s.Scripts[1].ID, Frames: 2}}, result.Holes)
}

// TestRebuildThroughFaults has writes fail: refused, and stored with the answer lost.
func TestRebuildThroughFaults(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	hurt := &faulty{Ledger: open(t, "hurt")}
	defer func() { require.NoError(t, hurt.Ledger.Close()) }()
	hurt.Faulty = ledgertest.Faulty{Ledger: hurt.Ledger, Plan: func(write int, _ string) ledgertest.Fault {
		if write%2 == 0 {
			return ledgertest.None
		}
		return ledgertest.Refuse + ledgertest.Fault(rand.IntN(2))
	}}
	_, err := rebuild.Run(within(t), s.options(hurt))
	require.NoError(t, err)
	require.Greater(t, hurt.Faults, 5)
	require.Equal(t, s.want, rows(t, hurt.Ledger))
}

// TestRebuildFromADamagedArchive stores what is proved, and names what is missing.
func TestRebuildFromADamagedArchive(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	damaged := s.Scripts[2].ID
	parts, err := filepath.Glob(filepath.Join(s.place, filepath.FromSlash(archive.Folder(damaged)), "frames-*"))
	require.NoError(t, err)
	require.Len(t, parts, 1)
	require.NoError(t, os.Remove(parts[0]))
	l := open(t, "ledger")
	defer func() { require.NoError(t, l.Close()) }()
	result, err := rebuild.Run(within(t), s.options(l))
	require.NoError(t, err)
	require.Equal(t, 10, result.Checked.ExitCode())
	require.Len(t, result.Parked, 1)
	require.Equal(t, damaged, result.Parked[0].Capture)
	require.Equal(t, sink.ReasonGap, result.Parked[0].Reason)
	got := rows(t, l)
	for name, row := range s.want {
		if !strings.HasPrefix(name, damaged.String()) {
			require.Equal(t, row, got[name])
		}
	}
}

// TestRebuildIsFenced has a sink take a partition meanwhile.
func TestRebuildIsFenced(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	l := &faulty{Ledger: open(t, "ledger")}
	defer func() { require.NoError(t, l.Ledger.Close()) }()
	l.Faulty = ledgertest.Faulty{Ledger: l.Ledger, Plan: func(_ int, name string) ledgertest.Fault {
		if name == "store" {
			for partition := range s.Info.Partitions {
				_, err := l.Ledger.Claim(context.Background(), partition)
				require.NoError(t, err)
			}
		}
		return ledgertest.None
	}}
	_, err := rebuild.Run(within(t), s.options(l))
	require.ErrorIs(t, err, sink.ErrFenced)
}
