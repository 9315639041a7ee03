package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/search"
	"github.com/steno-io/steno/sink/tables"
)

// Bounds of a transaction of the index.
const (
	indexTranscripts = 64
	indexEvents      = 1024    // passed by at most one page of a transcript
	indexBytes       = 4 << 20 // of events, passed likewise
)

// index is what a sink that indexes remembers.
type index struct {
	mu     sync.Mutex // one transaction at a time in this process
	memory search.Memory
}

const (
	behindSQL = `SELECT t.id FROM steno.transcripts t LEFT JOIN steno.indexed i ON i.transcript = t.id
WHERE t.head > coalesce(i.head, 0) ORDER BY random() LIMIT $1`
	enterSQL = `INSERT INTO steno.indexed (transcript) SELECT id FROM unnest($1::bigint[]) id ORDER BY id ON CONFLICT DO NOTHING`
	// A row that is locked is being indexed by somebody else.
	lockSQL = `SELECT head FROM steno.indexed WHERE transcript = $1 FOR UPDATE SKIP LOCKED`
	wordSQL = `INSERT INTO steno.words (transcript, store_seq, piece, many, at, line)
SELECT transcript, store_seq, piece, many, at, line::tsvector
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::boolean[], $5::bigint[], $6::text[]) AS w (transcript, store_seq, piece, many, at, line)`
	unindexedSQL = `INSERT INTO steno.unindexed (transcript, store_seq, why) VALUES ($1, $2, $3)`
	indexedSQL   = `UPDATE steno.indexed SET head = $2 WHERE transcript = $1`
)

// Index implements sink.Index: some of the transcripts that are behind, those that no other sink is at.
func (l *Ledger) Index(ctx context.Context) (int, error) {
	if l.readOnly {
		return 0, errReadOnly
	}
	l.index.mu.Lock()
	defer l.index.mu.Unlock()
	n, err := l.indexNext(ctx)
	if err != nil {
		l.index.memory.Forget()
		return 0, fmt.Errorf("index ledger %s: %w", l.name, unreachable(err))
	}
	return n, nil
}

func (l *Ledger) indexNext(ctx context.Context) (n int, err error) {
	conn, err := l.pool.Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Release()
	rows, err := conn.Query(ctx, behindSQL, indexTranscripts)
	if err != nil {
		return 0, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if _, err := conn.Exec(ctx, enterSQL, ids); err != nil {
		return 0, err
	}
	ctx, done := outlive(ctx, grace)
	defer done()
	err = pgx.BeginFunc(ctx, conn.Conn(), func(tx pgx.Tx) (err error) {
		n, err = l.indexIn(ctx, tx, ids)
		return err
	})
	return n, err
}

// indexIn indexes those of the transcripts that it can lock.
func (l *Ledger) indexIn(ctx context.Context, tx pgx.Tx, ids []int64) (int, error) {
	if _, err := tx.Exec(ctx, silenceSQL); err != nil {
		return 0, err
	}
	var batch []indexing
	size := 0
	for _, id := range ids {
		if len(batch) >= indexEvents || size >= indexBytes {
			break
		}
		var head int64
		err := tx.QueryRow(ctx, lockSQL, id).Scan(&head)
		if errors.Is(err, pgx.ErrNoRows) {
			continue
		}
		if err != nil {
			return 0, err
		}
		events, bytes, err := l.unindexed(ctx, tx, id, head)
		if err != nil {
			return 0, err
		}
		if len(events) == 0 {
			continue
		}
		batch, size = append(batch, events...), size+bytes
		if _, err := tx.Exec(ctx, indexedSQL, id, events[len(events)-1].seq); err != nil {
			return 0, err
		}
	}
	return len(batch), l.indexBatch(ctx, tx, batch)
}

// indexing is an event that is being indexed.
type indexing struct {
	transcript, seq int64
	at              int64
	pieces          []string
	why             error // set: it cannot be indexed
}

// unindexed reads a page of a transcript's events behind a number.
func (l *Ledger) unindexed(ctx context.Context, tx pgx.Tx, transcript, head int64) (out []indexing, size int, err error) {
	rows, err := tx.Query(ctx, pageSQL, transcript, head+1, indexEvents/4, tables.PageBytes)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		e := indexing{transcript: transcript}
		var event []byte
		if err := rows.Scan(&e.seq, &event); err != nil {
			return nil, 0, err
		}
		size += len(event)
		w, why := tables.ReadWords(&l.index.memory, transcript, e.seq, event)
		e.at, e.why = w.At, why
		if why == nil {
			e.pieces = w.Texts.Pieces()
		}
		out = append(out, e)
	}
	return out, size, rows.Err()
}

// indexBatch writes the words of events; where the database does not take them all, of each that it takes.
func (l *Ledger) indexBatch(ctx context.Context, tx pgx.Tx, batch []indexing) error {
	err := savepoint(ctx, tx, func(tx pgx.Tx) error { return putWords(ctx, tx, batch) })
	if !errors.Is(refused(err), sink.ErrRefused) {
		return err
	}
	for _, e := range batch {
		err := savepoint(ctx, tx, func(tx pgx.Tx) error { return putWords(ctx, tx, []indexing{e}) })
		if errors.Is(refused(err), sink.ErrRefused) {
			e.why, e.pieces = err, nil
			err = putWords(ctx, tx, []indexing{e})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func savepoint(ctx context.Context, tx pgx.Tx, do func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, tx, do)
}

func putWords(ctx context.Context, tx pgx.Tx, batch []indexing) error {
	var transcripts, seqs, pieces, ats []int64
	var many []bool
	var lines []string
	for _, e := range batch {
		if e.why != nil {
			if _, err := tx.Exec(ctx, unindexedSQL, e.transcript, e.seq, []byte(e.why.Error())); err != nil {
				return err
			}
		}
		for i, line := range e.pieces {
			transcripts, seqs, pieces = append(transcripts, e.transcript), append(seqs, e.seq), append(pieces, int64(i))
			many, ats, lines = append(many, len(e.pieces) > 1), append(ats, e.at), append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, wordSQL, transcripts, seqs, pieces, many, ats, lines)
	return err
}
