package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/search"
	"github.com/steno-io/steno/sink/tables"
)

// Bounds of a transaction of the index.
const (
	indexTranscripts = 64
	indexEvents      = 1024    // passed by at most one page of a transcript
	indexBytes       = 4 << 20 // of events, passed likewise
	pageOfOne        = indexEvents / 4
)

// indexTries is after how many failures an event is passed over whose words the database may not be able
// to take.
const indexTries = 5

// index is what a sink that indexes remembers.
type index struct {
	mu      sync.Mutex // one transaction at a time in this process
	memory  search.Memory
	careful bool          // something failed: each event has a transaction of its own
	failed  map[place]int // how often events failed that were alone
	swept   time.Time     // when all transcripts were looked at last
}

const (
	// Those of which an archive must be read come last: it may be away.
	behindSQL = `SELECT transcript FROM (SELECT DISTINCT u.transcript,
EXISTS (SELECT FROM steno.dropped d WHERE d.transcript = u.transcript AND d.last > coalesce(i.head, 0)) AS archived
FROM steno.unread u LEFT JOIN steno.indexed i ON i.transcript = u.transcript WHERE u.head > coalesce(i.head, 0)) b ORDER BY archived, random() LIMIT $1`
	enterSQL = `INSERT INTO steno.indexed (transcript) SELECT id FROM unnest($1::bigint[]) id ORDER BY id ON CONFLICT DO NOTHING`
	headsSQL = `SELECT i.transcript, i.head, coalesce((SELECT max(d.last) FROM steno.dropped d WHERE d.transcript = i.transcript), 0) FROM steno.indexed i
WHERE i.transcript = ANY ($1) ORDER BY array_position($1, i.transcript)`
	// A row that is locked is being indexed by somebody else.
	lockSQL = `SELECT FROM steno.indexed WHERE transcript = $1 AND head = $2 FOR UPDATE SKIP LOCKED`
	wordSQL = `INSERT INTO steno.words (transcript, store_seq, piece, many, at, line)
SELECT transcript, store_seq, piece, many, at, line::tsvector
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::boolean[], $5::bigint[], $6::text[]) AS w (transcript, store_seq, piece, many, at, line)`
	nameSQL      = `SELECT c.key, t.session FROM steno.transcripts t JOIN steno.captures c ON c.id = t.capture WHERE t.id = $1`
	unindexedSQL = `INSERT INTO steno.unindexed (transcript, store_seq, why) VALUES ($1, $2, $3)`
	indexedSQL   = `UPDATE steno.indexed SET head = $2 WHERE transcript = $1`
	readSQL      = `DELETE FROM steno.unread WHERE transcript = $1 AND head <= $2`
)

// Index implements sink.Index: some of the transcripts that are behind, those that no other sink is at. The
// words are made before the transaction that writes them. After a failure each event is alone, so that one
// which the database does not take holds up its own transcript at most, and not for ever.
func (l *Ledger) Index(ctx context.Context) (int, error) {
	if l.readOnly {
		return 0, errReadOnly
	}
	l.index.mu.Lock()
	defer l.index.mu.Unlock()
	n, err := l.indexNext(ctx)
	if err != nil {
		l.index.memory.Forget()
		return 0, fmt.Errorf("index ledger %s: %w", l.name, unreachable(forbidden(err)))
	}
	return n, nil
}

