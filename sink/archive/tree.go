package archive

import (
	"crypto/sha256"
	"fmt"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// Tree is an RFC 6962 Merkle tree over a capture's frames that grows at its right edge. Of what is to
// the left it keeps the roots of the full subtrees only, at most 64. The zero value has no frames.
type Tree struct {
	size uint64
	edge []tlog.Hash // roots of the full subtrees, from the largest, on the left, to the smallest
}

// NewTree goes on with a tree of so many frames and that edge.
func NewTree(size uint64, edge []tlog.Hash) (*Tree, error) {
	if want := bits.OnesCount64(size); want != len(edge) {
		return nil, fmt.Errorf("read tree of %d frames: its edge has %d hashes, got %d", size, want, len(edge))
	}
	return &Tree{size: size, edge: append([]tlog.Hash(nil), edge...)}, nil
}

// Append adds a frame by its leaf (schema.Leaf), which is the datum of a leaf of RFC 6962.
func (t *Tree) Append(leaf [32]byte) {
	h := leafHash(leaf)
	for full := t.size; full&1 == 1; full >>= 1 {
		last := len(t.edge) - 1
		h = nodeHash(t.edge[last], h)
		t.edge = t.edge[:last]
	}
	t.edge = append(t.edge, h)
	t.size++
}

// Size is the number of frames.
func (t *Tree) Size() uint64 { return t.size }

// Edge is what NewTree goes on from.
func (t *Tree) Edge() []tlog.Hash { return append([]tlog.Hash(nil), t.edge...) }

// Root is the tree's hash. A tree without frames has that of RFC 6962, SHA-256 of nothing.
func (t *Tree) Root() tlog.Hash {
	if t.size == 0 {
		h, _ := tlog.TreeHash(0, nil) // of no frames nothing is read
		return h
	}
	root := t.edge[len(t.edge)-1]
	for i := len(t.edge) - 2; i >= 0; i-- {
		root = nodeHash(t.edge[i], root)
	}
	return root
}

// leafHash and nodeHash are tlog.RecordHash and tlog.NodeHash without what those allocate.
func leafHash(leaf [32]byte) tlog.Hash {
	var b [1 + sha256.Size]byte // 0x00 ‖ leaf
	copy(b[1:], leaf[:])
	return sha256.Sum256(b[:])
}

func nodeHash(left, right tlog.Hash) tlog.Hash {
	b := [1 + 2*sha256.Size]byte{0x01}
	copy(b[1:], left[:])
	copy(b[1+sha256.Size:], right[:])
	return sha256.Sum256(b[:])
}
