//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/deploy/outside"
)

// check compares: what was imported and said with the frames on NATS, the frames' offline translation
// with the records and the ledger, and the ledger's messages with what was said.
func (d *deployment) check(t *testing.T, files []imported, turns int) {
	captures, err := outside.Frames(d.ctx, d.js)
	require.NoError(t, err)
	require.Equal(t, len(files)+1, len(captures), "a capture a file, and the conversation")
	for _, f := range files {
		require.NotNil(t, captures[f.Capture], f.Capture)
		require.EqualValues(t, f.Frames, len(captures[f.Capture].Frames), "frames of %s", f.Capture)
	}
	want, numbered := map[string][]string{}, map[string][]string{} // by transcript
	frames, conversation := 0, ""
	for name, c := range captures {
		if strings.Contains(name, "/mill/") {
			conversation = name
		}
		frames += len(c.Frames)
		sessions, err := outside.Fold(d.command, d.dir, c)
		require.NoError(t, err)
		for session, list := range sessions {
			want[name+"/"+session], numbered[name+"/"+session] = list, outside.Numbered(list)
		}
	}
	events := outside.Count(want)
	got := d.ledger(t, events)
	require.NoError(t, outside.Same("ledger", numbered, got))
	records, err := outside.ReadRecords(d.ctx, d.js)
	require.NoError(t, err)
	require.NoError(t, outside.Same("records", want, records.Events))
	questions, answers := 0, 0
	for _, event := range got[conversation+"/0"] {
		questions += strings.Count(event, `"kind":"Message","role":{"role":"User"},"text":"turn `)
		answers += strings.Count(event, `"kind":"Message","role":{"role":"Assistant"},"text":"`+answer+`"`)
	}
	require.Equal(t, turns, questions, "each question once")
	require.Equal(t, turns, answers, "each answer once")
	d.say("%d frames of %d captures fold to %d events of %d transcripts; PostgreSQL holds each once, numbered from 1, byte for byte",
		frames, len(captures), events, len(want))
	out, err := d.command("verify", "--nats", d.nats, "--ledger", d.base).CombinedOutput()
	require.NoError(t, err, "%s", out)
	d.say("steno verify, on the same: %s", bytes.TrimSpace(out))
}

// ledger gives the events that PostgreSQL holds, by transcript in the order of their numbers, once there
// are as many as there must be, or no more come.
func (d *deployment) ledger(t *testing.T, events int) map[string][]string {
	ctx, cancel := context.WithTimeout(d.ctx, 30*time.Second)
	defer cancel()
	for stored := 0; stored < events && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		var err error
		stored, err = outside.Stored(d.ctx, d.db)
		require.NoError(t, err)
	}
	ledger, err := outside.ReadLedger(d.ctx, d.db)
	require.NoError(t, err)
	return ledger.Events
}
