package postgres_test

import (
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
