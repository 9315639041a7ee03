package main

import (
	database "database/sql"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/translate/stage"
)

// store appends frames to a capture.
func store(t *testing.T, s *natstest.Server, id schema.Identity, frames ...schema.Frame) {
	t.Helper()
	blobs, err := topology.OpenBlobs(minute(t), s.JS)
	require.NoError(t, err)
	appender, err := publish.NewAppender(publish.AppenderOptions{
		JS: s.JS, Blobs: blobs, Partitions: s.Info.Partitions, BatchFrom: 100, Identity: id, Journal: "j",
	})
	require.NoError(t, err)
	require.NoError(t, appender.Append(minute(t), frames))
}

// A capture is parked because bytes are gone; redrive says that it is parked again, then that it came
// through when they are back; without a worker it says that nobody has answered.
func TestRedrive(t *testing.T) {
	s := natstest.Start(t)
	blobs, err := topology.OpenBlobs(minute(t), s.JS)
	require.NoError(t, err)
	id := schema.Identity{Namespace: "default", Workflow: "support", Run: "run-7", Attempt: 1}
	large := []byte(`{"jsonrpc":"2.0","method":"x","params":"` + strings.Repeat("a", schema.MaxInline) + `"}`)
	store(t, s, id,
		schema.Frame{At: time.Unix(1, 0).UTC(), From: schema.FromControl, Type: schema.TypeOpen, End: schema.EndNone, Data: []byte(`{"protocol":"acp"}`), Writer: schema.Writer{Offset: 1}},
		schema.Frame{At: time.Unix(2, 0).UTC(), From: schema.FromAgent, Type: schema.TypeData, End: schema.EndLF, Data: large, Writer: schema.Writer{Offset: 2}},
	)
	bucket, err := s.JS.ObjectStore(minute(t), topology.Blob)
	require.NoError(t, err)
	sha, err := blobs.Put(minute(t), id, large)
	require.NoError(t, err)
	require.NoError(t, bucket.Delete(minute(t), id.String()+"/"+sha))

	require.Equal(t, "no capture is parked\n", ok(t, "redrive", "--nats", s.URL(), "--all"))
	worker := startWorker(t, "translate", s.URL(), "--lease", "1s")
	require.Eventually(t, func() bool {
		listed, err := stage.ListParked(minute(t), s.JS)
		return err == nil && len(listed) == 1
	}, time.Minute, 20*time.Millisecond)
	stdout, stderr, code := steno(t, "redrive", "--nats", s.URL(), "--all")
	require.Equal(t, exitRuntime, code, stderr)
	require.Contains(t, stdout, "default/support/run-7/0/1 is parked again at frame 2: blob missing (")

	_, stderr, code = steno(t, "redrive", "--nats", s.URL(), "run-8")
	require.Equal(t, exitRuntime, code)
	require.Contains(t, stderr, "no parked capture has that in its key")
	require.NoError(t, worker.Process.Kill())
	require.Error(t, worker.Wait())
	_, err = blobs.Put(minute(t), id, large)
	require.NoError(t, err)
	stdout, _, code = steno(t, "redrive", "--nats", s.URL(), "run-7", "--wait", "200ms", "--json")
	require.Equal(t, exitRuntime, code)
	var result redriven
	require.NoError(t, json.Unmarshal([]byte(stdout), &result))
	require.Equal(t, redriven{Capture: id.String(), By: byTranslator, Outcome: stillWaiting, Frame: 2, Reason: string(stage.ReasonBlob)}, result)

	startWorker(t, "translate", s.URL(), "--lease", "1s")
	require.Eventually(t, func() bool { // the request stood
		listed, err := stage.ListParked(minute(t), s.JS)
		return err == nil && len(listed) == 0
	}, time.Minute, 20*time.Millisecond)
	require.Contains(t, recorded(t, s, id), `"worker_seq":2`)
}

// The NATS that STENO_NATS names is meant as if the command line named it, unless that names a directory.
func TestRedriveOfTheEnvironment(t *testing.T) {
	s := natstest.Start(t)
	id := schema.Identity{Namespace: "default", Workflow: "support", Run: "run-7", Attempt: 1}
	value, err := json.Marshal(stage.Parked{Reason: stage.ReasonTranslator, Frame: 3})
	require.NoError(t, err)
	_, err = s.JS.Publish(minute(t), topology.ParkedSubject(id.Subject()), value)
	require.NoError(t, err)
	t.Setenv("STENO_NATS", s.URL())
	t.Setenv("STENO_DATA", t.TempDir())
	stdout, stderr, code := steno(t, "redrive", "--all", "--wait", "200ms")
	require.Equal(t, exitRuntime, code, stderr)
	require.Equal(t, id.String()+" waits: no worker has folded it again yet; the request stands\n", stdout)
	require.Equal(t, "no capture is parked\n", ok(t, "redrive", "--all", "--data", t.TempDir()))
}

