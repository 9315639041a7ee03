package acp

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/translatetest"
)

var testIdentity = schema.Identity{Namespace: "default", Workflow: "test", Run: "run-1", Activity: 0, Attempt: 1}

func TestCases(t *testing.T) {
	translatetest.Cases(t, "ACP-", "testdata/cases.jsonl", func(t *testing.T, c translatetest.Case) []schema.Event {
		fold := Translator{}.Fold(testIdentity)
		var events []schema.Event
		for _, f := range caseFrames(t, c) {
			events = fold.Step(events, &f)
		}
		return fold.End(events)
	})
}

// caseFrames are the frames of a case. One that begins its connection itself needs nothing before.
func caseFrames(t *testing.T, c translatetest.Case) (frames []schema.Frame) {
	t.Helper()
	lines := slices.Concat(c.Before, c.Frames)
	if bytes.Contains(c.Frames[0], []byte(`initialize`)) {
		lines = c.Frames
	}
	for i, raw := range lines {
		frames = append(frames, caseFrame(t, raw, uint64(i)+1))
	}
	return frames
}

// caseFrame reads a frame as the cases write it.
func caseFrame(t *testing.T, raw []byte, seq uint64) schema.Frame {
	t.Helper()
	var line struct {
		From       string
		Text       *string
		B64        []byte
		Terminator string
	}
	require.NoError(t, json.Unmarshal(raw, &line))
	f := schema.Frame{
		Seq: seq, At: time.UnixMilli(int64(seq)).UTC(), From: schema.From(line.From), Type: schema.TypeData,
		End: schema.EndLF, Data: line.B64,
	}
	if line.Text != nil {
		f.Data = []byte(*line.Text)
	}
	switch line.Terminator {
	case "none":
		f.End = schema.EndNone
	case "crlf":
		f.Data = append(f.Data, '\r')
	}
	if line.From == "agent-stderr" {
		f.From = schema.FromStderr
	}
	require.NoError(t, f.Validate())
	return f
}