func (l *Ledger) indexNext(ctx context.Context) (int, error) {
	if fits, err := l.fit(ctx); err != nil || !fits {
		return 0, err
	}
	ids, err := l.behind(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if _, err := l.pool.Exec(ctx, enterSQL, ids); err != nil {
		return 0, err
	}
	pages, err := l.unindexed(ctx, ids)
	if err != nil {
		return 0, err
	}
	if !l.index.careful {
		n, err := l.indexPages(ctx, pages)
		if !errors.Is(refused(err), sink.ErrRefused) {
			l.index.careful = err != nil && ctx.Err() == nil
			return n, err
		}
		l.index.memory.Forget()
	}
	return l.indexEach(ctx, pages)
}

// behind gives some of the transcripts that are not indexed to their heads.
func (l *Ledger) behind(ctx context.Context) ([]int64, error) {
	rows, err := l.pool.Query(ctx, behindSQL, indexTranscripts)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// page is of a transcript's events, those behind its head in the index.
type page struct {
	transcript, head int64
	dropped          int64 // events up to this one are in an archive
	events           []stored
}

// stored is a stored event.
type stored struct {
	Seq   int64
	Event []byte
}

// unindexed reads the pages of transcripts that are next.
func (l *Ledger) unindexed(ctx context.Context, ids []int64) ([]page, error) {
	rows, err := l.pool.Query(ctx, headsSQL, ids)
	if err != nil {
		return nil, err
	}
	pages, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p page, err error) {
		err = row.Scan(&p.transcript, &p.head, &p.dropped)
		return p, err
	})
	if err != nil {
		return nil, err
	}
	count, size := 0, 0
	var out []page
	var away error
	for _, p := range pages {
		if count >= indexEvents || size >= indexBytes {
			break
		}
		if p.head < p.dropped {
			if p.events, err = l.archived(ctx, p); err != nil {
				away = fmt.Errorf("read what was dropped: %v", err) // whatever it is of, it is not of the database
				continue
			}
		} else if p.events, err = l.page(ctx, p); err != nil {
			return nil, err
		}
		for _, e := range p.events {
			count, size = count+1, size+len(e.Event)
		}
		if len(p.events) > 0 {
			out = append(out, p)
		}
	}
	if len(out) == 0 { // else it is said when nothing else is left
		return nil, away
	}
	return out, nil
}

// page reads events of a transcript that are not indexed yet.
func (l *Ledger) page(ctx context.Context, p page) ([]stored, error) {
	rows, err := l.pool.Query(ctx, pageSQL, p.transcript, p.head+1, pageOfOne, tables.PageBytes)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[stored])
}

// archived reads such events that only an archive has. Without one they stay behind.
func (l *Ledger) archived(ctx context.Context, p page) (out []stored, err error) {
	if l.sealed == nil {
		return nil, nil
	}
	var name string
	var session uint32
	if err := l.pool.QueryRow(ctx, nameSQL, p.transcript).Scan(&name, &session); err != nil {
		return nil, err
	}
	id, err := schema.ParseIdentity(name)
	if err != nil {
		return nil, err
	}
	d, err := dropped(ctx, l.pool, p.transcript, p.head+1, schema.Transcript{Identity: id, Session: session})
	if err == nil && d == nil {
		err = fmt.Errorf("event %d of %s was not dropped", p.head+1, name)
	}
	if err != nil {
		return nil, err
	}
	size := 0
	for e, err := range l.sealed(ctx, *d, uint64(p.head)+1) {
		if err != nil {
			return nil, err
		}
		out, size = append(out, stored{int64(e.Seq), e.Bytes}), size+len(e.Bytes)
		if len(out) == pageOfOne || size >= tables.PageBytes {
			break
		}
	}
	return out, nil
}

// indexing is an event that is being indexed.
type indexing struct {
	transcript, seq int64
	at              int64
	pieces          []string
	why             error // set: it cannot be indexed
}

// fold makes the words of a page. It takes seconds where events are very large, and ends with ctx.
func (l *Ledger) fold(ctx context.Context, p page) ([]indexing, error) {
	out := make([]indexing, 0, len(p.events))
	for _, stored := range p.events {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e := indexing{transcript: p.transcript, seq: stored.Seq}
		w, why := tables.ReadWords(&l.index.memory, p.transcript, e.seq, stored.Event)
		e.at, e.why = w.At, why
		if why == nil {
			e.pieces = w.Texts.Pieces()
		}
		out = append(out, e)
	}
	return out, nil
}

