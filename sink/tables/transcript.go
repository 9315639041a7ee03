package tables

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// StoredColumns are those of a transcript that storing changes; t is transcripts.
const StoredColumns = `t.id, t.session, t.head, t.frames, t.messages, t.agent, t.title, t.cwd, t.labels,
t.status, t.prompt, t.protocol, t.dialect, t.session_id, t.stop, t.first_at, t.last_at, t.added_at`

// TranscriptColumns are those that ScanTranscript reads. What is dropped is not storing's to say: the owner of
// another partition may have dropped something since the transcript was read, where streams were made anew with
// another number of them.
const TranscriptColumns = StoredColumns + `, t.dropped`

// transcriptRow holds a row of transcripts between the database and sink.Transcript.
type transcriptRow struct {
	t                                        sink.Transcript
	agent, title, cwd, labels, prompt        Text
	protocol, dialect, sessionID, stop       Text
	status, firstAt, lastAt                  string
	head, frames, messages, addedNanoseconds int64
	dropped                                  int64
}

func (r *transcriptRow) dest() []any {
	return []any{
		&r.t.ID, &r.t.Session, &r.head, &r.frames, &r.messages, &r.agent, &r.title, &r.cwd, &r.labels,
		&r.status, &r.prompt, &r.protocol, &r.dialect, &r.sessionID, &r.stop, &r.firstAt, &r.lastAt, &r.addedNanoseconds, &r.dropped,
	}
}

func (r *transcriptRow) transcript() (*sink.Transcript, error) {
	t := &r.t
	t.Head, t.Dropped, t.Frames, t.Messages = uint64(r.head), uint64(r.dropped), uint64(r.frames), uint64(r.messages)
	t.About.Agent, t.About.Title, t.About.Cwd, t.About.Status = string(r.agent), string(r.title), string(r.cwd), schema.Status(r.status)
	t.Prompt, t.Stop = string(r.prompt), schema.StopReason(r.stop)
	t.Source.Protocol, t.Source.Dialect, t.Source.SessionID = schema.Protocol(r.protocol), string(r.dialect), string(r.sessionID)
	t.AddedAt = time.Unix(0, r.addedNanoseconds).UTC()
	if r.labels != "" {
		if err := json.Unmarshal([]byte(r.labels), &t.About.Labels); err != nil {
			return nil, fmt.Errorf("read transcript %d: labels %q: %w", t.ID, r.labels, err)
		}
	}
	var err error
	if t.FirstAt, err = ReadTime(r.firstAt); err != nil {
		return nil, fmt.Errorf("read transcript %d: %w", t.ID, err)
	}
	if t.LastAt, err = ReadTime(r.lastAt); err != nil {
		return nil, fmt.Errorf("read transcript %d: %w", t.ID, err)
	}
	return t, nil
}

// ScanTranscript reads a row of TranscriptColumns.
func ScanTranscript(from Row) (*sink.Transcript, error) {
	var r transcriptRow
	if err := from.Scan(r.dest()...); err != nil {
		return nil, err
	}
	return r.transcript()
}

// TranscriptValues are a transcript's values of StoredColumns, in their order.
func TranscriptValues(t *sink.Transcript) ([]any, error) {
	labels, err := writeJSON(t.About.Labels, len(t.About.Labels))
	if err != nil {
		return nil, err
	}
	return []any{
		t.ID, int64(t.Session), int64(t.Head), int64(t.Frames), int64(t.Messages), Text(t.About.Agent), Text(t.About.Title), Text(t.About.Cwd), Text(labels),
		string(t.About.Status), Text(t.Prompt), Text(t.Source.Protocol), Text(t.Source.Dialect), Text(t.Source.SessionID), Text(t.Stop),
		WriteTime(t.FirstAt), WriteTime(t.LastAt), t.AddedAt.UnixNano(),
	}, nil
}
