package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/tables"
)

// saveCaptureSQL and saveTranscriptSQL make a row or change it: every column but those that name it.
var (
	saveCaptureSQL    = upsert("captures", "c.", tables.CaptureColumns, "id", "key")
	saveTranscriptSQL = upsert("transcripts", "t.", tables.StoredColumns+", t.capture", "id", "session", "capture")
)

func upsert(table, alias, columns string, fixed ...string) string {
	var names, values, changes []string
	for i, column := range strings.Split(columns, ",") {
		name := strings.TrimPrefix(strings.TrimSpace(column), alias)
		names = append(names, name)
		values = append(values, fmt.Sprintf("$%d", i+1))
		if !slices.Contains(fixed, name) {
			changes = append(changes, name+" = excluded."+name)
		}
	}
	return fmt.Sprintf("INSERT INTO steno.%s (%s) VALUES (%s) ON CONFLICT (id) DO UPDATE SET %s",
		table, strings.Join(names, ", "), strings.Join(values, ", "), strings.Join(changes, ", "))
}

// unreadSQL names what is to be indexed.
const unreadSQL = `INSERT INTO steno.unread (transcript, head) SELECT * FROM unnest($1::bigint[], $2::bigint[])`

// heads gives the transcripts that got events, and their last numbers.
func (t *tx) heads() []any {
	last := map[int64]int64{}
	for _, e := range t.events {
		last[e.transcript] = max(last[e.transcript], int64(e.seq))
	}
	transcripts, heads := make([]int64, 0, len(last)), make([]int64, 0, len(last))
	for transcript, head := range last {
		transcripts, heads = append(transcripts, transcript), append(heads, head)
	}
	return []any{transcripts, heads}
}

// saveAndCommit writes what the numbering changed, and commits, in one round trip.
func (t *tx) saveAndCommit(ctx context.Context, n sink.Numbered) error {
	var batch pgx.Batch
	for _, c := range n.Captures {
		if err := queueCapture(&batch, c); err != nil {
			return fmt.Errorf("save capture %s: %w", c.Capture, err)
		}
	}
	for _, c := range t.made {
		if slices.Contains(n.Captures, c) {
			continue
		}
		if err := queueCapture(&batch, c); err != nil {
			return fmt.Errorf("save capture %s: %w", c.Capture, err)
		}
	}
	for i, kept := range n.Transcripts {
		values, err := tables.TranscriptValues(kept)
		if err != nil {
			return fmt.Errorf("save transcript %s: %w", n.Heads[i].Transcript, err)
		}
		batch.Queue(saveTranscriptSQL, append(asBytes(values), t.capture[kept])...)
	}
	if len(t.events) > 0 {
		batch.Queue(unreadSQL, t.heads()...)
	}
	batch.Queue(`COMMIT`)
	answers := t.conn.SendBatch(ctx, &batch)
	err := committed(answers, batch.Len())
	if closing := answers.Close(); err == nil {
		err = closing
	}
	return err
}

func committed(answers pgx.BatchResults, statements int) error {
	for range statements - 1 {
		if _, err := answers.Exec(); err != nil {
			return fmt.Errorf("save: %w", err)
		}
	}
	tag, err := answers.Exec()
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if tag.String() != "COMMIT" {
		return fmt.Errorf("commit: the server answers %s", tag)
	}
	return nil
}

func queueCapture(batch *pgx.Batch, c *sink.Capture) error {
	values, err := tables.CaptureValues(c)
	if err == nil {
		batch.Queue(saveCaptureSQL, asBytes(values)...)
	}
	return err
}

// asBytes makes bytes of what a peer wrote. As text, pgx would have the server read it as the
// notation of bytes.
func asBytes(values []any) []any {
	for i, v := range values {
		if text, ok := v.(tables.Text); ok {
			values[i] = []byte(text)
		}
	}
	return values
}
