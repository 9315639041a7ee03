package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/tables"
)

// Claim implements sink.Ledger.
func (l *Ledger) Claim(ctx context.Context, partition uint32) (sink.Claim, error) {
	c := sink.Claim{Partition: partition}
	err := l.transact(ctx, func(ctx context.Context, w *writer) error {
		var epoch int64
		var err error
		c.Position, err = tables.ScanPosition(w.claim.QueryRowContext(ctx, partition), &epoch)
		c.Epoch = uint64(epoch)
		return err
	})
	if err != nil {
		return sink.Claim{}, fmt.Errorf("claim partition %d in ledger %s: %w", partition, l.path, err)
	}
	return c, nil
}

// Store implements sink.Ledger.
func (l *Ledger) Store(ctx context.Context, b sink.Batch) (sink.Stored, error) {
	var out sink.Numbered
	err := l.transact(ctx, func(ctx context.Context, w *writer) error {
		if err := w.move(ctx, b); err != nil {
			return err
		}
		var err error
		if out, err = sink.Number(ctx, w, b); err != nil {
			return err
		}
		return w.save(ctx, out)
	})
	if err != nil {
		return sink.Stored{}, fmt.Errorf("store batch of partition %d up to sequence %d in ledger %s: %w",
			b.Claim.Partition, b.Position.Seq, l.path, err)
	}
	return out.Stored, nil
}

// move is the guarded update that comes first in every transaction.
func (w *writer) move(ctx context.Context, b sink.Batch) error {
	p := b.Position
	rows, err := changed(w.position.ExecContext(ctx, tables.WriteTime(p.Created), int64(p.Seq), p.Digest, b.Claim.Partition, int64(b.Claim.Epoch)))
	if err != nil {
		return err
	}
	if rows == 0 {
		return fmt.Errorf("epoch %d is over: %w", b.Claim.Epoch, sink.ErrFenced)
	}
	return nil
}

// changed is how many rows a statement changed.
func changed(res sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Capture implements sink.Tx.
func (w *writer) Capture(ctx context.Context, id schema.Identity) (*sink.Capture, error) {
	c, err := tables.ScanCapture(w.findCapture.QueryRowContext(ctx, id.String()))
	if errors.Is(err, sql.ErrNoRows) {
		c = &sink.Capture{Capture: id}
		err = w.makeCapture.QueryRowContext(ctx, id.String()).Scan(&c.ID)
	}
	return c, err
}

// Transcript implements sink.Tx.
func (w *writer) Transcript(ctx context.Context, c *sink.Capture, session uint32) (*sink.Transcript, error) {
	t, err := tables.ScanTranscript(w.findTranscript.QueryRowContext(ctx, c.ID, session))
	if errors.Is(err, sql.ErrNoRows) {
		t = &sink.Transcript{Session: session}
		err = w.makeTranscript.QueryRowContext(ctx, c.ID, session).Scan(&t.ID)
	}
	return t, err
}

// Event implements sink.Tx. An event that somebody took out of the table has no bytes.
func (w *writer) Event(ctx context.Context, t *sink.Transcript, seq uint64) ([]byte, error) {
	var event []byte
	err := w.findEvent.QueryRowContext(ctx, t.ID, int64(seq)).Scan(&event)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return event, err
}

// Dropped implements sink.Tx. Events mostly come again in a row.
func (w *writer) Dropped(ctx context.Context, t *sink.Transcript, seq uint64) ([]byte, error) {
	if d := w.piece; d != nil && w.pieceOf == t.ID && seq >= d.First && seq <= d.Last {
		return d.Digest(seq), nil
	}
	d, err := droppedWith(w.dropped.QueryRowContext(ctx, t.ID, int64(seq), int64(seq)), schema.Transcript{})
	if err != nil {
		return nil, fmt.Errorf("find the piece that it was dropped with: %w", err)
	}
	if d == nil {
		return nil, nil
	}
	w.piece, w.pieceOf = d, t.ID
	return d.Digest(seq), nil
}

// Put implements sink.Tx.
func (w *writer) Put(ctx context.Context, t *sink.Transcript, seq uint64, event []byte) error {
	_, err := w.putEvent.ExecContext(ctx, t.ID, int64(seq), event)
	return err
}

func (w *writer) save(ctx context.Context, n sink.Numbered) error {
	for _, c := range n.Captures {
		if err := w.saveC(ctx, c); err != nil {
			return fmt.Errorf("save capture %s: %w", c.Capture, err)
		}
	}
	for i, t := range n.Transcripts {
		if err := w.saveT(ctx, t); err != nil {
			return fmt.Errorf("save transcript %s: %w", n.Heads[i].Transcript, err)
		}
	}
	return nil
}

func (w *writer) saveC(ctx context.Context, c *sink.Capture) error {
	values, err := tables.CaptureValues(c)
	if err != nil {
		return err
	}
	_, err = w.saveCapture.ExecContext(ctx, values...)
	return err
}

func (w *writer) saveT(ctx context.Context, t *sink.Transcript) error {
	values, err := tables.TranscriptValues(t)
	if err != nil {
		return err
	}
	_, err = w.saveTranscript.ExecContext(ctx, values...)
	return err
}
