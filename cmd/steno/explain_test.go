package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/archive"
)

// TestEveryEventIsExplained explains each event of a transcript from the ledger and from an archive alone, and
// checks the proof by itself.
func TestEveryEventIsExplained(t *testing.T) {
	data, away := t.TempDir(), t.TempDir()
	place, bundle := filepath.Join(away, "archive"), filepath.Join(away, "sacks.tar")
	in := func(args ...string) string {
		stdout, stderr, code := steno(t, append(args, "--data", data, "--sync", "1s")...)
		require.Zero(t, code, "%v: %s%s", args, stdout, stderr)
		return stdout
	}
	in("import", "testdata/sacks.jsonl")
	in("seal", "Sacks in the store", "--archive", place, "--out", bundle)
	stored := events(t, in("show", "Sacks", "--json"))
	key := stored[0].Transcript.String()
	text := map[uint64]string{} // of messages, as their frames' places have it

	for _, want := range stored {
		var is struct {
			explanation
			Frames []struct {
				Frame struct {
					Seq  uint64
					Text string
				}
				Bytes  int
				Leaf   string
				Places []struct {
					From, To, At, End int
					Field             string
				}
			} `json:"frames"`
		}
		out := in("explain", fmt.Sprintf("%s#%d", key, want.StoreSeq), "--archive", place, "--json")
		require.NoError(t, json.Unmarshal([]byte(out), &is))
		require.Equal(t, string(want.AppendJSON(nil)), string(is.Event))
		require.NotNil(t, is.Rule)
		require.True(t, *is.Follows)
		require.Empty(t, is.Broken+is.Unproved)
		for _, r := range want.Frames {
			for n := r[0]; n <= r[1]; n++ {
				require.Contains(t, out, fmt.Sprintf(`"frame":{"seq":%d,`, n))
			}
		}
		require.NotEmpty(t, is.Frames)
		for _, f := range is.Frames {
			require.Len(t, f.Frame.Text, f.Bytes)
			for _, p := range f.Places {
				stands := f.Frame.Text[p.From:p.To]
				if p.Field == "text" {
					var said string
					require.NoError(t, json.Unmarshal([]byte(`"`+stands+`"`), &said))
					require.Equal(t, want.Kind.(*schema.Message).Text[p.At:p.End], said)
					text[want.StoreSeq] += said
				}
			}
		}
		if m, ok := want.Kind.(*schema.Message); ok {
			require.Equal(t, m.Text, text[want.StoreSeq], "all of the text is found")
		}
		require.Equal(t, is.Inclusion.Root, rootOf(is.Inclusion), "the path leads to the root")
	}

	live := in("explain", "Sacks#"+fmt.Sprint(messageOf(t, stored, "I look into the store.")))
	require.Contains(t, live, "Message\n")
	require.Contains(t, live, "rule      acp.message of acp/2, dialect 1\n")
	require.Contains(t, live, " at params.update.content.text: text bytes 0 to ")
	require.Contains(t, live, ": \"I look \"\n")
	require.Contains(t, live, "none of its bytes: it only made an end\n")
	require.Contains(t, live, "give this event, byte for byte\n")
	require.Contains(t, live, "no seal is known here that covers it")
	sealed := in("explain", fmt.Sprintf("%s@1", key), "--archive", bundle)
	require.Equal(t, sealed, in("explain", "ce9f8754#1", "--archive", bundle), "the connection goes behind")
	require.Contains(t, sealed, "root: ")
	require.Contains(t, sealed, "not checked against yours (--key)")
	require.NotContains(t, sealed, "log: ", "a bundle has none")

	// Something on the way does not fit.
	other := strings.TrimSpace(in("keygen", filepath.Join(away, "other.key")))
	_, stderr, code := steno(t, "explain", key+"#1", "--archive", place, "--key", other)
	require.Equal(t, exitSignature, code, stderr)
	log := filepath.Join(place, "default", "seals.log")
	require.NoError(t, os.Rename(log, filepath.Join(away, "log")))
	_, stderr, code = steno(t, "explain", key+"#1", "--archive", place)
	require.Equal(t, exitChanged, code)
	require.Contains(t, stderr, "the log of seals, which must name it")
	require.NoError(t, os.Rename(filepath.Join(away, "log"), log))
	parts, err := filepath.Glob(filepath.Join(place, "*", "*", "*", "*", "frames-*"))
	require.NoError(t, err)
	require.NoError(t, os.Rename(parts[0], filepath.Join(away, "part")))
	_, stderr, code = steno(t, "explain", key+"#1", "--archive", place)
	require.Equal(t, exitChanged, code, stderr)
	require.NoError(t, os.Rename(filepath.Join(away, "part"), parts[0]))
	notes, err := filepath.Glob(filepath.Join(place, "*", "*", "*", "*", "*.note"))
	require.NoError(t, err)
	require.Len(t, notes, 1)
	require.NoError(t, os.Remove(notes[0]))
	_, stderr, code = steno(t, "explain", key+"#1", "--archive", place)
	require.Equal(t, exitChanged, code)
	require.Contains(t, stderr, "it is not signed")
	_, stderr, code = steno(t, "explain", key+"#9999", "--archive", bundle)
	require.Equal(t, exitRuntime, code)
	require.Contains(t, stderr, "no such event")
}

