package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/capturefile"
	"github.com/steno-io/steno/translate/a2a/a2atest"
	"github.com/steno-io/steno/translate/translatetest"
)

const (
	a2aCases      = "../../translate/a2a/testdata/cases.jsonl"
	a2aRecordings = "../../translate/a2a/testdata/a2a-go.jsonl"
)

// a2aFile writes frames as a capture file.
func a2aFile(t *testing.T, dir, name string, frames []schema.Frame) string {
	t.Helper()
	var lines []byte
	for i := range frames {
		var err error
		lines, err = capturefile.AppendLine(lines, &frames[i])
		require.NoError(t, err)
	}
	path := filepath.Join(dir, strings.ReplaceAll(name, "/", "-")+".jsonl")
	require.NoError(t, os.WriteFile(path, lines, 0o600))
	return path
}

// a2aFiles writes every case and every recording as a capture file; what a case expects is checked on
// the way.
func a2aFiles(t *testing.T) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	translatetest.Cases(t, "A2A-", a2aCases, func(t *testing.T, c translatetest.Case) []schema.Event {
		path := a2aFile(t, dir, c.ID, a2atest.CaseFrames(t, c))
		paths = append(paths, path)
		return translated(t, path)
	})
	all := a2atest.Recordings(t, a2aRecordings)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		paths = append(paths, a2aFile(t, dir, name, opened(name, all[name])))
	}
	return append(paths, recording("a2a-go-2.4.0.jsonl"))
}

// opened puts an open frame before the frames: two recordings of the same bytes are two captures then.
func opened(peer string, frames []schema.Frame) []schema.Frame {
	open := schema.Frame{
		Seq: 1, At: frames[0].At, From: schema.FromControl, Type: schema.TypeOpen, Protocol: schema.A2A, End: schema.EndNone,
		Data: []byte(`{"protocol":"a2a","tap":"proxy","peer":"` + peer + `"}`),
	}
	all := append([]schema.Frame{open}, frames...)
	for i := range all {
		all[i].Seq = uint64(i) + 1
	}
	return all
}

// translated translates a file without what its end adds: a case speaks of its own frames.
func translated(t *testing.T, path string) []schema.Event {
	t.Helper()
	out, stderr, code := steno(t, "translate", path)
	require.Zero(t, code, stderr)
	all := events(t, out)
	last := all[len(all)-1].WorkerSeq
	return slices.DeleteFunc(all, func(e schema.Event) bool { return e.WorkerSeq == last })
}

func TestEveryA2AFileTranslatesAsItIsStored(t *testing.T) {
	paths, data := a2aFiles(t), t.TempDir()
	results := func() (all []imported) {
		for line := range strings.Lines(ok(t, append([]string{"import", "--json", "--data", data}, paths...)...)) {
			var r imported
			require.NoError(t, json.Unmarshal([]byte(line), &r))
			all = append(all, r)
		}
		require.Len(t, all, len(paths))
		return all
	}
	first, again := results(), results()
	up := startUp(t, data)
	defer up.stop(t)
	for i, path := range paths {
		require.Equal(t, first[i].Frames, first[i].Added, path)
		require.Equal(t, first[i].Capture, again[i].Capture, path)
		require.Zero(t, again[i].Added, path)
		offline := ok(t, "translate", path)
		require.Equal(t, offline, ok(t, "translate", path), "the same file gives the same bytes: %s", path)
		shown := ok(t, "show", "--data", data, "--json", first[i].Capture+"/0")
		require.Equal(t, numbered(t, durable(t, offline)[0]), shown, path)
	}
	for _, s := range list(t, data) {
		require.Zero(t, s.Unaccounted, s.Key)
		require.Equal(t, schema.A2A, s.Protocol)
	}
	require.Contains(t, ok(t, "verify", "--data", data), " 0 unaccounted\n")
}

// What translates as it is stored also reads and replays.
func TestA2AIsShownTailedAndReplayed(t *testing.T) {
	data := t.TempDir()
	ok(t, "import", "--data", data, recording("a2a-go-2.4.0.jsonl"))
	const said = "user\n  orders slow\n\n· Looking at the order list\n\nagent · orders\n  Seven <b>open</b> orders in Łódź.\n" +
		"  [data · count 7, ids [1,2]]\n  [raw · 3 bytes]\n  [url · https://files.example/a.csv · text/csv]\n\n■ end of turn\n"
	up := startUp(t, data)
	defer up.stop(t)
	for _, args := range [][]string{{"show"}, {"tail", "--until-end"}, {"replay", "--speed", "100"}} {
		require.Contains(t, ok(t, append(args, "--data", data)...), said, args)
	}
	task := ""
	for _, e := range events(t, ok(t, "show", "--data", data, "--json")) {
		task = max(task, e.Source.TaskID)
	}
	require.NotEmpty(t, task)
	for _, part := range []string{task, task[:len(task)/2]} {
		require.Contains(t, ok(t, "show", "--data", data, part), said, "clients print tasks first")
	}
	_, errs, code := steno(t, "show", "--data", data, task+"x")
	require.Equal(t, exitRuntime, code)
	require.Contains(t, errs, "no key, session id, title or task has it")
	// Both were stored with what ended them, a second and more later.
	timed := ok(t, "show", "--times", "--data", data)
	require.Contains(t, timed, "\n· Looking at the order list  +13 ms\n")
	require.Contains(t, timed, "\nagent · orders  +464 ms\n")
	require.Regexp(t, `ended +a2a orders +orders slow`, ok(t, "ls", "--data", data))
}

// A frame of the same bytes in another place is another frame.
func TestImportAgainComparesWhereAFrameStands(t *testing.T) {
	const frame = `{"from":"agent","protocol":"a2a","exchange":"e","no":1,"chan":"response","http":{"status":200},"text":"{}"}`
	data, path := t.TempDir(), filepath.Join(t.TempDir(), "a.jsonl")
	write := func(line string) { require.NoError(t, os.WriteFile(path, []byte(line+"\n"), 0o600)) }
	write(frame)
	ok(t, "import", "--data", data, "--run", "r", path)
	up := startUp(t, data)
	defer up.stop(t)
	require.Contains(t, ok(t, "import", "--data", data, "--run", "r", "--json", path), `"added":0`)
	for _, change := range [][2]string{
		{`"exchange":"e"`, `"exchange":"f"`}, {`"no":1`, `"no":2`}, {`"chan":"response"`, `"chan":"push"`},
		{`{"status":200}`, `{"status":201}`}, {`"http":{"status":200},`, ``}, {`"text":"{}"`, `"text":"[]"`},
	} {
		write(strings.Replace(frame, change[0], change[1], 1))
		_, stderr, code := steno(t, "import", "--data", data, "--run", "r", path)
		require.Equal(t, exitRuntime, code, change)
		require.Contains(t, stderr, "frame 2 is not that of ", change)
	}
}

func TestWrongA2AFilesAreRefusedByFileAndLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"from":"client","protocol":"a2a","exchange":"e","chan":"request","text":"{}"}
{"from":"agent","chan":"stream","text":"{}"}
`), 0o600))
	data := t.TempDir()
	for _, args := range [][]string{{"translate", path}, {"import", "--data", data, path}} {
		_, stderr, code := steno(t, args...)
		require.Equal(t, exitRuntime, code)
		require.Contains(t, stderr, path+`:2: member "exchange" is missing: want the id of the HTTP exchange that this stream belongs to`)
	}
}
