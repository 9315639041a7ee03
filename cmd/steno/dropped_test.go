package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/sqlite"
)

// inLedger works on the ledger of a directory that nobody holds.
func inLedger(t *testing.T, data string, do func(l *sqlite.Ledger)) {
	t.Helper()
	l, err := sqlite.Open(holder.Dir(data).Ledger(), sqlite.Options{})
	require.NoError(t, err)
	do(l)
	require.NoError(t, l.Close())
}

// dropFrom drops all that may go of a ledger whose captures are sealed in the archive of a name, as a keeper does once it
// is old, and gives the captures and how many events went.
func dropFrom(t *testing.T, l *sqlite.Ledger, place string) (ids []schema.Identity, count uint64) {
	t.Helper()
	for n := 1; n > 0; {
		var err error
		n, err = l.Index(minute(t))
		require.NoError(t, err)
	}
	infos, err := l.Captures(minute(t), "", 1000)
	require.NoError(t, err)
	for _, c := range infos {
		id := c.Capture.Capture
		ids = append(ids, id)
		claim, err := l.Claim(minute(t), c.Partition)
		require.NoError(t, err)
		for _, s := range c.Sessions {
			d := sink.Dropped{Transcript: schema.Transcript{Identity: id, Session: s.Session}, First: 1, Last: s.Head - 1, Archive: place, Seal: c.Last.Frame}
			if s.Head < 2 {
				continue
			}
			for e, err := range l.Events(minute(t), d.Transcript, 0, int(d.Last)) {
				require.NoError(t, err)
				d.Add(e.Bytes)
			}
			dropped, err := l.Drop(minute(t), claim, d)
			require.NoError(t, err)
			require.True(t, dropped)
			count += d.Last
		}
	}
	return ids, count
}

// TestWhatWasDroppedIsReadAsBefore drops what is sealed from the ledger of a directory: every command says what it said,
// without being told where the archive is, and where it is not there any more says so. The partition is read again from
// its first message, the index is made again, and at last the ledger.
func TestWhatWasDroppedIsReadAsBefore(t *testing.T) {
	t.Parallel()
	data, place := t.TempDir(), filepath.Join(t.TempDir(), "archive")
	run := func(args ...string) string { return ok(t, append(args, "--data", data)...) }
	reads := [][]string{
		{"show", "Sacks", "--json", "--from", "3"}, {"search", "sacks", "--json"}, {"verify"},
		{"ls", "--json"}, {"show", "Sacks"}, {"explain", "Sacks#2"}, {"export", "Sacks", "--format", "md"},
	}
	var before []string
	same := func(n int) {
		for i, args := range reads[:n] {
			require.Equal(t, before[i], run(args...), args)
		}
	}
	run("import", "testdata/sacks.jsonl")
	up := startUp(t, data)
	for _, args := range reads {
		before = append(before, run(args...))
	}
	run("seal", "--all", "--archive", place)
	require.Equal(t, exitOK, up.stop(t))
	var ids []schema.Identity
	var count uint64
	inLedger(t, data, func(l *sqlite.Ledger) { ids, count = dropFrom(t, l, place) })
	require.Greater(t, count, uint64(20))

	up = startUp(t, data)
	same(len(reads))
	require.Contains(t, run("doctor"), "of them in the archive")
	require.Contains(t, run("seal", "--all", "--archive", filepath.Join(t.TempDir(), "another")), "sealed up to frame 23")
	elsewhere := place + "-moved"
	require.NoError(t, os.Rename(place, elsewhere))
	for i, args := range reads[:3] {
		began := time.Now()
		_, stderr, code := steno(t, append(args, "--data", data)...)
		require.Less(t, time.Since(began), patience, "nobody waits for an archive that is not there")
		require.NotEqual(t, exitOK, code, args)
		require.Contains(t, stderr, "are in archive "+place+", and not in the ledger any more", args)
		require.Contains(t, stderr, "--archive names the archive, if it is elsewhere by now", args)
		require.Equal(t, before[i], run(append(args, "--archive", elsewhere)...), args)
	}
	require.NoError(t, os.Rename(elsewhere, place))
	require.Equal(t, exitOK, up.stop(t))

	ledger := strings.TrimSuffix(holder.Dir(data).Ledger(), ".db")
	require.NoError(t, os.Remove(ledger+"-search.db"))
	inLedger(t, data, func(l *sqlite.Ledger) { // parked, so that the partition is read again
		claim, err := l.Claim(minute(t), ids[0].Partition(schema.Partitions))
		require.NoError(t, err)
		stored, err := l.Store(minute(t), sink.Batch{Claim: claim, Position: claim.Position, Entries: []sink.Entry{
			sink.RefusedEntry(ids[0], claim.Position.Seq, claim.Position.Created, claim.Position.Digest, os.ErrInvalid),
		}})
		require.NoError(t, err)
		require.Len(t, stored.Parked, 1)
	})
	up = startUp(t, data)
	require.Contains(t, run("redrive", "--all"), "came through")
	same(3)
	require.Equal(t, exitOK, up.stop(t))

	files, err := filepath.Glob(ledger + "*")
	require.NoError(t, err)
	for _, name := range files {
		require.NoError(t, os.Remove(name))
	}
	require.Contains(t, run("rebuild", "--archive", place), "rebuilt: 1 capture")
	same(3)
}