func TestEventNames(t *testing.T) {
	for name, want := range map[string]string{
		"fix-the-mill#14": "fix-the-mill 14",
		"a/b/c/0/1/1@7":   "a/b/c/0/1/1 7",
		"issue #3#12":     "issue #3 12",
		"http://127.0.0.1:7070/t/a/b/c/0/1/1?seq=9": "a/b/c/0/1/1 9",
		"https://console.example/t/a/b/c/0/1/1#9":   "a/b/c/0/1/1 9",
	} {
		key, number, err := eventName(name)
		require.NoError(t, err)
		require.Equal(t, want, fmt.Sprint(key, " ", number))
	}
}

// rootOf goes a path up, as RFC 9162, 2.1.3.2 has it.
func rootOf(p *archive.Inclusion) tlog.Hash {
	at, last := p.Index, p.Size-1
	hash := p.Hash
	for _, beside := range p.Path {
		if at&1 == 1 || at == last {
			hash = sha256.Sum256(slices.Concat([]byte{1}, beside[:], hash[:]))
			for ; at&1 == 0 && at != 0; at, last = at>>1, last>>1 {
			}
		} else {
			hash = sha256.Sum256(slices.Concat([]byte{1}, hash[:], beside[:]))
		}
		at, last = at>>1, last>>1
	}
	return hash
}

func messageOf(t *testing.T, all []schema.Event, text string) uint64 {
	t.Helper()
	for _, e := range all {
		if m, ok := e.Kind.(*schema.Message); ok && m.Text == text {
			return e.StoreSeq
		}
	}
	t.Fatalf("no message says %q", text)
	return 0
}

// TestAChangedEventIsNotExplained changes a stored event: the frames do not give it.
func TestAChangedEventIsNotExplained(t *testing.T) {
	data := t.TempDir()
	ok(t, "import", "--data", data, "testdata/sacks.jsonl")
	path := holder.Dir(data).Ledger()
	ledger, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(ledger), "There are 14 sacks.")
	require.NoError(t, os.WriteFile(path, bytes.ReplaceAll(ledger, []byte("There are 14 sacks."), []byte("There are 15 sacks.")), 0o600))
	number := messageOf(t, events(t, ok(t, "show", "--data", data, "--json")), "There are 15 sacks.")
	stdout, _, code := steno(t, "explain", "--data", data, fmt.Sprintf("Sacks#%d", number))
	require.Equal(t, exitChanged, code)
	require.Contains(t, stdout, "give another event; from byte ")
	require.Contains(t, stdout, `"text":"There are 14 sacks."`)
}
