package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

// problems are what doctor finds.
func problems(t *testing.T, code int, args ...string) []string {
	t.Helper()
	stdout, stderr, got := steno(t, append([]string{"doctor", "--json"}, args...)...)
	require.Equal(t, code, got, stderr)
	var h health
	require.NoError(t, json.Unmarshal([]byte(stdout), &h))
	return h.Problems
}

// TestDoctorMissesWhatTheStreamsLost: they are wiped, and the ledger is kept.
func TestDoctorMissesWhatTheStreamsLost(t *testing.T) {
	data := t.TempDir()
	ok(t, "import", "--data", data, recording("gemini-cli-0.46.0.json"), recording("goose-1.37.0.json"))
	require.Empty(t, problems(t, exitOK, "--data", data))
	require.NoError(t, os.RemoveAll(filepath.Join(data, "nats")))
	require.NoError(t, os.RemoveAll(filepath.Join(data, "journal"))) // else what it holds is given again
	found := problems(t, exitRuntime, "--data", data)
	require.Len(t, found, 1)
	require.Contains(t, found[0], "STENO_RAW has no frame of 2 captures that the ledger has (default/import/")
	require.Contains(t, found[0], "wiped")
	out := filepath.Join(t.TempDir(), "frames.jsonl")
	for _, args := range [][]string{{"export", "--frames", "--out", out}, {"replay", "--json"}} {
		_, says, code := steno(t, append(args, "--data", data)...)
		require.Equal(t, exitRuntime, code, says)
		require.Contains(t, says, "frames that the ledger has are gone")
	}
	require.NoFileExists(t, out)

	ok(t, "import", "--data", data, recording("gemini-cli-0.46.0.json")) // all that is there is in its place again
	found = problems(t, exitRuntime, "--data", data)
	require.Len(t, found, 1)
	require.Contains(t, found[0], "of 1 capture that")
	ok(t, "import", "--data", data, recording("goose-1.37.0.json"))
	require.Empty(t, problems(t, exitOK, "--data", data))
}

// TestDoctorMissesLastFrames: the streams are put back from an older copy, which has the first ones.
func TestDoctorMissesLastFrames(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	text, err := os.ReadFile("testdata/sacks.jsonl")
	require.NoError(t, err)
	half := filepath.Join(t.TempDir(), "half.jsonl")
	require.NoError(t, os.WriteFile(half, []byte(strings.Join(strings.SplitAfter(string(text), "\n")[:6], "")+"{"), 0o600)) // it breaks off
	_, _, code := steno(t, "import", "--data", data, half)
	require.Equal(t, exitRuntime, code)
	streams, older := filepath.Join(data, "nats"), filepath.Join(t.TempDir(), "nats")
	require.NoError(t, os.CopyFS(older, os.DirFS(streams)))
	ok(t, "close", "--data", data, "sacks")

	require.NoError(t, os.RemoveAll(streams))
	require.NoError(t, os.CopyFS(streams, os.DirFS(older)))
	found := problems(t, exitRuntime, "--data", data)
	require.Len(t, found, 1, "%q", found)
	require.Regexp(t, `^STENO_RAW has lost the last frames of 1 capture \(default/import/[^ ]+/0/1: the last is frame 6, the ledger goes up to frame 7\): the streams are an older copy`, found[0])
}

// TestDoctorMissesWhatAClusterLost likewise.
func TestDoctorMissesWhatAClusterLost(t *testing.T) {
	s := natstest.Start(t)
	url := pgtest.Database(t)
	startWorker(t, "translate", s.URL())
	startWorker(t, "sink", s.URL(), "--ledger", url)
	there := []string{"--nats", s.URL(), "--ledger", url}
	ok(t, "import", "--nats", s.URL(), recording("gemini-cli-0.46.0.json"))
	require.Empty(t, problems(t, exitOK, there...))
	stream, err := s.JS.Stream(minute(t), topology.Raw)
	require.NoError(t, err)
	info, err := stream.Info(minute(t), jetstream.WithSubjectFilter(schema.RawSubjects))
	require.NoError(t, err)
	for subject := range info.State.Subjects {
		require.NoError(t, stream.Purge(context.Background(), jetstream.WithPurgeSubject(subject)))
	}
	found := problems(t, exitRuntime, there...)
	require.Len(t, found, 1)
	require.Contains(t, found[0], "of 1 capture that the ledger has")
}

// stuckLedger has captures that are parked.
type stuckLedger struct {
	ledger
	captures []sink.CaptureInfo
}

func (l stuckLedger) Captures(_ context.Context, after string, _ int) ([]sink.CaptureInfo, error) {
	if after != "" {
		return nil, nil
	}
	return l.captures, nil
}

// TestACaptureParkedAtItsFirstRecordIsMissed, too, though the ledger covers no frame of it.
func TestACaptureParkedAtItsFirstRecordIsMissed(t *testing.T) {
	t.Parallel()
	server := natstest.Start(t)
	var all []sink.CaptureInfo
	for _, run := range []string{"gone", "there"} {
		id := schema.Identity{Namespace: "default", Workflow: "mill", Run: run, Attempt: 1}
		all = append(all, sink.CaptureInfo{Capture: sink.Capture{Capture: id, Parked: &sink.Parked{Capture: id, Reason: sink.ReasonRefused, Seq: 7}}})
	}
	_, err := server.JS.Publish(minute(t), schema.RawSubject(all[1].Capture.Capture, server.Info.Partitions), []byte("a frame"))
	require.NoError(t, err)
	s := &session{site: &cluster{patience: time.Minute}, js: server.JS, info: server.Info, ledger: stuckLedger{captures: all}}
	lost, parked, err := s.lost(minute(t))
	require.NoError(t, err)
	require.Equal(t, []lostFrames{{capture: all[0].Capture.Capture}}, lost)
	var h health
	h.lost(lost)
	h.parked(parked)
	require.Len(t, h.Problems, 2)
	require.Contains(t, h.Problems[0], "STENO_RAW has no frame of 1 capture that the ledger has (default/mill/gone/0/1): ")
	require.Contains(t, h.Problems[1], "2 captures are parked in the ledger (default/mill/gone/0/1 at record 7: refused; default/mill/there/0/1 at record 7: refused); ")
}
