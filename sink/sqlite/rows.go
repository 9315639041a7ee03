package sqlite

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// The columns that the scan functions read, in their order; c and t are captures and transcripts.
const (
	captureColumns = `c.id, c.key, c.partition, c.last_frame, c.last_part, c.chain, c.translator, c.status, c.open,
c.accounted, c.last_counted, c.shared, c.parked_reason, c.parked_session, c.parked_ordinal, c.parked_have, c.parked_got, c.parked_seq, c.parked_at`
	transcriptColumns = `t.id, t.session, t.head, t.frames, t.messages, t.agent, t.title, t.cwd, t.labels,
t.status, t.prompt, t.protocol, t.dialect, t.session_id, t.stop, t.first_at, t.last_at, t.added_at`
)

// row is a *sql.Row or *sql.Rows.
type row interface{ Scan(dest ...any) error }

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
		if r.p.At, err = readTime(r.parkedAt); err != nil {
			return nil, fmt.Errorf("read capture %s: %w", r.key, err)
		}
		r.c.Parked = &r.p
	}
	return &r.c, nil
}

func scanCapture(from row) (*sink.Capture, error) {
	var r captureRow
	if err := from.Scan(r.dest()...); err != nil {
		return nil, err
	}
	return r.capture()
}

type transcriptRow struct {
	t                         sink.Transcript
	labels, firstAt, lastAt   string
	head, frames, msgs, added int64
}

func (r *transcriptRow) dest() []any {
	t := &r.t
	return []any{
		&t.ID, &t.Session, &r.head, &r.frames, &r.msgs, &t.About.Agent, &t.About.Title, &t.About.Cwd, &r.labels,
		&t.About.Status, &t.Prompt, &t.Source.Protocol, &t.Source.Dialect, &t.Source.SessionID, &t.Stop, &r.firstAt, &r.lastAt, &r.added,
	}
}

func (r *transcriptRow) transcript() (*sink.Transcript, error) {
	t := &r.t
	t.Head, t.Frames, t.Messages = uint64(r.head), uint64(r.frames), uint64(r.msgs)
	t.AddedAt = time.Unix(0, r.added).UTC()
	if r.labels != "" {
		if err := json.Unmarshal([]byte(r.labels), &t.About.Labels); err != nil {
			return nil, fmt.Errorf("read transcript %d: labels %q: %w", t.ID, r.labels, err)
		}
	}
	var err error
	if t.FirstAt, err = readTime(r.firstAt); err != nil {
		return nil, fmt.Errorf("read transcript %d: %w", t.ID, err)
	}
	if t.LastAt, err = readTime(r.lastAt); err != nil {
		return nil, fmt.Errorf("read transcript %d: %w", t.ID, err)
	}
	return t, nil
}

func scanTranscript(from row) (*sink.Transcript, error) {
	var r transcriptRow
	if err := from.Scan(r.dest()...); err != nil {
		return nil, err
	}
	return r.transcript()
}

func readTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("read time: %w", err)
	}
	return t.UTC(), nil
}

func writeOpen(open map[uint32]uint64) (string, error) {
	if len(open) == 0 {
		return "", nil
	}
	text, err := json.Marshal(open)
	return string(text), err
}

func writeShared(shared sink.RangeSet) (string, error) {
	if len(shared) == 0 {
		return "", nil
	}
	text, err := json.Marshal(shared)
	return string(text), err
}

func writeLabels(labels map[string]string) (string, error) {
	if len(labels) == 0 {
		return "", nil
	}
	text, err := json.Marshal(labels)
	return string(text), err
}
