package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// indexVersion counts the changes of the words. Those of an earlier version are made anew by the next process
// that indexes; those of a later one are left to processes of that build. Neither is searched.
const indexVersion = 1

// sweepEvery is how often all transcripts are looked at for what no row of steno.unread names: a sink of a
// build that does not write there may store beside this one.
const sweepEvery = 10 * time.Minute

var (
	fitsSQL = fmt.Sprintf(`EXISTS (SELECT FROM steno.index_version WHERE version = %d)`, indexVersion)
	// shareSQL keeps the words of this version while they are added to.
	shareSQL = fmt.Sprintf(`SELECT FROM steno.index_version WHERE version = %d FOR SHARE`, indexVersion)
)

const (
	remakeSQL = `TRUNCATE steno.words, steno.unindexed, steno.indexed; DELETE FROM steno.index_version`
	spentSQL  = `DELETE FROM steno.unread u USING steno.indexed i WHERE i.transcript = u.transcript AND u.head <= i.head`
	sweepSQL  = `INSERT INTO steno.unread (transcript, head)
SELECT t.id, t.head FROM steno.transcripts t LEFT JOIN steno.indexed i ON i.transcript = t.id WHERE t.head > coalesce(i.head, 0)
AND NOT EXISTS (SELECT FROM steno.unread u WHERE u.transcript = t.id AND u.head >= t.head)`
)

// fit readies the index for this build, and reports whether it is of its version.
func (l *Ledger) fit(ctx context.Context) (bool, error) {
	version, err := wordsVersion(ctx, l.pool)
	if err != nil || version > indexVersion {
		return false, err
	}
	old := version < indexVersion
	if !old && time.Since(l.index.swept) < sweepEvery {
		return true, nil
	}
	err = pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, migrationLock); err != nil {
			return err
		}
		if version, err = wordsVersion(ctx, tx); err != nil {
			return err
		}
		if version < indexVersion {
			if _, err := tx.Exec(ctx, remakeSQL); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `INSERT INTO steno.index_version VALUES ($1)`, indexVersion); err != nil {
				return err
			}
			version = indexVersion
		}
		if _, err := tx.Exec(ctx, spentSQL); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, sweepSQL)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("look for what is not indexed: %w", err)
	}
	if old {
		l.index.memory.Forget()
	}
	l.index.swept = time.Now()
	return version == indexVersion, nil
}

// wordsVersion is that of the words that are there; 0 = they are to be made again.
func wordsVersion(ctx context.Context, db querier) (version int64, err error) {
	err = db.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM steno.index_version`).Scan(&version)
	return version, err
}