// indexPages indexes pages in one transaction.
func (l *Ledger) indexPages(ctx context.Context, pages []page) (int, error) {
	folded := make([][]indexing, len(pages))
	for i, p := range pages {
		var err error
		if folded[i], err = l.fold(ctx, p); err != nil {
			return 0, err
		}
	}
	return l.put(ctx, pages, folded)
}

// put writes the words of those pages whose transcripts it can lock where they were when they were read.
func (l *Ledger) put(ctx context.Context, pages []page, folded [][]indexing) (int, error) {
	ctx, done := outlive(ctx, grace)
	defer done()
	var batch []indexing
	skipped := false
	err := pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, silenceSQL); err != nil {
			return err
		}
		fits, err := tx.Exec(ctx, shareSQL)
		if err != nil {
			return err
		}
		if fits.RowsAffected() == 0 { // somebody has begun to make other words
			skipped = true
			return nil
		}
		for i, p := range pages {
			locked, err := tx.Exec(ctx, lockSQL, p.transcript, p.head)
			if err != nil {
				return err
			}
			if locked.RowsAffected() == 0 {
				skipped = true
				continue
			}
			head := folded[i][len(folded[i])-1].seq
			for _, sql := range []string{indexedSQL, readSQL} {
				if _, err := tx.Exec(ctx, sql, p.transcript, head); err != nil {
					return err
				}
			}
			batch = append(batch, folded[i]...)
		}
		return putWords(ctx, tx, batch)
	})
	if skipped { // what was made of it is not indexed by this process
		l.index.memory.Forget()
	}
	if err != nil {
		return 0, err
	}
	return len(batch), nil
}

// indexEach indexes the events of pages one by one, and passes over those that the database does not take.
// Behind one that fails the rest of its transcript waits, and nothing else.
func (l *Ledger) indexEach(ctx context.Context, pages []page) (int, error) {
	n := 0
	var failure error
	for _, p := range pages {
		for _, e := range p.events {
			took, err := l.indexOne(ctx, page{transcript: p.transcript, head: p.head, events: []stored{e}})
			if ctx.Err() != nil || errors.Is(unreachable(err), ErrUnreachable) {
				return n, err
			}
			if err != nil {
				failure = fmt.Errorf("event %d of transcript %d: %w", e.Seq, p.transcript, err)
			}
			if took == 0 {
				break
			}
			n, p.head = n+took, e.Seq
		}
	}
	l.index.careful = failure != nil
	return n, failure
}

// indexOne indexes a page of one event, or says of it that it cannot be indexed.
func (l *Ledger) indexOne(ctx context.Context, p page) (int, error) {
	at := place{p.transcript, uint64(p.events[0].Seq)}
	n, err := l.indexPages(ctx, []page{p})
	if err == nil || ctx.Err() != nil {
		delete(l.index.failed, at)
		return n, err
	}
	l.index.memory.Forget()
	if !errors.Is(refused(err), sink.ErrRefused) {
		if !maybeTheEvent(err) {
			return 0, err
		}
		if l.index.failed == nil {
			l.index.failed = map[place]int{}
		}
		if l.index.failed[at]++; l.index.failed[at] < indexTries {
			return 0, err
		}
	}
	if n, err = l.put(ctx, []page{p}, [][]indexing{{{transcript: p.transcript, seq: p.events[0].Seq, why: err}}}); err == nil {
		delete(l.index.failed, at)
	}
	return n, err
}

// maybeTheEvent reports whether an event may be why its transaction failed, by its size or by a fault of
// the database: not a full disk, missing rights, or a server that is shut down.
func maybeTheEvent(err error) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return true // the connection was lost
	}
	switch e.Code {
	case pgQueryCanceled, "57P02" /* crash */, "53200" /* out of memory */, "25P03" /* idle in transaction */, "25P04" /* transaction timeout */, "XX000":
		return true
	}
	return false
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
