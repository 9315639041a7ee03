package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/console/parked"
	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/translate/stage"
)

func transcript(run string, session uint32) schema.Transcript {
	return schema.Transcript{Identity: schema.Identity{Namespace: "n", Workflow: "w", Run: run, Attempt: 1}, Session: session}
}

// shelf is a ledger of a few lines.
type shelf []sink.Summary

func (s shelf) Transcripts(_ context.Context, _ sink.Query) (sink.Page, error) {
	return sink.Page{Transcripts: s}, nil
}

func (s shelf) Transcript(_ context.Context, key schema.Transcript) (sink.Summary, error) {
	for _, t := range s {
		if t.Transcript == key {
			return t, nil
		}
	}
	return sink.Summary{}, sink.ErrNotFound
}

func (s shelf) Events(context.Context, schema.Transcript, uint64, int) iter.Seq2[sink.Event, error] {
	return func(func(sink.Event, error) bool) {}
}

func shelved(run string, session uint32, id string, empty bool) sink.Summary {
	key := transcript(run, session)
	return sink.Summary{Key: key.String(), Transcript: key, Protocol: schema.ACP, SessionID: id, Empty: empty, Labels: map[string]string{}}
}

func TestWhatAKeyNames(t *testing.T) {
	s := shelf{
		shelved("a", 0, "", true), shelved("a", 1, "s-1", false), shelved("a", 10, "s-10", false), shelved("a", 2, "t-10", true),
		shelved("b", 1, "x-10", false), shelved("b", 2, "lone", true),
	}
	for part, want := range map[string]string{
		"s-1":         "n/w/a/0/1/1", // exact, though s-10 has it too
		"n/w/a/0/1/1": "n/w/a/0/1/1",
		"s-10":        "n/w/a/0/1/10",
		"w/b":         "n/w/b/0/1/1", // listed goes before the empty one
		"lon":         "n/w/b/0/1/2",
	} {
		got, err := find(minute(t), s, []string{part})
		require.NoError(t, err, part)
		require.Equal(t, want, got.Key, part)
	}
	_, err := find(minute(t), s, []string{"-10"})
	require.Equal(t, exitUsage, exitCode(err))
	require.ErrorContains(t, err, "2 transcripts have it")
	_, err = find(minute(t), shelf{}, nil)
	require.ErrorIs(t, err, errNothing)
}

func TestParkedCapturesWithoutEventsAreListed(t *testing.T) {
	s := shelf{shelved("a", 0, "", true), shelved("a", 1, "s-1", false), shelved("b", 1, "s-2", false)}
	view := parked.Of(s, nil, transcript("a", 0).Identity, transcript("c", 0).Identity)
	unknown := []stage.ParkedCapture{{Identity: transcript("c", 0).Identity}}
	var out, errs bytes.Buffer
	a := &app{stdio: stdio{err: &errs}, out: &output{to: &out}}
	require.NoError(t, a.list(withUnknown(sink.All(minute(t), view), unknown, sink.Filter{}), 2, true, false))
	var got []string
	for line := range strings.Lines(out.String()) {
		var s sink.Summary
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		require.NotNil(t, s.Labels)
		got = append(got, s.Key+" "+string(s.Status))
	}
	require.Equal(t, []string{"n/w/a/0/1/0 parked", "n/w/a/0/1/1 parked", "n/w/b/0/1/1 ", "n/w/c/0/1/0 parked"}, got)

	out.Reset()
	require.NoError(t, a.list(withUnknown(sink.All(minute(t), view), unknown, sink.Filter{}), 1, false, true))
	require.Equal(t, 1+4, strings.Count(out.String(), "\n"))
	require.Contains(t, errs.String(), "1 capture is parked")

	failed := func(yield func(sink.Summary, error) bool) { yield(sink.Summary{}, errors.New("disk")) }
	require.ErrorContains(t, a.list(withUnknown(failed, nil, sink.Filter{}), 0, true, false), "disk")
}

