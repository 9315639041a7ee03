package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sort"
)

// Leaf is a frame's leaf: SHA-256 of its salt's bytes and its data. Erasing salt and data leaves
// every chain and root over the leaf whole.
func Leaf(salt string, data []byte) ([32]byte, error) {
	raw, err := hex.DecodeString(salt)
	if err != nil {
		return [32]byte{}, fmt.Errorf("hash leaf: salt %q: %w", salt, err)
	}
	h := sha256.New()
	h.Write(raw)
	h.Write(data)
	return [32]byte(h.Sum(nil)), nil
}

// ChainHash is the chain of a frame: SHA-256 over the previous frame's chain (32 bytes, zeros
// before frame 1), the frame's leaf, and its other headers as "name:value\n" lines sorted by name.
// Salt and chain themselves do not count, so that a salt can be erased. The result is 64 hex digits.
func ChainHash(previous string, f *Frame) (string, error) {
	prev := make([]byte, sha256.Size)
	if previous != "" {
		if !isHex(previous, 2*sha256.Size) {
			return "", fmt.Errorf("hash chain of frame %d: previous chain %q is not 64 hex digits", f.Seq, previous)
		}
		if _, err := hex.Decode(prev, []byte(previous)); err != nil {
			return "", fmt.Errorf("hash chain of frame %d: previous chain: %w", f.Seq, err)
		}
	}
	leaf, err := Leaf(f.Salt, f.Data)
	if err != nil {
		return "", fmt.Errorf("hash chain of frame %d: %w", f.Seq, err)
	}
	header := f.Header()
	names := make([]string, 0, len(header))
	for name := range header {
		if name != HeaderSalt && name != HeaderChain {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	h := sha256.New()
	h.Write(prev)
	h.Write(leaf[:])
	for _, name := range names {
		for _, value := range header[name] {
			h.Write([]byte(name + ":" + value + "\n"))
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
