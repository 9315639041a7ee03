package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/tables"
)

const (
	droppedSQL = `SELECT ` + tables.DroppedColumns + ` FROM steno.dropped d WHERE d.transcript = $1 AND d.last >= $2 AND d.first <= $2
ORDER BY d.last LIMIT 1`
	droppedAloneSQL = `SELECT $2::bigint, $2::bigint, d.archive, d.seal, substr(d.digests, (($2 - d.first) * 32 + 1)::int, 32)
FROM steno.dropped d WHERE d.transcript = $1 AND d.last >= $2 AND d.first <= $2 ORDER BY d.last LIMIT 1`

	holdSQL        = `UPDATE steno.partitions SET epoch = epoch WHERE partition = $1 AND epoch = $2`
	findSessionSQL = `SELECT t.id, t.head, t.dropped FROM steno.transcripts t JOIN steno.captures c ON c.id = t.capture
WHERE c.key = $1 AND t.session = $2 FOR UPDATE OF t`
	indexHeadSQL   = `SELECT head FROM steno.indexed WHERE transcript = $1 AND EXISTS (SELECT FROM steno.index_version WHERE version = $2)`
	pieceSQL       = `SELECT store_seq, sha256(event) FROM steno.events WHERE transcript = $1 AND store_seq BETWEEN $2 AND $3 ORDER BY store_seq`
	putDroppedSQL  = `INSERT INTO steno.dropped (transcript, first, last, archive, seal, digests) VALUES ($1, $2, $3, $4, $5, $6)`
	droppedUpToSQL = `UPDATE steno.transcripts SET dropped = $2 WHERE id = $1`
	dropPieceSQL   = `DELETE FROM steno.events WHERE transcript = $1 AND store_seq BETWEEN $2 AND $3`
)

// dropped gives the piece that an event was dropped with; nil if it was not.
func dropped(ctx context.Context, db querier, transcript, seq int64, key schema.Transcript) (*sink.Dropped, error) {
	return droppedIn(db.QueryRow(ctx, droppedSQL, transcript, seq), key)
}

func droppedIn(row pgx.Row, key schema.Transcript) (*sink.Dropped, error) {
	d, err := tables.ScanDropped(row, key)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return d, err
}

// Drop implements sink.Ledger. The server makes the digests, so that no event goes over the network.
func (l *Ledger) Drop(ctx context.Context, c sink.Claim, d sink.Dropped) (bool, error) {
	switch err := l.asOwner(ctx, c, holdSQL, func(ctx context.Context, tx pgx.Tx) error { return dropPiece(ctx, tx, &d) }); {
	case errors.Is(err, tables.ErrDroppedAlready):
		return true, nil
	case errors.Is(err, tables.ErrNotIndexed):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("drop events %d to %d of %s from ledger %s: %w", d.First, d.Last, d.Transcript, l.name, unreachable(forbidden(err)))
	}
	return true, nil
}

// dropPiece drops a piece. The transcript's row is locked: where streams were made anew with another number of
// partitions, two owners may drop of one transcript at a time, and each must see what the other one has dropped.
func dropPiece(ctx context.Context, tx pgx.Tx, d *sink.Dropped) error {
	var head, upTo int64
	t := &sink.Transcript{Session: d.Transcript.Session}
	err := tx.QueryRow(ctx, findSessionSQL, d.Transcript.Identity.String(), int64(t.Session)).Scan(&t.ID, &head, &upTo)
	if errors.Is(err, pgx.ErrNoRows) {
		err = sink.ErrNotFound
	}
	t.Head, t.Dropped = uint64(head), uint64(upTo)
	if err == nil {
		err = tables.MayDrop(d, t)
	}
	if err == nil {
		err = indexHas(ctx, tx, t, d)
	}
	if err == nil {
		err = compare(ctx, tx, t, d)
	}
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, putDroppedSQL, t.ID, int64(d.First), int64(d.Last), d.Archive, int64(d.Seal), d.Digests); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, droppedUpToSQL, t.ID, int64(d.Last)); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, dropPieceSQL, t.ID, int64(d.First), int64(d.Last))
	return err
}

// indexHas looks that the index is behind a piece.
func indexHas(ctx context.Context, tx pgx.Tx, t *sink.Transcript, d *sink.Dropped) error {
	var head int64
	err := tx.QueryRow(ctx, indexHeadSQL, t.ID, indexVersion).Scan(&head)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && head < int64(d.Last) {
		return tables.ErrNotIndexed
	}
	return err
}

// compare holds the events of a piece against its digests.
func compare(ctx context.Context, tx pgx.Tx, t *sink.Transcript, d *sink.Dropped) error {
	rows, err := tx.Query(ctx, pieceSQL, t.ID, int64(d.First), int64(d.Last))
	if err != nil {
		return err
	}
	defer rows.Close()
	next := d.First
	for ; rows.Next(); next++ {
		var seq int64
		var digest []byte
		if err := rows.Scan(&seq, &digest); err != nil {
			return err
		}
		if uint64(seq) != next || !bytes.Equal(digest, d.Digest(next)) {
			return fmt.Errorf("event %d is not what archive %s has: %w", next, d.Archive, sink.ErrOther)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if next <= d.Last {
		return fmt.Errorf("event %d is not there: %w", next, sink.ErrOther)
	}
	return nil
}
