package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/tables"
)

// tx is one transaction that stores a batch. What the batch needs is read ahead of the numbering,
// what it changes is written behind it.
type tx struct {
	conn        *pgx.Conn
	captures    map[string]*sink.Capture
	transcripts map[sessionOf]*sink.Transcript
	made        []*sink.Capture // those that the ledger did not have
	ids         []int64         // drawn and not given yet
	events      []event         // put, in order
	put         map[place]int   // index in events
	read        map[place][]byte
	capture     map[*sink.Transcript]int64
	dropped     map[int64]*sink.Dropped // the piece of a transcript that was asked for last
}

var _ sink.Tx = (*tx)(nil)

// sessionOf names a transcript by its capture's id.
type sessionOf struct {
	capture int64
	session uint32
}

// place is a number in a transcript.
type place struct {
	transcript int64
	seq        uint64
}

type event struct {
	place
	bytes []byte
}

func newTx(conn *pgx.Conn) *tx {
	return &tx{
		conn: conn, captures: map[string]*sink.Capture{}, transcripts: map[sessionOf]*sink.Transcript{},
		put: map[place]int{}, read: map[place][]byte{}, capture: map[*sink.Transcript]int64{},
		dropped: map[int64]*sink.Dropped{},
	}
}

// A client that falls silent in the middle of its transaction holds the partition's row: the server
// ends it.
const silenceSQL = `SET LOCAL idle_in_transaction_session_timeout = '10s'`

const (
	positionSQL = `UPDATE steno.partitions SET created = $1, seq = $2, digest = $3 WHERE partition = $4 AND epoch = $5`

	findCapturesSQL    = `SELECT ` + tables.CaptureColumns + ` FROM steno.captures c WHERE c.key = ANY ($1)`
	findTranscriptsSQL = `SELECT t.capture, ` + tables.TranscriptColumns + ` FROM steno.transcripts t
WHERE t.capture IN (SELECT c.id FROM steno.captures c WHERE c.key = ANY ($1)) AND t.session = ANY ($2)`
)

// begin begins the transaction with the guarded update, and reads what is kept of the captures and
// sessions that the batch names. The update's lock makes that what the earlier owner left.
func (t *tx) begin(ctx context.Context, b sink.Batch) error {
	keys, sessions := b.Names()
	var batch pgx.Batch
	batch.Queue(`BEGIN`)
	batch.Queue(silenceSQL)
	batch.Queue(positionSQL, tables.WriteTime(b.Position.Created), int64(b.Position.Seq), b.Position.Digest, int64(b.Claim.Partition), int64(b.Claim.Epoch))
	batch.Queue(findCapturesSQL, keys)
	batch.Queue(findTranscriptsSQL, keys, sessions)
	answers := t.conn.SendBatch(ctx, &batch)
	err := t.begun(answers, b)
	if closing := answers.Close(); err == nil {
		err = closing
	}
	return err
}

func (t *tx) begun(answers pgx.BatchResults, b sink.Batch) error {
	for range 2 {
		if _, err := answers.Exec(); err != nil {
			return err
		}
	}
	moved, err := answers.Exec()
	if err != nil {
		return err
	}
	if moved.RowsAffected() == 0 {
		return fmt.Errorf("epoch %d is over: %w", b.Claim.Epoch, sink.ErrFenced)
	}
	captures, err := answers.Query()
	if err != nil {
		return err
	}
	for captures.Next() {
		c, err := tables.ScanCapture(captures)
		if err != nil {
			return err
		}
		t.captures[c.Capture.String()] = c
	}
	if err := captures.Err(); err != nil {
		return err
	}
	transcripts, err := answers.Query()
	if err != nil {
		return err
	}
	for transcripts.Next() {
		var capture int64
		kept, err := tables.ScanTranscript(behind{transcripts, &capture})
		if err != nil {
			return err
		}
		t.transcripts[sessionOf{capture, kept.Session}] = kept
		t.capture[kept] = capture
	}
	return transcripts.Err()
}

// behind is a row whose first column is read apart.
type behind struct {
	tables.Row
	first any
}

func (b behind) Scan(dest ...any) error { return b.Row.Scan(append([]any{b.first}, dest...)...) }

// Capture implements sink.Tx.
func (t *tx) Capture(ctx context.Context, id schema.Identity) (*sink.Capture, error) {
	key := id.String()
	if c, ok := t.captures[key]; ok {
		return c, nil
	}
	fresh, err := t.id(ctx)
	if err != nil {
		return nil, err
	}
	c := &sink.Capture{ID: fresh, Capture: id}
	t.captures[key] = c
	t.made = append(t.made, c)
	return c, nil
}

// Transcript implements sink.Tx.
func (t *tx) Transcript(ctx context.Context, c *sink.Capture, session uint32) (*sink.Transcript, error) {
	key := sessionOf{c.ID, session}
	if kept, ok := t.transcripts[key]; ok {
		return kept, nil
	}
	fresh, err := t.id(ctx)
	if err != nil {
		return nil, err
	}
	made := &sink.Transcript{ID: fresh, Session: session}
	t.transcripts[key] = made
	t.capture[made] = c.ID
	return made, nil
}

// id gives an id for a new capture or transcript. They are drawn in the transaction that uses them,
// so that none outlives a failover to a server which has not heard of it.
func (t *tx) id(ctx context.Context) (int64, error) {
	const atOnce = 64
	if len(t.ids) == 0 {
		rows, err := t.conn.Query(ctx, `SELECT nextval('steno.ids') FROM generate_series(1, $1)`, atOnce)
		if err != nil {
			return 0, err
		}
		if t.ids, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err != nil {
			return 0, fmt.Errorf("draw ids: %w", err)
		}
	}
	id := t.ids[0]
	t.ids = t.ids[1:]
	return id, nil
}

// Put implements sink.Tx.
func (t *tx) Put(_ context.Context, of *sink.Transcript, seq uint64, bytes []byte) error {
	at := place{of.ID, seq}
	t.put[at] = len(t.events)
	t.events = append(t.events, event{at, bytes})
	return nil
}

// Event implements sink.Tx. Records that came before mostly come again in a row, so the events
// behind one that is asked for are read with it.
func (t *tx) Event(ctx context.Context, of *sink.Transcript, seq uint64) ([]byte, error) {
	const ahead = 128
	at := place{of.ID, seq}
	if i, ok := t.put[at]; ok {
		return t.events[i].bytes, nil
	}
	if bytes, ok := t.read[at]; ok {
		return bytes, nil
	}
	clear(t.read)
	rows, err := t.conn.Query(ctx, pageSQL, of.ID, int64(seq), ahead, tables.PageBytes)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	read, err := tables.ScanEvents(nil, rows, func(seq *int64, event *[]byte) error { return rows.Scan(seq, event) })
	if err != nil {
		return nil, err
	}
	for _, e := range read {
		t.read[place{of.ID, e.Seq}] = e.Bytes
	}
	return t.read[at], nil // an event that somebody took out of the table has no bytes
}

// Dropped implements sink.Tx. Events mostly come again in a row.
func (t *tx) Dropped(ctx context.Context, of *sink.Transcript, seq uint64) ([]byte, error) {
	if d := t.dropped[of.ID]; d != nil && seq >= d.First && seq <= d.Last {
		return d.Digest(seq), nil
	}
	d, err := dropped(ctx, t.conn, of.ID, int64(seq), schema.Transcript{})
	if err != nil {
		return nil, fmt.Errorf("find the piece that it was dropped with: %w", err)
	}
	if d == nil {
		return nil, nil
	}
	t.dropped[of.ID] = d
	return d.Digest(seq), nil
}
