package postgres_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/postgres"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

func storeOne(t *testing.T, l sink.Ledger, run string) schema.Transcript {
	t.Helper()
	claim, err := l.Claim(within(t), 0)
	require.NoError(t, err)
	s := ledgertest.NewScript(run)
	s.Next(0, ledgertest.Raw("x"))
	_, err = l.Store(within(t), sink.Batch{Claim: claim, Entries: []sink.Entry{s.Entry(1, s.Record())}})
	require.NoError(t, err)
	return s.Transcript(0)
}

func TestProcessesThatStartAtOnceMakeTheTablesOnce(t *testing.T) {
	url := pgtest.Database(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			l, err := postgres.Open(within(t), url, postgres.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			_ = l.Close()
		})
	}
	wg.Wait()
}

func TestReadOnly(t *testing.T) {
	url := pgtest.Database(t)
	_, err := postgres.Open(within(t), url, postgres.Options{ReadOnly: true})
	require.ErrorIs(t, err, sink.ErrVersion, "a reader makes no tables")
	require.ErrorContains(t, err, "start steno worker sink")
	w := open(t, url)
	defer w.Close() //nolint:errcheck // it always works
	storeOne(t, w, "one")

	r, err := postgres.Open(within(t), url, postgres.Options{ReadOnly: true})
	require.NoError(t, err)
	defer r.Close() //nolint:errcheck // it always works
	sum, err := r.Transcript(within(t), storeOne(t, w, "two"))
	require.NoError(t, err, "a reader sees what is stored while it is open")
	require.Equal(t, uint64(1), sum.Head)
	_, err = r.Claim(within(t), 0)
	require.ErrorContains(t, err, "read-only")
	_, err = r.Store(within(t), sink.Batch{})
	require.ErrorContains(t, err, "read-only")
	require.ErrorContains(t, postgres.NewOwnership(r, postgres.OwnershipOptions{}).Run(within(t), 1, nil), "read-only")
}

func TestOpenRefusesAnotherVersion(t *testing.T) {
	url := pgtest.Database(t)
	require.NoError(t, open(t, url).Close())
	execute(t, url, `UPDATE steno.version SET version = 99`)
	for _, readOnly := range []bool{false, true} {
		_, err := postgres.Open(within(t), url, postgres.Options{ReadOnly: readOnly})
		require.ErrorIs(t, err, sink.ErrVersion)
		require.ErrorContains(t, err, "99")
		require.ErrorContains(t, err, pgtest.Address(t, url))
	}
}

func TestADatabaseThatCannotBeReached(t *testing.T) {
	url := pgtest.Database(t)
	way := newProxy(t, pgtest.Address(t, url), nil)
	w := open(t, url)
	defer w.Close() //nolint:errcheck // it always works
	key := storeOne(t, w, "one")
	l, err := postgres.Open(within(t), pgtest.Through(t, url, way.address), postgres.Options{ReadOnly: true})
	require.NoError(t, err)
	defer l.Close() //nolint:errcheck // it always works
	_, err = l.Transcript(within(t), key)
	require.NoError(t, err)
	way.close()
	asks := map[string]func() error{
		"transcript":  func() error { _, err := l.Transcript(within(t), key); return err },
		"transcripts": func() error { _, err := l.Transcripts(within(t), sink.Query{}); return err },
		"captures":    func() error { _, err := l.Captures(within(t), "", 1); return err },
		"capture":     func() error { _, err := l.Capture(within(t), key.Identity); return err },
		"stats":       func() error { _, err := l.Stats(within(t)); return err },
		"search":      func() error { _, err := l.Search(within(t), sink.SearchQuery{Text: "x"}); return err },
		"indexing":    func() error { _, err := l.Indexing(within(t)); return err },
		"events": func() error {
			for _, err := range l.Events(within(t), key, 0, 1) {
				return err
			}
			return nil
		},
		"open": func() error {
			_, err := postgres.Open(within(t), pgtest.Through(t, url, way.address), postgres.Options{})
			return err
		},
	}
	for name, ask := range asks {
		require.ErrorIs(t, ask(), postgres.ErrUnreachable, name)
	}
	_, err = postgres.Open(within(t), "postgres://h:port/x", postgres.Options{})
	require.ErrorIs(t, err, postgres.ErrURL)
	notThere := strings.Replace(url, "/test_", "/nothing_", 1)
	_, err = postgres.Open(within(t), notThere, postgres.Options{})
	require.Error(t, err)
	require.NotErrorIs(t, err, postgres.ErrUnreachable, "the server is there")
}

func TestOpenSaysNoPassword(t *testing.T) {
	for _, url := range []string{
		"postgres://steno:geheim@127.0.0.1:1/steno", "postgres://steno:geheim@127.0.0.1:port/steno",
		"host=127.0.0.1 port=1 user=steno password=geheim", "geheim",
	} {
		_, err := postgres.Open(within(t), url, postgres.Options{})
		require.Error(t, err)
		if url != "geheim" {
			require.NotContains(t, err.Error(), "geheim")
		}
	}
}