func TestTailWaitsForTheFirstTranscript(t *testing.T) {
	data := t.TempDir()
	up := startUp(t, data)
	defer up.kill(t)
	tail := stenoCommand(t.Context(), "tail", "--data", data, "--until-end", "--json")
	errs, err := tail.StderrPipe()
	require.NoError(t, err)
	var out bytes.Buffer
	tail.Stdout = &out
	require.NoError(t, tail.Start())
	line, err := bufio.NewReader(errs).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "waiting for the first transcript …\n", line)
	ok(t, "import", "--data", data, recording("gemini-cli-0.46.0.json"))
	require.NoError(t, tail.Wait())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Contains(t, lines[len(lines)-1], `{"end":{"status":"ended"`)
}

func TestTailGoesOnWithWhatComesNext(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	up := startUp(t, data)
	defer up.kill(t)
	ok(t, "import", "--data", data, recording("gemini-cli-0.46.0.json"))
	for _, c := range []struct {
		flags []string
		run   string
		want  []string
	}{
		{nil, "r", []string{"acp 1 · ", "! ended", "orders slow", "a2a 1.0 · orders", "Looking at the order list", "! ended"}},
		{[]string{"--json"}, "r2", []string{`"run_id":"r"`, `{"end":`, `{"transcript":{"key":"default/tailed/r2/`, `"run_id":"r2"`, `{"end":`}},
	} {
		tail := stenoCommand(minute(t), append([]string{"tail", "--data", data}, c.flags...)...)
		out, err := tail.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, tail.Start())
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for i, want := range c.want {
			if i == 2 { // it waits now
				ok(t, "import", "--data", data, "--workflow", "tailed", "--run", c.run, recording("a2a-go-2.4.0.jsonl"))
			}
			for found := false; !found; found = strings.Contains(lines.Text(), want) {
				require.True(t, lines.Scan(), "want %q", want)
			}
		}
		require.NoError(t, tail.Process.Kill())
		require.Error(t, tail.Wait())
	}
	require.Contains(t, ok(t, "ls", "--data", data, "--peer", "orders"), "orders slow")
	require.Contains(t, ok(t, "ls", "--data", data, "--peer", "nobody"), "no transcripts")
	_, errs, code := steno(t, "tail", "--data", data, "--peer", "orders", "key")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "want KEY or --peer")
}

func TestWhatIsNewest(t *testing.T) {
	at := func(s sink.Summary, p schema.Protocol, agent string, added, last int64) sink.Summary {
		s.Protocol, s.Agent, s.AddedAt, s.LastAt = p, agent, time.Unix(added, 0), time.Unix(last, 0)
		return s
	}
	s := shelf{ // by when they were recorded
		at(shelved("a", 0, "", true), schema.A2A, "mill", 9, 9), // a card
		at(shelved("b", 1, "s", false), schema.ACP, "goose", 8, 20),
		at(shelved("c", 1, "s", false), schema.ACP, "goose", 7, 99),
		at(shelved("d", 0, "", false), schema.A2A, "mill", 6, 6),
		at(shelved("e", 0, "", false), schema.A2A, "mill", 5, 7),
	}
	name := func(s shelf, peer string) string {
		t.Helper()
		got, err := newest(minute(t), s, peer)
		require.NoError(t, err)
		return got.Transcript.Run
	}
	require.Equal(t, "b", name(s, anyPeer), "ACP: the order of recording")
	require.Equal(t, "e", name(s, "mill"), "A2A: the last one that said something")
	s[4].LastAt = time.Unix(10, 0) // resumed
	require.Equal(t, "e", name(s, anyPeer))
	require.Equal(t, "a", name(s[:1], anyPeer))
	_, err := newest(minute(t), s, "nobody")
	require.ErrorIs(t, err, errNothing)
}

func TestASnapshotIsPrintedInSnakeCase(t *testing.T) {
	var out bytes.Buffer
	a := &app{out: &output{to: &out}}
	emit := a.jsonItem(false)
	require.NoError(t, emit(&follow.Snapshot{Frame: 3, Ordinal: 2}))
	require.NoError(t, emit(&follow.Snapshot{Frame: 4, Ordinal: 2, Messages: []schema.OpenMessage{
		{Session: 1, MessageID: "m", Role: schema.Assistant, Channel: schema.Answer, Text: "a<b", Next: 7},
	}}))
	require.NoError(t, emit(&follow.Lag{Reason: follow.LagBehind, Events: 3}))
	require.NoError(t, emit(&follow.End{Status: schema.StatusEnded, Head: 9}))
	require.Equal(t, `{"snapshot":{"frame":3,"ordinal":2,"messages":[],"tools":[]}}
{"snapshot":{"frame":4,"ordinal":2,"messages":[{"session":1,"message_id":"m","role":"Assistant","channel":"answer","text":"a<b","next":7}],"tools":[]}}
{"lag":{"reason":"behind","events":3,"detail":""}}
{"end":{"status":"ended","head":9}}
`, out.String())
}

