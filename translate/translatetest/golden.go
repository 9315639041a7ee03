package translatetest

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/capturefile"
	"github.com/steno-io/steno/translate"
)

var update = flag.Bool("update", false, "write the events of golden files that have none yet")

// separator parts a golden file: frames as capture-file lines above, events as JSON lines below.
const separator = "----------\n"

// testIdentity is the identity of every golden transcript.
var testIdentity = schema.Identity{Namespace: "default", Workflow: "golden", Run: "run-1", Activity: 0, Attempt: 1}

// Golden runs the whole suite over the golden files of a translator's version: dir/<version>/*.golden
// with the version's slash as a dash. The events of a version are pinned: -update fills in files that
// have none and never rewrites any, since other events need another version.
func Golden(t *testing.T, tr translate.Translator, dir string) {
	dir = filepath.Join(dir, strings.ReplaceAll(tr.Version(), "/", "-"))
	files, err := filepath.Glob(filepath.Join(dir, "*.golden"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "no golden files in %s", dir)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".golden"), func(t *testing.T) {
			golden(t, tr, file)
		})
	}
}

func golden(t *testing.T, tr translate.Translator, file string) {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	above, below, _ := strings.Cut(string(data), separator)
	frames := ReadFrames(t, file, strings.NewReader(above))
	got := string(Encode(Fold(tr, frames)))
	if below == "" && *update {
		require.NoError(t, os.WriteFile(file, []byte(above+separator+got), 0o644))
		below = got
	}
	require.Equal(t, strings.Split(below, "\n"), strings.Split(got, "\n"),
		"the events of %s are pinned: a translator that gives others needs a new version", tr.Version())
	Properties(t, tr, frames)
}

// ReadFrames reads a capture file.
func ReadFrames(t testing.TB, name string, in io.Reader) []schema.Frame {
	t.Helper()
	r := capturefile.NewReader(name, in)
	var frames []schema.Frame
	for {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return frames
		}
		require.NoError(t, err)
		frames = append(frames, f)
	}
}

// Fold folds a whole capture with a fresh fold.
func Fold(tr translate.Translator, frames []schema.Frame) []schema.Event {
	fold := tr.Fold(testIdentity)
	var events []schema.Event
	for i := range frames {
		events = fold.Step(events, &frames[i])
	}
	return events
}

// Encode writes events, one a line.
func Encode(events []schema.Event) []byte {
	var b bytes.Buffer
	for i := range events {
		b.Write(events[i].AppendJSON(nil))
		b.WriteByte('\n')
	}
	return b.Bytes()
}
