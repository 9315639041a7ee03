package postgres_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/postgres/pgtest"
	"github.com/steno-io/steno/sink/sqlite"
)

// awkward is a record of what databases take in different ways.
func awkward() (*ledgertest.Script, schema.Record) {
	s := ledgertest.NewScript("0197a3b0-7d1c-7c10-9c1e-3f2a1b9c0d00") // as old as its first frame
	long := strings.Repeat("0123456789", 10<<10)
	s.Source.SessionID = "\x00" + long // 100 KB, and U+0000
	s.Source.Dialect = "\\x41 '; --"
	s.Next(0, ledgertest.Prompt("\x00first line of a prompt\U0001F600\nsecond"))
	s.Next(0, ledgertest.Raw(strings.Repeat("five", 5<<18)))                          // a message of 5 MiB
	s.Next(0, ledgertest.Prompt(strings.Repeat("words to be searched for ", 50_000))) // search text above 1 MiB
	s.Next(0, &schema.Raw{Source: "test", Value: schema.JSON(`{"a":1,"a":"\u0000","a":{"a":"\ud800"}}`)})
	s.Next(0, &schema.ToolCall{Tool: long, CallID: long})
	s.Next(0, &schema.Stop{Reason: schema.StopOther, Detail: "\x00"})
	s.Next(1<<31, ledgertest.Raw("a session beyond 31 bits"))
	r := s.Record()
	r.About = map[uint32]schema.About{0: {
		Agent: "\x00agent", Title: "ti\x00tle \\x", Cwd: "/\x00", Labels: map[string]string{"a\x00": "\x00", "long": long},
	}}
	r.Open = map[uint32]uint64{1<<32 - 1: 0}
	return s, r
}

// TestBothKeepTheSame stores what databases take in different ways into SQLite and PostgreSQL, and
// reads the same from both.
func TestBothKeepTheSame(t *testing.T) {
	light, err := sqlite.Open(filepath.Join(t.TempDir(), "ledger.db"), sqlite.Options{})
	require.NoError(t, err)
	url := pgtest.Database(t)
	ledgers := []ledgertest.Ledger{light, open(t, url)}
	var lists [2][]sink.Summary
	var infos [2][]sink.CaptureInfo
	var stats [2]sink.Stats
	var events [2][]sink.Event
	for i, l := range ledgers {
		s, r := awkward()
		claim, err := l.Claim(within(t), 1<<31)
		require.NoError(t, err)
		b := sink.Batch{Claim: claim, Entries: []sink.Entry{s.Entry(1, r)}}
		b.Position = sink.Position{Created: ledgertest.Epoch.Add(123456789), Seq: 1<<63 + 1, Digest: "d"} // nanoseconds, and all bits
		for range 2 {
			_, err = l.Store(within(t), b)
			require.NoError(t, err)
		}
		other := ledgertest.NewScript("B") // keys sort by bytes: before "a", whatever the locale says
		other.Next(0, ledgertest.Raw("x"))
		lower := ledgertest.NewScript("a")
		lower.Next(0, ledgertest.Raw("x"))
		lower.Record()
		lower.Next(0, ledgertest.Raw("a gap"))
		b.Entries = []sink.Entry{other.Entry(2, other.Record()), lower.Entry(3, lower.Record()),
			sink.RefusedEntry(ledgertest.NewScript("c").ID, 4, ledgertest.At(4).Add(time.Nanosecond), "", errWith("\x00\xff"))}
		_, err = l.Store(within(t), b)
		require.NoError(t, err)

		for sum, err := range sink.All(within(t), l) {
			require.NoError(t, err)
			lists[i] = append(lists[i], sum)
		}
		infos[i], err = l.Captures(within(t), "", 100)
		require.NoError(t, err)
		for j := range infos[i] {
			infos[i][j].ID = 0 // the ledger's own
		}
		stats[i], err = l.Stats(within(t))
		require.NoError(t, err)
		for e, err := range l.Events(within(t), s.Transcript(0), 0, 0) {
			require.NoError(t, err)
			events[i] = append(events[i], e)
		}
		require.Len(t, events[i], 6)
		require.NoError(t, l.Close())
	}
	require.Equal(t, lists[0], lists[1])
	require.Equal(t, infos[0], infos[1])
	require.Equal(t, stats[0], stats[1])
	require.Equal(t, events[0], events[1])
	require.Equal(t, "ti\x00tle \\x", lists[1][len(lists[1])-1].Title)
	require.Equal(t, uint64(1<<63+1), stats[1].Positions[1<<31].Seq)
}

