package render_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

var update = flag.Bool("update", false, "write the pages as they are now")

// The translators' own golden files: frames above a line of dashes, events below.
const (
	captures    = "../../translate/acp/testdata/acp-1"
	capturesA2A = "../../translate/a2a/testdata/a2a-1"
)

// golden reads a capture's events, ephemeral ones included, by session.
func golden(t testing.TB, capture string) map[uint32][]schema.Event {
	t.Helper()
	return goldenIn(t, captures, capture)
}

func goldenIn(t testing.TB, dir, capture string) map[uint32][]schema.Event {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, capture+".golden"))
	require.NoError(t, err)
	_, below, ok := strings.Cut(string(data), "----------\n")
	require.True(t, ok)
	events := map[uint32][]schema.Event{}
	for line := range strings.Lines(below) {
		e, err := schema.DecodeEvent([]byte(line))
		require.NoError(t, err)
		events[e.Session] = append(events[e.Session], e)
	}
	return events
}

func durable(events []schema.Event) []schema.Event {
	var out []schema.Event
	for _, e := range events {
		if !e.Ephemeral {
			e.StoreSeq = uint64(len(out) + 1)
			out = append(out, e)
		}
	}
	return out
}

func summary(events []schema.Event) sink.Summary {
	first, last := events[0], events[len(events)-1]
	return sink.Summary{
		Key: first.Transcript.String(), Transcript: first.Transcript, Protocol: first.Source.Protocol, Dialect: first.Source.Dialect,
		Agent: "mill", Title: "Sacks in the store", Cwd: "/w", Status: schema.StatusEnded, Frames: last.WorkerSeq,
		Events: uint64(len(events)), Head: uint64(len(events)), FirstAt: first.EmittedAt, LastAt: last.EmittedAt,
	}
}

func each(events []schema.Event) func(yield func(schema.Event, error) bool) {
	return func(yield func(schema.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func show(t testing.TB, o render.Options, events []schema.Event) string {
	t.Helper()
	var page bytes.Buffer
	require.NoError(t, render.New(&page, o).Show(summary(events), each(events)))
	return page.String()
}

// tail writes events as they happen, ephemeral ones as typed.
func tail(t testing.TB, o render.Options, events []schema.Event) string {
	t.Helper()
	var page bytes.Buffer
	r := render.New(&page, o)
	for _, e := range events {
		if e.Ephemeral {
			require.NoError(t, r.Delta(e))
		} else {
			require.NoError(t, r.Event(e))
		}
	}
	require.NoError(t, r.Close())
	return page.String()
}

// want compares a page with the one in testdata.
func want(t *testing.T, name, page string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(page), 0o644))
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(data), page, "the page differs from %s; -update writes it anew", file)
}

func TestPagesReadAsBefore(t *testing.T) {
	for _, capture := range []string{"turn", "permission", "content", "errors", "ids", "noise", "cancel", "replay", "update", "echo"} {
		events := golden(t, capture)
		for session, all := range events {
			if session > 1 || session == 0 && capture != "noise" {
				continue
			}
			t.Run(capture, func(t *testing.T) {
				suffix := map[uint32]string{0: "-0"}[session]
				want(t, capture+suffix+".show", show(t, render.Options{Width: 80, Times: true}, durable(all)))
				want(t, capture+suffix+".tail", tail(t, render.Options{Width: 80}, all))
			})
		}
	}
	turn := golden(t, "turn")[1]
	want(t, "turn.plain", show(t, render.Options{}, durable(turn)))
	want(t, "turn.raw", show(t, render.Options{Width: 100, Raw: true}, durable(turn)))
	want(t, "turn.colour", show(t, render.Options{Width: 80, Colour: true}, durable(turn)))
}
