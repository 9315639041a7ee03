package archive_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

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
