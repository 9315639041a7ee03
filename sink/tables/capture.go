package tables

import (
	"encoding/json"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// CaptureColumns are those that ScanCapture reads; c is captures.
const CaptureColumns = `c.id, c.key, c.partition, c.last_frame, c.last_part, c.chain, c.translator, c.status, c.open,
c.accounted, c.last_counted, c.shared, c.parked_reason, c.parked_session, c.parked_ordinal, c.parked_have, c.parked_got, c.parked_seq, c.parked_at`

// captureRow holds a row of captures between the database and sink.Capture. Numbers are stored as
// the signed integers of the same bits.
type captureRow struct {
	c                                    sink.Capture
	p                                    sink.Parked
	key, open, shared, parkedAt          string
	frame, accounted, ordinal, parkedSeq int64
	counted                              int64
}

func (r *captureRow) dest() []any {
	return []any{
		&r.c.ID, &r.key, &r.c.Partition, &r.frame, &r.c.Last.Part, &r.c.Chain, &r.c.Translator, &r.c.Status, &r.open,
		&r.accounted, &r.counted, &r.shared, &r.p.Reason, &r.p.Session, &r.ordinal, &r.p.Have, &r.p.Got, &r.parkedSeq, &r.parkedAt,
	}
}

func (r *captureRow) capture() (*sink.Capture, error) {
	var err error
	if r.c.Capture, err = schema.ParseIdentity(r.key); err != nil {
		return nil, fmt.Errorf("read capture %d: %w", r.c.ID, err)
	}
	if r.open != "" {
		if err := json.Unmarshal([]byte(r.open), &r.c.Open); err != nil {
			return nil, fmt.Errorf("read capture %s: open frames %q: %w", r.key, r.open, err)
		}
	}
	if r.shared != "" {
		if err := json.Unmarshal([]byte(r.shared), &r.c.Shared); err != nil {
			return nil, fmt.Errorf("read capture %s: shared frames %q: %w", r.key, r.shared, err)
		}
	}
	r.c.Last.Frame, r.c.Accounted, r.c.LastCounted = uint64(r.frame), uint64(r.accounted), uint64(r.counted)
	if r.p.Reason != "" {
		r.p.Capture, r.p.Ordinal, r.p.Seq = r.c.Capture, uint64(r.ordinal), uint64(r.parkedSeq)
		if r.p.At, err = ReadTime(r.parkedAt); err != nil {
			return nil, fmt.Errorf("read capture %s: %w", r.key, err)
		}
		r.c.Parked = &r.p
	}
	return &r.c, nil
}

// ScanCapture reads a row of CaptureColumns.
func ScanCapture(from Row) (*sink.Capture, error) {
	var r captureRow
	if err := from.Scan(r.dest()...); err != nil {
		return nil, err
	}
	return r.capture()
}

// CaptureValues are a capture's values of CaptureColumns, in their order.
func CaptureValues(c *sink.Capture) ([]any, error) {
	open, err := writeJSON(c.Open, len(c.Open))
	if err != nil {
		return nil, err
	}
	shared, err := writeJSON(c.Shared, len(c.Shared))
	if err != nil {
		return nil, err
	}
	var p sink.Parked
	if c.Parked != nil {
		p = *c.Parked
	}
	return []any{
		c.ID, c.Capture.String(), int64(c.Partition), int64(c.Last.Frame), int64(c.Last.Part), c.Chain, c.Translator, string(c.Status), open,
		int64(c.Accounted), int64(c.LastCounted), shared, string(p.Reason), int64(p.Session), int64(p.Ordinal), p.Have, p.Got, int64(p.Seq), WriteTime(p.At),
	}, nil
}

// writeJSON writes a value of so many members; an empty one is empty.
func writeJSON(v any, members int) (string, error) {
	if members == 0 {
		return "", nil
	}
	text, err := json.Marshal(v)
	return string(text), err
}
