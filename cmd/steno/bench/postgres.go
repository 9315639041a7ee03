package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/steno-io/steno/sink/postgres"
)

// errLedger refuses to measure where somebody's transcripts are.
var errLedger = errors.New("the database has a schema steno: give one without a ledger, since the bench makes and drops it")

// postgresAt is a ledger in a database that has none.
func postgresAt(ctx context.Context, url string) (database, error) {
	do := func(ctx context.Context, what func(*pgx.Conn) error) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return fmt.Errorf("connect to PostgreSQL: %w", err)
		}
		return errors.Join(what(conn), conn.Close(context.WithoutCancel(ctx)))
	}
	err := do(ctx, func(conn *pgx.Conn) error {
		var there bool
		err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'steno')`).Scan(&there)
		if err == nil && there {
			err = errLedger
		}
		return err
	})
	return database{
		name: "PostgreSQL", goal: goalPostgres,
		open: func(ctx context.Context) (ledger, error) {
			l, err := postgres.Open(ctx, url, postgres.Options{})
			if err != nil {
				return nil, err
			}
			return l, nil
		},
		drop: func(ctx context.Context) error {
			return do(ctx, func(conn *pgx.Conn) error {
				_, err := conn.Exec(ctx, `DROP SCHEMA IF EXISTS steno CASCADE`)
				return err
			})
		},
		// COPY is the plain way in: inserts one by one would make the ceiling low.
		insert: func(ctx context.Context, rows []row, batch int) (took time.Duration, err error) {
			err = do(ctx, func(conn *pgx.Conn) error {
				begin := time.Now()
				for len(rows) > 0 {
					n := min(batch, len(rows))
					part := rows[:n]
					_, err := conn.CopyFrom(ctx, pgx.Identifier{"steno", "events"}, []string{"transcript", "store_seq", "event"},
						pgx.CopyFromSlice(n, func(i int) ([]any, error) {
							return []any{int64(part[i].transcript), int64(part[i].seq), part[i].event}, nil
						}))
					if err != nil {
						return fmt.Errorf("copy into PostgreSQL: %w", err)
					}
					rows = rows[n:]
				}
				took = time.Since(begin)
				return nil
			})
			return took, err
		},
	}, err
}
