package archive_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/archive"
)

// page is BYHAND.md: what is run first, then the steps in their order.
type page struct {
	before string
	steps  []step
}

type step struct{ title, script string }

func readPage(t *testing.T) (p page) {
	t.Helper()
	text, err := os.ReadFile("BYHAND.md")
	require.NoError(t, err)
	for i, section := range strings.Split(string(text), "\n## ") {
		title, _, _ := strings.Cut(section, "\n")
		script := ""
		for _, block := range strings.Split(section, "\n```sh\n")[1:] {
			code, _, closed := strings.Cut(block, "\n```")
			require.True(t, closed, title)
			script += code + "\n"
		}
		if i == 0 {
			p.before = script
			continue
		}
		require.NotEmpty(t, script, title)
		p.steps = append(p.steps, step{title, script})
	}
	return p
}

var everyStep = flag.Bool("everystep", false, "TestThePageByHand runs all steps on what was changed, not only those that must find it")

// run runs steps of the page in a directory and gives the titles of those that did not end with 0.
func (p page) run(t *testing.T, dir string, steps []step) (failed []string) {
	t.Helper()
	for _, s := range steps {
		// The last line is the one whose status counts, as in a shell that somebody types into.
		cmd := exec.CommandContext(t.Context(), "bash", "-c", p.before+s.script)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		if err != nil {
			require.IsType(t, &exec.ExitError{}, err)
			require.NotEmpty(t, out, "%s says nothing", s.title)
			t.Logf("%s: %s", s.title, bytes.TrimSpace(out))
			failed = append(failed, s.title)
		}
	}
	return failed
}

// hands is a directory as the page wants it, and what its owner can do with it.
type hands struct {
	t       *testing.T
	dir     string
	folder  string // of the capture
	private string
}

const (
	sacks, loom = "testdata/sacks.jsonl", "recordings/a2a-go-2.4.0.jsonl"
	sacksRun    = "run-1"
)

// newHands makes an archive of two captures, one of them in two parts.
func newHands(t *testing.T) *hands {
	t.Helper()
	for _, program := range []string{"bash", "sha256sum", "zstd", "jq", "openssl", "python3", "tar", "diff"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("the page needs %s; Debian, Ubuntu: apt-get install -y --no-install-recommends zstd jq openssl python3", program)
		}
	}
	h := &hands{t: t, dir: t.TempDir()}
	var key archive.Key
	key, h.private = newKey(t, "mill.example")
	place := filepath.Join(h.dir, "archive")
	var r recorded
	id := r.record(t, recordingFile(sacks), sacksRun, 12)
	r.seal(t, place, key, id)
	r.record(t, recordingFile(sacks), sacksRun, 0)
	require.NotNil(t, r.seal(t, place, key, id).Previous)
	r.seal(t, place, key, r.record(t, recordingFile(loom), "run-2", 0))
	h.folder = filepath.Join(place, archive.Folder(id))
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "mill.pub"), []byte(key.Public()+"\n"), 0o600))
	return h
}

// again is a copy of what is whole.
func (h *hands) again(t *testing.T) *hands {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(h.dir)))
	folder, err := filepath.Rel(h.dir, h.folder)
	require.NoError(t, err)
	return &hands{t: t, dir: dir, folder: filepath.Join(dir, folder), private: h.private}
}

// pack makes the bundle of what is in the archive.
func (h *hands) pack() {
	h.t.Helper()
	store, err := archive.OpenDir(filepath.Join(h.dir, "archive"), false)
	require.NoError(h.t, err)
	var bundle bytes.Buffer
	id := schema.Identity{Namespace: "default", Workflow: "import", Run: sacksRun, Attempt: 1}
	require.NoError(h.t, archive.WriteTar(context.Background(), &bundle, store, id))
	require.NoError(h.t, os.WriteFile(filepath.Join(h.dir, "bundle.tar"), bundle.Bytes(), 0o600))
	require.NoError(h.t, os.RemoveAll(filepath.Join(h.dir, "bundle")))
}