type errWith string

func (e errWith) Error() string { return string(e) }

// TestAnyEncodingAndLocale keeps the same in a database that is not UTF-8.
func TestAnyEncodingAndLocale(t *testing.T) {
	url := pgtest.Database(t)
	execute(t, url, `CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0`)
	latin := strings.Replace(url, "/test_", "/latin?", 1)
	latin = latin[:strings.Index(latin, "?")] + "?sslmode=disable"
	l := open(t, latin)
	defer l.Close() //nolint:errcheck // it always works
	claim, err := l.Claim(within(t), 0)
	require.NoError(t, err)
	s, r := awkward()
	out, err := l.Store(within(t), sink.Batch{Claim: claim, Entries: []sink.Entry{s.Entry(1, r)}})
	require.NoError(t, err)
	require.Empty(t, out.Parked)
	sum, err := l.Transcript(within(t), s.Transcript(0))
	require.NoError(t, err)
	require.Equal(t, "ti\x00tle \\x", sum.Title)
}

// TestEventsOfAnySizeInPages reads a page's bytes only, and what fits none by itself.
func TestEventsOfAnySizeInPages(t *testing.T) {
	l := open(t, pgtest.Database(t))
	defer l.Close() //nolint:errcheck // it always works
	claim, err := l.Claim(within(t), 0)
	require.NoError(t, err)
	s := ledgertest.NewScript("one")
	b := sink.Batch{Claim: claim}
	for i := range 18 {
		s.Next(0, ledgertest.Raw(strings.Repeat("x", 300<<10*(1+i%3*9))))
		b.Entries = append(b.Entries, s.Entry(uint64(i+1), s.Record()))
	}
	_, err = l.Store(within(t), b)
	require.NoError(t, err)
	var seq uint64
	for e, err := range l.Events(within(t), s.Transcript(0), 0, 0) {
		require.NoError(t, err)
		seq++
		require.Equal(t, seq, e.Seq)
	}
	require.Equal(t, uint64(18), seq)
	out, err := l.Store(context.Background(), b)
	require.NoError(t, err)
	require.Zero(t, out.Events)
	require.Empty(t, out.Parked, "all are there already, byte for byte")
}

// TestParksWhatPostgresRefuses: a record's own words are text, which takes no U+0000. No translator
// writes such a record.
func TestParksWhatPostgresRefuses(t *testing.T) {
	l := open(t, pgtest.Database(t))
	defer l.Close() //nolint:errcheck // it always works
	claim, err := l.Claim(within(t), 0)
	require.NoError(t, err)
	forged, good := ledgertest.NewScript("forged"), ledgertest.NewScript("good")
	b := sink.Batch{Claim: claim}
	for i := range 7 {
		good.Next(0, ledgertest.Raw("x"))
		b.Entries = append(b.Entries, good.Entry(uint64(2*i+1), good.Record()))
		forged.Next(0, ledgertest.Raw("x"))
		r := forged.Record()
		if i == 6 { // the last word on the capture is what is kept
			r.Chain = "\x00"
		}
		b.Entries = append(b.Entries, forged.Entry(uint64(2*i+2), r))
	}
	out, err := sink.Store(within(t), l, b)
	require.NoError(t, err)
	require.Equal(t, 7+6, out.Events)
	require.Len(t, out.Parked, 1)
	require.Equal(t, sink.ReasonRefused, out.Parked[0].Reason)
	require.Equal(t, uint64(14), out.Parked[0].Seq)
	require.Contains(t, string(out.Parked[0].Got), "22021")
	info, err := l.Capture(within(t), forged.ID)
	require.NoError(t, err)
	require.Equal(t, out.Parked[0], *info.Parked)
}
