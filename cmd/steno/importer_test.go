package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/ingest/files"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/stage"
)

func minute(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestWhatCannotBeTranslatedIsRefusedBeforeItIsStored(t *testing.T) {
	data, path := t.TempDir(), filepath.Join(t.TempDir(), "unknown.jsonl")
	open := `{"from":"control","type":"open","protocol":"acp","text":"{\"protocol\":\"smoke-signals\"}"}` + "\n"
	require.NoError(t, os.WriteFile(path, []byte(open), 0o600))
	_, offline, code := steno(t, "translate", path)
	require.Equal(t, exitRuntime, code)
	require.Contains(t, offline, "smoke-signals")
	_, stored, code := steno(t, "import", "--data", data, path)
	require.Equal(t, exitRuntime, code)
	require.Equal(t, offline, stored, "import refuses as translate does")
	require.Empty(t, list(t, data))
	require.Contains(t, ok(t, "verify", "--data", data), "verified: 0 frames")
}

func TestAFileThatFailsKeepsNoOtherBack(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	stdout, stderr, code := steno(t, "import", "--data", data, dir, recording("codex-acp-0.16.0.json"),
		filepath.Join(dir, "nowhere"), recording("gemini-cli-0.46.0.json"), "-")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stdout, "codex-acp")
	require.Contains(t, stdout, "gemini-cli")
	require.Contains(t, stderr, "is a directory")
	require.Contains(t, stderr, "nowhere")
	require.Contains(t, stderr, "stdin is not supported")
}

// importInto is an importer of a recording into a bare NATS.
func importInto(t *testing.T, s *natstest.Server, path, run string) (*importer, publish.AppenderOptions) {
	t.Helper()
	file, err := files.Open(path)
	require.NoError(t, err)
	blobs, err := topology.OpenBlobs(minute(t), s.JS)
	require.NoError(t, err)
	id := schema.Identity{Namespace: "n", Workflow: "w", Run: run, Attempt: 1}
	return &importer{file: file, path: path, id: id, progress: &progress{}, slow: &waiting{out: t.Output()}, limit: 2},
		publish.AppenderOptions{JS: s.JS, Blobs: blobs, Partitions: s.Info.Partitions}
}

// A resume that is cut short begins again from the first frame.
func TestResumeComparesFromAnyFrameOn(t *testing.T) {
	s := natstest.Start(t)
	i, o := importInto(t, s, recording("codex-acp-0.16.0.json"), "r")
	require.NoError(t, i.run(minute(t), o))
	require.EqualValues(t, 9, i.added)

	var stored []schema.Frame
	for m, err := range topology.Read(minute(t), s.JS, topology.Raw, schema.RawSubject(i.id, s.Info.Partitions), 1) {
		require.NoError(t, err)
		f, _, err := o.Blobs.Frame(minute(t), m)
		require.NoError(t, err)
		stored = append(stored, f)
	}
	again, _ := importInto(t, s, recording("codex-acp-0.16.0.json"), "r")
	again.rewind()
	defer func() { again.stop() }()
	for _, at := range []int{0, 1, 2, 3, 0, 1, 2, 3, 4, 8, 5} { // the eighth: what is before was sealed away
		require.NoError(t, again.compare(stored[at]), at)
	}
	other := stored[6]
	other.Data = append(bytes.Clone(other.Data), ' ')
	require.ErrorIs(t, again.compare(other), errDiffers)
	for _, change := range []func(*schema.Frame){
		func(f *schema.Frame) { f.Exchange = "e" }, func(f *schema.Frame) { f.No = 1 }, func(f *schema.Frame) { f.Chan = schema.ChanCard },
		func(f *schema.Frame) { f.HTTP = []byte(`{}`) }, func(f *schema.Frame) { f.End = schema.EndNone },
	} {
		other := stored[6]
		change(&other)
		require.False(t, sameFrame(&stored[6], &other))
		require.NotEqual(t, fingerprintOf(&stored[6]), fingerprintOf(&other), "what another import has stored ahead")
	}
}

// Two imports of different files under one identity share a writer id: neither may take the other's
// frames for its own.
func TestTwoImportsUnderOneIdentity(t *testing.T) {
	s := natstest.Start(t)
	dir := t.TempDir()
	original, err := os.ReadFile(recording("codex-acp-0.16.0.json"))
	require.NoError(t, err)
	changed := filepath.Join(dir, "changed.json")
	require.NoError(t, os.WriteFile(changed, bytes.ReplaceAll(original, []byte("Resource not found"), []byte("Resource was found")), 0o600))

	first, o := importInto(t, s, recording("codex-acp-0.16.0.json"), "r")
	frames := 0
	first.limit = 1
	first.pace = func(ctx context.Context, _ *schema.Frame) error {
		if frames++; frames == 2 { // the other one overtakes
			second, o := importInto(t, s, changed, "r")
			require.NoError(t, second.run(ctx, o))
		}
		return nil
	}
	err = first.run(minute(t), o)
	require.ErrorIs(t, err, errDiffers)
	require.ErrorContains(t, err, "frame 6")
}

func TestABatchIsBoundedInBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.jsonl")
	var b bytes.Buffer
	for range 5 {
		b.WriteString(`> {"jsonrpc":"2.0","method":"x","params":"`)
		b.Write(bytes.Repeat([]byte("a"), 3<<20))
		b.WriteString("\"}\n")
	}
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	file, err := files.Open(path)
	require.NoError(t, err)
	i := &importer{file: file, path: path, limit: importBatch}
	i.rewind()
	defer func() { i.stop() }()
	var sizes []int
	for {
		require.NoError(t, i.fill(minute(t), "j"))
		if len(i.batch) == 0 {
			break
		}
		sizes = append(sizes, len(i.batch))
	}
	require.Equal(t, []int{4, 3}, sizes, "open and three frames, then two and close")
}

func TestAParkedCaptureEndsTheWaitOfARemoteImport(t *testing.T) {
	s := natstest.Start(t)
	id := schema.Identity{Namespace: "n", Workflow: "w", Run: "r", Attempt: 1}
	kv, err := s.JS.KeyValue(minute(t), topology.Parked)
	require.NoError(t, err)
	value, err := json.Marshal(stage.Parked{Reason: stage.ReasonFrame, Error: "no", Frame: 3})
	require.NoError(t, err)
	_, err = kv.Put(minute(t), id.Subject(), value)
	require.NoError(t, err)
	a := &app{stdio: stdio{err: t.Output()}}
	err = a.committed(minute(t), s.JS, id, s.Info.Partitions, 7)
	require.ErrorIs(t, err, holder.ErrParked)
	require.ErrorContains(t, err, "at frame 3: frame refused (no)")
}

func TestALongWaitIsSaid(t *testing.T) {
	var out bytes.Buffer
	w := &waiting{out: &out}
	w.on("why")
	require.Empty(t, out.String())
	w.since = w.since.Add(-sayWaitAfter)
	w.on("why")
	w.on("why")
	require.Equal(t, "steno: why\n", out.String())
	w.over()
	w.on("why")
	require.Equal(t, "steno: why\n", out.String())
}
