package archive

import (
	"crypto/sha256"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"
)

// stored is a tree as the library keeps it: every hash.
type stored []tlog.Hash

func (s stored) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		out[i] = s[at]
	}
	return out, nil
}

func TestRootIsThatOfRFC6962(t *testing.T) {
	var tree Tree
	var all stored
	for n := int64(0); n < 300; n++ {
		want, err := tlog.TreeHash(n, all)
		require.NoError(t, err)
		require.Equal(t, want, tree.Root(), "%d frames", n)

		again, err := NewTree(tree.Size(), tree.Edge())
		require.NoError(t, err)
		leaf := sha256.Sum256([]byte(strconv.FormatInt(n, 10)))
		again.Append(leaf)
		tree.Append(leaf)
		require.Equal(t, tree.Root(), again.Root(), "gone on from the edge of %d frames", n)

		hashes, err := tlog.StoredHashes(n, leaf[:], all)
		require.NoError(t, err)
		all = append(all, hashes...)
	}
	_, err := NewTree(5, tree.Edge()[:1])
	require.ErrorContains(t, err, "its edge has 2 hashes, got 1")
}
