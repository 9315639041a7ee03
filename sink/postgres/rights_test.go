package postgres_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/postgres"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

// asRole makes all that comes to a database a role without rights, but those that are granted.
func asRole(t *testing.T, url, grants string) {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	role := "role_" + config.Database
	execute(t, url, `CREATE ROLE `+role+`; `+grants+`; ALTER DATABASE `+config.Database+` SET role TO `+role)
	t.Cleanup(func() {
		execute(t, url, `SET ROLE NONE; ALTER DATABASE `+config.Database+` RESET role; DROP OWNED BY `+role+`; DROP ROLE `+role)
	})
}

// TestASinkWithoutRights is told what it lacks, and does not try again: by opening, by owning, by storing.
func TestASinkWithoutRights(t *testing.T) {
	url := pgtest.Database(t)
	config, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	role := "role_" + config.Database
	asRole(t, url, `SELECT`)
	_, err = postgres.Open(within(t), url, postgres.Options{})
	require.ErrorIs(t, err, sink.ErrDenied)
	require.ErrorContains(t, err, "CREATE on the database")

	execute(t, url, `SET ROLE NONE; GRANT CREATE ON DATABASE `+config.Database+` TO `+role)
	l := open(t, url)
	t.Cleanup(func() { _ = l.Close() }) // it always works
	s := ledgertest.NewScript("one")
	say(t, l, s, "words")
	claim, err := l.Claim(within(t), 0)
	require.NoError(t, err)
	execute(t, url, `SET ROLE NONE; ALTER SCHEMA steno OWNER TO CURRENT_USER; REASSIGN OWNED BY `+role+` TO CURRENT_USER;
GRANT USAGE ON SCHEMA steno TO `+role+`; GRANT SELECT ON ALL TABLES IN SCHEMA steno TO `+role)
	l = open(t, url)
	t.Cleanup(func() { _ = l.Close() })
	s.Next(1, ledgertest.Prompt("more"))
	_, err = l.Store(within(t), sink.Batch{Claim: claim, Entries: []sink.Entry{s.Entry(2, s.Record())}})
	require.ErrorIs(t, err, sink.ErrDenied)
	require.ErrorContains(t, err, "permission denied for table partitions")
	require.ErrorContains(t, err, "INSERT, UPDATE and DELETE")
	_, err = l.Claim(within(t), 0)
	require.ErrorIs(t, err, sink.ErrDenied)
	_, err = l.Redrive(within(t), claim, s.ID)
	require.ErrorIs(t, err, sink.ErrDenied)
	_, err = l.Index(within(t))
	require.ErrorIs(t, err, sink.ErrDenied)
	ended, _ := own(t, l, "one")
	err = await(t, ended)
	require.ErrorIs(t, err, sink.ErrDenied)
	require.ErrorContains(t, err, "INSERT, UPDATE and DELETE")
}

// TestALoginThatIsRefused is no server that is away.
func TestALoginThatIsRefused(t *testing.T) {
	url := pgtest.Database(t)
	config, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	password := config.Password
	for _, readOnly := range []bool{false, true} {
		_, err = postgres.Open(within(t), strings.Replace(url, password, "another", 1), postgres.Options{ReadOnly: readOnly})
		require.ErrorIs(t, err, sink.ErrDenied)
		require.NotErrorIs(t, err, postgres.ErrUnreachable)
		require.ErrorContains(t, err, "authentication failed")
	}
}
