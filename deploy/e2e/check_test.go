//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// check compares: what was imported and said with the frames on NATS, the frames' offline translation
// with the ledger, and the ledger's messages with what was said.
func (d *deployment) check(t *testing.T, files []imported, turns int) {
	captures := d.frames(t)
	require.Equal(t, len(files)+1, len(captures), "a capture a file, and the conversation")
	for _, f := range files {
		require.EqualValues(t, f.Frames, len(captures[f.Capture]), "frames of %s", f.Capture)
	}
	want := map[string][]string{} // by transcript
	frames, events, conversation := 0, 0, ""
	for capture, lines := range captures {
		if strings.Contains(capture, "/mill/") {
			conversation = capture
		}
		frames += len(lines)
		for session, list := range d.translated(t, capture, lines) {
			want[capture+"/"+session] = list
			events += len(list)
		}
	}
	got := d.ledger(t, events)
	for transcript, list := range want {
		require.Equal(t, len(list), len(got[transcript]), "events of %s", transcript)
		for i, event := range list {
			require.Equal(t, event, got[transcript][i], "event %d of %s", i+1, transcript)
		}
	}
	require.Equal(t, len(want), len(got), "transcripts")
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

// frames gives every stored frame as a capture file's line, by capture.
func (d *deployment) frames(t *testing.T) map[string][]string {
	s, err := d.js.Stream(d.ctx, "STENO_RAW")
	require.NoError(t, err)
	info, err := s.Info(d.ctx)
	require.NoError(t, err)
	blobs, err := d.js.ObjectStore(d.ctx, "STENO_BLOBS")
	require.NoError(t, err)
	consumer, err := s.OrderedConsumer(d.ctx, jetstream.OrderedConsumerConfig{})
	require.NoError(t, err)
	messages, err := consumer.Messages(jetstream.PullMaxMessages(100))
	require.NoError(t, err)
	defer messages.Stop()
	captures := map[string][]string{}
	protocols := map[string]string{}
	for range info.State.Msgs {
		m, err := messages.Next(jetstream.NextContext(d.ctx))
		require.NoError(t, err)
		capture := strings.Join(strings.Split(m.Subject(), ".")[3:], "/") // steno.raw.<p>.…
		h := m.Headers()
		data := m.Data()
		if sum := h.Get("Steno-Blob"); sum != "" {
			data, err = blobs.GetBytes(d.ctx, capture+"/"+sum)
			require.NoError(t, err)
		}
		require.Equal(t, strconv.Itoa(len(captures[capture])+1), h.Get("Steno-Seq"), "numbers of %s", capture)
		if h.Get("Steno-Type") == "open" {
			var open struct{ Protocol string }
			require.NoError(t, json.Unmarshal(data, &open))
			protocols[capture] = open.Protocol
		}
		captures[capture] = append(captures[capture], line(t, h.Get, protocols[capture], data))
	}
	return captures
}

func line(t *testing.T, header func(string) string, protocol string, data []byte) string {
	f := map[string]any{"protocol": protocol, "b64": base64.StdEncoding.EncodeToString(data)}
	for _, name := range []string{"at", "from", "type", "end", "exchange", "chan"} {
		if value := header("Steno-" + strings.ToUpper(name[:1]) + name[1:]); value != "" {
			f[name] = value
		}
	}
	for _, name := range []string{"seq", "no"} {
		if value := header("Steno-" + strings.ToUpper(name[:1]) + name[1:]); value != "" {
			f[name] = json.Number(value)
		}
	}
	if value := header("Steno-Http"); value != "" {
		evidence, err := base64.StdEncoding.DecodeString(value)
		require.NoError(t, err)
		f["http"] = json.RawMessage(evidence)
	}
	text, err := json.Marshal(f)
	require.NoError(t, err)
	return string(text)
}

// translated folds a capture with the steno command, no server near, and gives its durable events by
// session, with the numbers that the ledger must have given.
func (d *deployment) translated(t *testing.T, capture string, lines []string) map[string][]string {
	path := filepath.Join(d.dir, "capture.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	id := strings.Split(capture, "/")
	cmd := d.command("translate", "--namespace", id[0], "--workflow", id[1], "--run", id[2], "--activity", id[3], "--attempt", id[4], path)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(t, err, "translate %s: %s", capture, errs.String())
	sessions := map[string][]string{}
	for text := range strings.Lines(string(out)) {
		var e struct {
			Session   json.Number
			WorkerSeq int `json:"worker_seq"`
			Ephemeral bool
		}
		require.NoError(t, json.Unmarshal([]byte(text), &e))
		// A file without a close frame is translated as if it had one; the conversation has not ended.
		if e.Ephemeral || e.WorkerSeq > len(lines) {
			continue
		}
		list := sessions[e.Session.String()]
		number := fmt.Sprintf(`"store_seq":%d`, len(list)+1)
		sessions[e.Session.String()] = append(list, strings.Replace(strings.TrimSuffix(text, "\n"), `"store_seq":null`, number, 1))
	}
	return sessions
}

// ledger gives the events that PostgreSQL holds, by transcript in the order of their numbers, once there
// are as many as there must be, or no more come.
func (d *deployment) ledger(t *testing.T, events int) map[string][]string {
	ctx, cancel := context.WithTimeout(d.ctx, 30*time.Second)
	defer cancel()
	for stored := 0; stored < events && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		require.NoError(t, d.db.QueryRow(d.ctx, "SELECT count(*) FROM steno.events").Scan(&stored))
	}
	var parked int
	require.NoError(t, d.db.QueryRow(d.ctx, "SELECT count(*) FROM steno.captures WHERE parked_reason <> ''").Scan(&parked))
	require.Zero(t, parked, "parked captures")
	rows, err := d.db.Query(d.ctx, `SELECT c.key || '/' || t.session, e.store_seq, e.event, t.head
		FROM steno.events e JOIN steno.transcripts t ON t.id = e.transcript JOIN steno.captures c ON c.id = t.capture
		ORDER BY 1, 2`)
	require.NoError(t, err)
	defer rows.Close()
	all, heads := map[string][]string{}, map[string]int{}
	for rows.Next() {
		var transcript string
		var number, head int
		var event []byte
		require.NoError(t, rows.Scan(&transcript, &number, &event, &head))
		require.Equal(t, len(all[transcript])+1, number, "numbers of %s", transcript)
		all[transcript], heads[transcript] = append(all[transcript], string(event)), head
	}
	require.NoError(t, rows.Err())
	for transcript, head := range heads {
		require.Equal(t, len(all[transcript]), head, "head of %s", transcript)
	}
	return all
}
