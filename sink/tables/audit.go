package tables

import (
	"database/sql"

	"github.com/steno-io/steno/sink"
)

// SessionColumns are those that ScanCaptures reads behind CaptureColumns; t is transcripts.
const SessionColumns = `t.session, t.head, t.dropped, t.frames`

// ScanCaptures reads captures with their sessions, a row for each session, or one with nulls for a
// capture that has none. They come in the order of keys and sessions.
func ScanCaptures(rows Rows) ([]sink.CaptureInfo, error) {
	var out []sink.CaptureInfo
	for rows.Next() {
		var cr captureRow
		var session, head, dropped, frames sql.NullInt64
		if err := rows.Scan(append(cr.dest(), &session, &head, &dropped, &frames)...); err != nil {
			return nil, err
		}
		c, err := cr.capture()
		if err != nil {
			return nil, err
		}
		if n := len(out); n == 0 || out[n-1].ID != c.ID {
			out = append(out, sink.CaptureInfo{Capture: *c})
		}
		if session.Valid {
			last := &out[len(out)-1]
			last.Sessions = append(last.Sessions, sink.SessionInfo{
				Session: uint32(session.Int64), Head: uint64(head.Int64), Dropped: uint64(dropped.Int64), Frames: uint64(frames.Int64),
			})
		}
	}
	return out, rows.Err()
}

// PositionColumns are those that ScanPosition reads, of partitions.
const PositionColumns = `created, seq, digest`

// ScanPosition reads a position that stands behind other columns.
func ScanPosition(from Row, before ...any) (sink.Position, error) {
	var created string
	var seq int64
	var p sink.Position
	if err := from.Scan(append(before, &created, &seq, &p.Digest)...); err != nil {
		return sink.Position{}, err
	}
	var err error
	p.Seq = uint64(seq)
	p.Created, err = ReadTime(created)
	return p, err
}

// ScanPositions reads the position of every partition: its number, then PositionColumns.
func ScanPositions(rows Rows) (map[uint32]sink.Position, error) {
	out := map[uint32]sink.Position{}
	for rows.Next() {
		var partition uint32
		p, err := ScanPosition(rows, &partition)
		if err != nil {
			return nil, err
		}
		out[partition] = p
	}
	return out, rows.Err()
}