func (h *hands) file(pattern string) string {
	h.t.Helper()
	found, err := filepath.Glob(filepath.Join(h.folder, pattern))
	require.NoError(h.t, err)
	require.NotEmpty(h.t, found)
	return found[len(found)-1]
}

func (h *hands) edit(path string, change func(string) string) {
	h.t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(h.t, err)
	changed := change(string(text))
	require.NotEqual(h.t, string(text), changed)
	require.NoError(h.t, os.WriteFile(path, []byte(changed), 0o600))
}

// lines changes the lines of a part, and has the last seal say what it then is.
func (h *hands) lines(pattern string, change func([]string) []string) {
	h.t.Helper()
	path := h.file(pattern)
	packed, err := os.ReadFile(path)
	require.NoError(h.t, err)
	unzip, err := zstd.NewReader(nil)
	require.NoError(h.t, err)
	defer unzip.Close()
	text, err := unzip.DecodeAll(packed, nil)
	require.NoError(h.t, err)
	changed := strings.Join(change(strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")), "")
	require.NotEqual(h.t, strings.TrimSuffix(string(text), "\n"), changed)
	zip, err := zstd.NewWriter(nil)
	require.NoError(h.t, err)
	packed = zip.EncodeAll([]byte(strings.TrimSuffix(changed, "\n")+"\n"), nil)
	require.NoError(h.t, zip.Close())
	require.NoError(h.t, os.WriteFile(path, packed, 0o600))
	h.seal(func(s *archive.Seal) {
		for i := range s.Files {
			if strings.HasSuffix(path, s.Files[i].Name) {
				sum := sha256.Sum256(packed)
				s.Files[i].SHA256, s.Files[i].Bytes = hex.EncodeToString(sum[:]), int64(len(packed))
			}
		}
	})
}

// seal changes the last seal.
func (h *hands) seal(change func(*archive.Seal)) {
	h.t.Helper()
	h.edit(h.file("seal-*.json"), func(text string) string {
		var s archive.Seal
		require.NoError(h.t, json.Unmarshal([]byte(text), &s))
		change(&s)
		out, err := s.Encode()
		require.NoError(h.t, err)
		return string(out)
	})
}

// sign signs the last seal anew.
func (h *hands) sign(private string) {
	h.t.Helper()
	path := h.file("seal-*.json")
	text, err := os.ReadFile(path)
	require.NoError(h.t, err)
	var s archive.Seal
	require.NoError(h.t, json.Unmarshal(text, &s))
	signSeal(h.t, strings.TrimSuffix(path, ".json")+".note", private, &s, text)
}

// TestThePageByHand runs BYHAND.md word for word: on what is whole every step ends well; on what was changed
// those fail that the page says find it, whoever changed it.
func TestThePageByHand(t *testing.T) {
	t.Parallel()
	p := readPage(t)
	titles := []string{"1 Files", "2 Seals", "3 Signatures", "4 Numbers", "5 Chain and root", "6 Conservation", "7 Messages", "8 The log"}
	require.Equal(t, titles, func() (all []string) {
		for _, s := range p.steps {
			all = append(all, s.title)
		}
		return all
	}())
	flip := func(text string) string {
		b := []byte(text)
		b[len(b)/2] ^= 1
		return string(b)
	}
	unsaid := func(lines []string) []string { // and what is behind it numbered anew
		at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "There are 14 sacks.") })
		for i, line := range lines[at+1:] {
			var e struct {
				StoreSeq int `json:"store_seq"`
			}
			require.NoError(t, json.Unmarshal([]byte(line), &e))
			lines[at+1+i] = strings.Replace(line, fmt.Sprintf(`"store_seq":%d,`, e.StoreSeq), fmt.Sprintf(`"store_seq":%d,`, e.StoreSeq-1), 1)
		}
		return slices.Delete(lines, at, at+1)
	}
	message := func(lines []string) []string {
		for i, line := range lines {
			if strings.Contains(line, `"kind":"Message"`) && strings.Contains(line, "There are 14 sacks.") {
				lines[i] = strings.ReplaceAll(line, "14 sacks", "15 sacks")
			}
		}
		return lines
	}
	whole := newHands(t)
	for _, tt := range []struct {
		name   string
		change func(h *hands)
		failed []string
	}{
		{"nothing", func(*hands) {}, nil},
		{"a byte of the frames", func(h *hands) { h.edit(h.file("frames-*"), flip) }, []string{"1", "4", "5", "7"}},
		{"a byte of the events", func(h *hands) { h.edit(h.file("s1/events-*"), flip) }, []string{"1", "4", "6", "7"}},
		{"a byte of a seal", func(h *hands) {
			h.edit(h.file("seal-*.json"), func(text string) string {
				return strings.Replace(text, `"gaps": 0`, `"gaps": 1`, 1)
			})
		}, []string{"3", "8"}},
		{"a seal is gone", func(h *hands) {
			for _, name := range []string{"seal-000000000012.json", "seal-000000000012.note"} {
				require.NoError(h.t, os.Remove(filepath.Join(h.folder, name)))
			}
		}, []string{"1", "2", "8"}},
		{"a note is gone", func(h *hands) { require.NoError(h.t, os.Remove(h.file("seal-*.note"))) }, []string{"3", "5"}},
		{"a file is added", func(h *hands) {
			require.NoError(h.t, os.WriteFile(filepath.Join(h.folder, "s1", "seal-more"), nil, 0o600))
		}, []string{"1"}},
		{"a capture is gone", func(h *hands) {
			require.NoError(h.t, os.RemoveAll(filepath.Join(h.dir, "archive/default/import/run-2")))
		}, []string{"8"}},
		{"an event, with the seal", func(h *hands) { h.lines("s1/events-*", message) }, []string{"3", "7", "8"}},
		{"an event, with the seal, signed by another", func(h *hands) {
			h.lines("s1/events-*", message)
			_, other := newKey(h.t, "mill.example")
			h.sign(other)
		}, []string{"3", "7", "8"}},
		{"an event, by the owner", func(h *hands) { h.lines("s1/events-*", message); h.sign(h.private) }, []string{"7", "8"}},
		{"a frame's bytes, by the owner", func(h *hands) {
			h.lines("frames-*", func(lines []string) []string {
				lines[0] = strings.Replace(lines[0], `"text":"`, `"text":" `, 1)
				return lines
			})
			h.sign(h.private)
		}, []string{"5", "8"}},
		{"a frame is gone, by the owner", func(h *hands) {
			h.lines("frames-*", func(lines []string) []string { return slices.Delete(lines, 1, 2) })
			h.sign(h.private)
		}, []string{"4", "5", "8"}},
		{"an event is gone, by the owner", func(h *hands) {
			h.lines("s1/events-*", unsaid)
			h.seal(func(s *archive.Seal) { s.Sessions[len(s.Sessions)-1].Head-- })
			h.sign(h.private)
		}, []string{"6", "8"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := whole.again(t)
			tt.change(h)
			h.pack()
			steps, want := p.steps, []string(nil)
			if tt.failed != nil && !*everyStep {
				steps = nil
			}
			for _, n := range tt.failed {
				s := p.steps[n[0]-'1']
				want = append(want, s.title)
				if !*everyStep {
					steps = append(steps, s)
				}
			}
			if slices.Contains(tt.failed, "8") && !slices.Contains(tt.failed, "3") && !*everyStep {
				steps = slices.Insert(steps, 0, p.steps[2]) // whose script the log's head is read by
			}
			require.Equal(t, want, p.run(t, h.dir, steps))
		})
	}
}