// In a data directory lists say which captures are parked and why, and its holder folds them again.
func TestRedriveInADirectory(t *testing.T) {
	data := t.TempDir()
	ok(t, "import", "--data", data, "testdata/sacks.jsonl")
	require.Equal(t, "no capture is parked\n", ok(t, "redrive", "--data", data, "--all"))
	a := &app{data: data, sync: "always", stdio: stdio{err: t.Output()}}
	sn, ctx, err := a.open(minute(t), "test")
	require.NoError(t, err)
	key := list(t, data)[0].Key
	transcript, err := schema.ParseTranscript(key)
	require.NoError(t, err)
	value, err := json.Marshal(stage.Parked{Reason: stage.ReasonTranslator, Error: "an older build parked it", Frame: 3})
	require.NoError(t, err)
	_, err = sn.js.Publish(ctx, topology.ParkedSubject(transcript.Identity.Subject()), value)
	require.NoError(t, err)
	_, stderr, code := steno(t, "ls", "--data", data)
	require.Zero(t, code)
	require.Contains(t, stderr, transcript.Identity.String()+" is parked at frame 3: translator missing")
	require.Contains(t, ok(t, "search", "--data", data, "--json", "--status", "parked", "sacks"), `"status":"parked"`)
	require.Empty(t, ok(t, "search", "--data", data, "--json", "--status", "open", "sacks"))
	stdout, _, code := steno(t, "doctor", "--data", data)
	require.Equal(t, exitRuntime, code)
	require.Contains(t, strings.Join(strings.Fields(stdout), " "), "is parked at frame 3: translator missing (an older build parked it)")

	require.Equal(t, transcript.Identity.String()+" came through\n", ok(t, "redrive", "--data", data, key))
	_, stderr, _ = steno(t, "ls", "--data", data)
	require.NotContains(t, stderr, "parked")
	require.NoError(t, sn.close())
	require.Contains(t, ok(t, "verify", "--data", data), "verified")
}

func TestRedriveUsage(t *testing.T) {
	for _, args := range [][]string{{"redrive"}, {"redrive", "--all", "x"}, {"redrive", "x", "y"}, {"redrive", "--all", "--wait", "0s"}} {
		_, stderr, code := steno(t, args...)
		require.Equal(t, exitUsage, code, stderr)
	}
}

// What the ledger has parked is stored again: where its reason is gone it comes through, else it is
// parked again, and what is beside it goes on.
func TestRedriveWhatTheLedgerParked(t *testing.T) {
	data := t.TempDir()
	ok(t, "import", "--data", data, "testdata/sacks.jsonl")
	key := list(t, data)[0].Key
	capture := key[:strings.LastIndexByte(key, '/')]
	db, err := database.Open("sqlite", filepath.Join(data, "ledger.db"))
	require.NoError(t, err)
	defer db.Close()
	change := func(text string) {
		t.Helper()
		result, err := db.ExecContext(t.Context(), text)
		require.NoError(t, err)
		rows, err := result.RowsAffected()
		require.NoError(t, err)
		require.EqualValues(t, 1, rows)
	}
	const park = "UPDATE captures SET parked_reason = 'refused', parked_seq = 1, parked_at = '2026-11-27T09:14:06Z'"
	change(park)
	require.Contains(t, strings.Join(problems(t, exitRuntime, "--data", data), "\n"), "1 capture is parked in the ledger ("+capture+" at record 1: refused)")
	require.Equal(t, capture+" came through\n", ok(t, "redrive", "--data", data, "--all"))
	ok(t, "verify", "--data", data)

	change(park)
	change(`UPDATE events SET event = CAST(replace(CAST(event AS TEXT), '14 sacks', '15 sacks') AS BLOB)
WHERE CAST(event AS TEXT) LIKE '%"text":"There are 14 sacks.%'`)
	stdout, stderr, code := steno(t, "redrive", "--data", data, key, "--json")
	require.Equal(t, exitRuntime, code, stderr)
	var result redriven
	require.NoError(t, json.Unmarshal([]byte(stdout), &result))
	require.Equal(t, capture, result.Capture)
	require.Equal(t, []string{byLedger, parkedAgain, string(sink.ReasonChanged)}, []string{result.By, result.Outcome, result.Reason})
	require.Regexp(t, `^number \d+ of session 1$`, result.Error)
}
