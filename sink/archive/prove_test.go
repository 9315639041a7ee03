package archive_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/archive"
)

// TestEveryFrameIsProved proves each frame of captures of all sizes under the root of the seal that covers it,
// which grew without the leaves.
func TestEveryFrameIsProved(t *testing.T) {
	for size := 1; size <= 40; size++ {
		var leaves archive.Leaves
		var tree archive.Tree
		var all [][32]byte
		for n := range size {
			leaf, err := schema.Leaf(fmt.Sprintf("%032x", n), []byte{byte(n)})
			require.NoError(t, err)
			require.NoError(t, leaves.Append(leaf))
			tree.Append(leaf)
			all = append(all, leaf)
		}
		for n, leaf := range all {
			p, err := leaves.Prove(uint64(n+1), uint64(size), leaf, tree.Root())
			require.NoError(t, err)
			require.LessOrEqual(t, len(p.Path), 6)
			other := leaf
			other[0] ^= 1
			_, err = leaves.Prove(uint64(n+1), uint64(size), other, tree.Root())
			require.Error(t, err)
		}
		_, err := leaves.Prove(uint64(size+1), uint64(size), all[0], tree.Root())
		require.Error(t, err)
	}
}

func TestSealing(t *testing.T) {
	s := newSite(t)
	id := identity("one")
	s.tell(id, story)
	s.seal(id)
	s.tell(id, "m e f")
	s.seal(id)
	ctx := context.Background()
	open := func() *archive.Contents {
		c, err := archive.Open(ctx, s.store(), nil)
		require.NoError(t, err)
		t.Cleanup(c.Close)
		return c
	}
	c := open()
	var numbers []uint64
	for f, err := range c.FramesOf(ctx, id, 8) {
		require.NoError(t, err)
		numbers = append(numbers, f.Seq)
	}
	require.Equal(t, []uint64{8, 9, 10, 11, 12, 13, 14}, numbers)

	first, err := c.Sealing(ctx, id, 9, s.key.Public(), false)
	require.NoError(t, err)
	require.Equal(t, uint64(9), first.Seal.Last)
	require.True(t, first.Trusted)
	require.Equal(t, "default/seals.log/000000000001.json", first.Log)
	last, err := c.Sealing(ctx, id, 10, "", false)
	require.NoError(t, err)
	require.Equal(t, uint64(14), last.Seal.Last)
	require.False(t, last.Trusted)
	require.True(t, strings.HasSuffix(last.Name, "/seal-000000000014.json"))
	none, err := c.Sealing(ctx, id, 15, "", false)
	require.NoError(t, err)
	require.Nil(t, none)

	_, foreign, err := archive.Generate("mill")
	require.NoError(t, err)
	_, err = c.Sealing(ctx, id, 9, foreign, false)
	require.ErrorIs(t, err, archive.ErrSignature)

	hide := func(name string) {
		was := s.files()[name]
		s.remove(name)
		_, err = open().Sealing(ctx, id, 9, "", false)
		require.ErrorIs(t, err, archive.ErrUnfit, name)
		_, err = open().Sealing(ctx, id, 9, "", true)
		require.NoError(t, err, "a bundle has no log")
		require.NoError(t, put(filepath.Join(s.dir, name), &was))
	}
	hide("default/seals.log/head.note")
	hide("default/seals.log/000000000001.json")
	hide("default/seals.log/000000000002.json")
	seal := s.files()[last.Name]
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, last.Name), []byte(seal+"\n"), 0o600))
	_, err = archive.Open(ctx, s.store(), nil)
	require.ErrorIs(t, err, archive.ErrUnfit)
	other, err := archive.Open(ctx, s.store(), func(of schema.Identity) bool { return of != id })
	require.NoError(t, err, "it is another capture's")
	other.Close()
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, last.Name), []byte(seal), 0o600))

	s.remove(last.Note)
	_, err = open().Sealing(ctx, id, 10, "", false)
	require.ErrorIs(t, err, archive.ErrUnfit)
	s.remove(first.Name)
	_, err = archive.Open(ctx, s.store(), nil)
	require.ErrorContains(t, err, "it does not follow the seal before it")
}