func TestDoctorSaysWhatIsWrongWithinEightyColumns(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	cmd := recordCommand(t, data)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = in.Write([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}` + "\n"))
	require.NoError(t, err)
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())

	var h health
	require.NoError(t, json.Unmarshal([]byte(ok(t, "doctor", "--data", data, "--json")), &h))
	require.Empty(t, h.Problems)
	require.Equal(t, schema.StatusAbandoned, h.Last.Status)
	var frames uint64
	for _, s := range list(t, data) {
		frames += s.Frames
	}
	require.Equal(t, frames, h.Last.Frames, "as ls counts them")
	require.Contains(t, ok(t, "doctor", "--data", data), "abandoned: its tap was killed")

	// A living tap whose own NATS does not answer.
	w, err := journal.Create(journal.Options{Dir: data + "/journal", Head: journal.Head{
		Identity: transcript("r", 0).Identity, Destination: "nats://s3cret@127.0.0.1:1", Open: schema.OpenInfo{Protocol: schema.ACP, Tap: "record"},
	}})
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	require.NoError(t, os.WriteFile(data+"/journal/"+strings.Repeat("0", 36)+".journal", []byte("nonsense"), 0o600))
	stdout, _, code := steno(t, "doctor", "--data", data)
	require.Equal(t, exitRuntime, code)
	plain := strings.Join(strings.Fields(stdout), " ")
	require.Contains(t, plain, "of a living tap lags")
	require.Contains(t, plain, "NATS at nats://127.0.0.1:1")
	require.NotContains(t, stdout, "s3cret")
	for line := range strings.Lines(stdout) {
		if words := strings.Fields(line); len(words) > 1 && len(words[len(words)-1]) < 60 {
			require.LessOrEqual(t, len([]rune(line)), 81, line)
		}
	}
	require.Equal(t, "one two\n  three\n  four", wrapped("one two three  four", 8, "  "))
	require.Less(t, h.Last.AgeS, time.Hour.Seconds())
}

// tasked is a ledger whose events name tasks.
type tasked struct {
	shelf
	tasks map[string][]string // of each run
}

func (s tasked) Events(_ context.Context, key schema.Transcript, _ uint64, _ int) iter.Seq2[sink.Event, error] {
	return func(yield func(sink.Event, error) bool) {
		for _, task := range s.tasks[key.Run] {
			e := schema.Event{Transcript: key, Source: schema.Source{Protocol: schema.A2A, TaskID: task}, Kind: &schema.Raw{Source: "x", Value: schema.JSON(`{"task_id":"other"}`)}}
			if !yield(sink.Event{Bytes: e.AppendJSON(nil)}, nil) {
				return
			}
		}
	}
}

func TestATaskNamesItsConversation(t *testing.T) {
	s := tasked{shelf{shelved("a", 0, "", false), shelved("b", 0, "", false), shelved("c", 0, "", false)}, map[string][]string{
		"a": {"", `task-"1"`, "task-10"}, "b": {"task-2"}, "c": {"task-10", "task-3"},
	}}
	for i := range s.shelf[:2] {
		s.shelf[i].Protocol = schema.A2A
	}
	for part, want := range map[string]string{`task-"1"`: "a", "task-10": "a", "task-2": "b", "task-1": "a", `task-"`: "a"} {
		got, err := find(minute(t), s, []string{part})
		require.NoError(t, err, part)
		require.Equal(t, want, got.Transcript.Run, part)
	}
	_, err := find(minute(t), s, []string{"task-"})
	require.ErrorContains(t, err, "2 transcripts have it")
	for _, part := range []string{"other", "task-3", ""} {
		_, err = find(minute(t), s, []string{part})
		require.Error(t, err, part)
	}
}
