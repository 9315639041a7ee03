package archive_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/verify"
	"github.com/steno-io/steno/sink/verify/verifytest"
)

// resign puts a seal and its note in the place of what is there, as whoever has the key can.
func (s *site) resign(name string, seal archive.Seal) {
	s.t.Helper()
	data, err := seal.Encode()
	require.NoError(s.t, err)
	require.NoError(s.t, os.WriteFile(filepath.Join(s.dir, name), data, 0o600))
	signSeal(s.t, filepath.Join(s.dir, strings.TrimSuffix(name, ".json")+".note"), s.secret, &seal, data)
}

// signSeal writes the note of a seal.
func signSeal(t *testing.T, path, private string, seal *archive.Seal, data []byte) {
	t.Helper()
	signer, err := note.NewSigner(strings.TrimSpace(private))
	require.NoError(t, err)
	key, err := archive.NewKey(private)
	require.NoError(t, err)
	sum := sha256.Sum256(data)
	signed, err := note.Sign(&note.Note{Text: fmt.Sprintf("github.com/steno-io/steno/seal/%s\n%d\n%s\nsha256 %s\nkey %s\n",
		seal.Capture, seal.Last, seal.Root, hex.EncodeToString(sum[:]), key.Public())}, signer)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, signed, 0o600))
}

// TestARootOfOtherFramesIsFound has the key's owner sign a root that is not that of the frames.
func TestARootOfOtherFramesIsFound(t *testing.T) {
	s := newSite(t)
	id := identity("one")
	s.tell(id, story)
	name := archive.Folder(id) + "seal-000000000009.json"
	seal := *s.seal(id)
	var tree archive.Tree
	for n := range seal.Last {
		tree.Append([32]byte{byte(n)})
	}
	seal.Root, seal.Edge = tree.Root(), tree.Edge()
	s.resign(name, seal)
	require.NoError(t, os.RemoveAll(filepath.Join(s.dir, id.Namespace, "seals.log")))

	c, err := archive.Check(context.Background(), s.store(), archive.CheckOptions{Trusted: s.key.Public(), Single: true, NewFold: verifytest.Fold})
	require.NoError(t, err)
	require.Equal(t, 10, c.ExitCode())
	require.Len(t, c.Findings, 1)
	require.Equal(t, verify.BadSeal, c.Findings[0].Problem)
	require.Equal(t, name, c.Findings[0].File)
	require.Contains(t, c.Findings[0].Detail, "which its frames give")
}

// TestASealThatClaimsTooMuchIsFound has the key's owner, or nobody, seal a bundle that says what no archive
// has: the check ends, with findings, whether or not this build has the translator.
func TestASealThatClaimsTooMuchIsFound(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := identity("one")
	s.tell(id, story)
	name := archive.Folder(id) + "seal-000000000009.json"
	whole := *s.seal(id)
	files := s.files()
	for _, tt := range []struct {
		name string
		says func(*archive.Seal)
	}{
		{"a session of 2^63 events", func(seal *archive.Seal) { seal.Sessions[1].Head = 1 << 63 }},
		{"a session of 2^52 events", func(seal *archive.Seal) { seal.Sessions[1].Head = 1 << 52 }},
		{"a part's name up to 2^63", func(seal *archive.Seal) {
			for i, f := range seal.Files {
				if strings.HasPrefix(f.Name, "s1/") {
					seal.Files[i].Name = fmt.Sprintf("s1/events-000000000001-%d.jsonl.zst", uint64(1)<<63)
				}
			}
		}},
		{"2^52 frames", func(seal *archive.Seal) {
			seal.Last, seal.Origin, seal.Edge = 1<<52, fmt.Sprintf("%d.0", 1<<52), seal.Edge[:1]
			seal.Root = seal.Edge[0]
		}},
		{"a part that unpacks to more", func(seal *archive.Seal) { seal.Files[0].Content.Bytes -= 10 }},
		{"a part that unpacks to 2^40 bytes", func(seal *archive.Seal) { seal.Files[0].Content.Bytes = 1 << 40 }},
		{"a part of no session", func(seal *archive.Seal) {
			seal.Files = append(seal.Files, archive.File{Name: "s9/events-000000000000-000000000000.jsonl.zst", Content: &archive.Content{Lines: 1}})
		}},
	} {
		for _, fold := range []func(schema.Identity, string) verify.Fold{verifytest.Fold, withoutVersion} {
			seal := whole
			seal.Files, seal.Sessions = nil, slices.Clone(whole.Sessions)
			for _, f := range whole.Files {
				content := *f.Content
				f.Content = &content
				seal.Files = append(seal.Files, f)
			}
			tt.says(&seal)
			now := strings.Replace(name, "000000000009", fmt.Sprintf("%012d", seal.Last), 1)
			s.remove(name)
			s.remove(strings.TrimSuffix(name, ".json") + ".note")
			s.resign(now, seal)
			c, err := archive.Check(t.Context(), s.store(), archive.CheckOptions{Single: true, NewFold: fold})
			require.NoError(t, err, tt.name)
			require.Equal(t, 10, c.ExitCode(), tt.name)
			require.Less(t, len(c.Findings), 20, tt.name)
			s.remove(now)
			s.remove(strings.TrimSuffix(now, ".json") + ".note")
			for name, text := range files {
				require.NoError(t, put(filepath.Join(s.dir, name), &text))
			}
		}
	}
}

func withoutVersion(schema.Identity, string) verify.Fold {
	return verify.Fold{Step: func(*schema.Frame) ([]schema.Event, error) { return nil, verify.ErrVersion }}
}
