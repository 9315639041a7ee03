package export_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/export"
	"github.com/steno-io/steno/ingest/files"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/a2a"
	"github.com/steno-io/steno/translate/acp"
	"github.com/steno-io/steno/translate/translatetest"
)

var update = flag.Bool("write", false, "write the exports as they are now")

func folded(frames []schema.Frame) []schema.Event {
	var tr translate.Translator = acp.Translator{}
	if frames[0].Protocol == schema.A2A {
		tr = a2a.Translator{}
	}
	return translatetest.Fold(tr, frames)
}

// recorded folds frames, and gives a session as the ledger would have it.
func recorded(t testing.TB, frames []schema.Frame, session uint32) *export.Transcript {
	t.Helper()
	var events []schema.Event
	for _, e := range folded(frames) {
		if e.Session == session && !e.Ephemeral {
			e.StoreSeq = uint64(len(events) + 1)
			events = append(events, e)
		}
	}
	require.NotEmpty(t, events)
	last := events[len(events)-1]
	of := &export.Transcript{Events: events, Summary: sink.Summary{
		Key: last.Transcript.String(), Transcript: last.Transcript, Protocol: last.Source.Protocol, Dialect: last.Source.Dialect,
		Agent: "mill", Title: "Sacks in the store", Cwd: "/w", Status: schema.StatusEnded, Frames: uint64(len(frames)),
		Events: uint64(len(events)), Head: uint64(len(events)), FirstAt: events[0].EmittedAt, LastAt: last.EmittedAt,
	}}
	stored := make([]sink.Event, len(events))
	for i := range events {
		stored[i] = sink.Event{Seq: events[i].StoreSeq, Bytes: events[i].AppendJSON(nil)}
	}
	of.Stored = func(yield func(sink.Event, error) bool) {
		for _, e := range stored {
			if !yield(e, nil) {
				return
			}
		}
	}
	return of
}

// has reports whether a session of a capture has events that are stored.
func has(t testing.TB, frames []schema.Frame, session uint32) bool {
	t.Helper()
	return slices.ContainsFunc(folded(frames), func(e schema.Event) bool { return e.Session == session && !e.Ephemeral })
}

// file reads a file that can be imported.
func file(t testing.TB, path string) (frames []schema.Frame) {
	t.Helper()
	f, err := files.Open(path)
	require.NoError(t, err)
	for frame, err := range f.Frames() {
		require.NoError(t, err)
		frame.Data = bytes.Clone(frame.Data)
		frames = append(frames, frame)
	}
	return frames
}

// capture reads the frames of a translator's golden file.
func capture(t testing.TB, name string) []schema.Frame {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../translate", name+".golden"))
	require.NoError(t, err)
	frames, _, _ := strings.Cut(string(data), "----------\n")
	return translatetest.ReadFrames(t, name, strings.NewReader(frames))
}

func sacks(t testing.TB) *export.Transcript {
	t.Helper()
	return recorded(t, file(t, "../../cmd/steno/testdata/sacks.jsonl"), 1)
}

func tasks(t testing.TB) *export.Transcript {
	t.Helper()
	return recorded(t, capture(t, "a2a/testdata/a2a-1/followup"), 0)
}

func goose(t testing.TB) *export.Transcript {
	t.Helper()
	return recorded(t, file(t, "../../cmd/steno/recordings/goose-1.37.0.json"), 1)
}

func markdown(t require.TestingT, of *export.Transcript) string {
	var out bytes.Buffer
	require.NoError(t, export.Markdown(&out, of))
	return out.String()
}

func html(t require.TestingT, of *export.Transcript) string {
	var out bytes.Buffer
	require.NoError(t, export.HTML(&out, of))
	return out.String()
}

// want compares an export with the one in testdata.
func want(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(data), got, "the export differs from %s; -write writes it anew", path)
}

func TestExportsReadAsBefore(t *testing.T) {
	for name, of := range map[string]func(testing.TB) *export.Transcript{"sacks": sacks, "tasks": tasks, "goose": goose} {
		t.Run(name, func(t *testing.T) {
			want(t, name+".md", markdown(t, of(t)))
			want(t, name+".html", html(t, of(t)))
		})
	}
}
