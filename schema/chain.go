package schema

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"
)

// Leaf is a frame's leaf: SHA-256 of its salt's bytes and its data. Erasing salt and data leaves
// every chain and root over the leaf whole.
func Leaf(salt string, data []byte) ([32]byte, error) {
	var room [smallLeaf]byte
	raw, err := hex.AppendDecode(room[:0], []byte(salt))
	if err != nil {
		return [32]byte{}, fmt.Errorf("hash leaf: salt %q: %w", salt, err)
	}
	if len(raw)+len(data) <= smallLeaf {
		return sha256.Sum256(append(raw, data...)), nil
	}
	h := sha256.New()
	h.Write(raw)
	h.Write(data)
	var leaf [32]byte
	h.Sum(leaf[:0])
	return leaf, nil
}

// smallLeaf is up to how many bytes a leaf is hashed at once, from a copy: most frames are that short.
const smallLeaf = 1024

// ChainHash is the chain of a frame: SHA-256 over the previous frame's chain (32 bytes, zeros
// before frame 1), the frame's leaf, and its other headers as "name:value\n" lines sorted by name.
// Salt and chain themselves do not count, so that a salt can be erased. The result is 64 hex digits.
func ChainHash(previous string, f *Frame) (string, error) {
	leaf, err := Leaf(f.Salt, f.Data)
	if err != nil {
		return "", fmt.Errorf("hash chain of frame %d: %w", f.Seq, err)
	}
	return ChainLeaf(previous, leaf, f)
}

// ChainLeaf is ChainHash of a frame whose leaf is known.
func ChainLeaf(previous string, leaf [32]byte, f *Frame) (string, error) {
	chain, err := chainText(previous, leaf, f)
	if err != nil {
		return "", err
	}
	return string(chain[:]), nil
}

// Chained reports whether the frame's chain is the one that ChainLeaf gives.
func Chained(previous string, leaf [32]byte, f *Frame) (bool, error) {
	chain, err := chainText(previous, leaf, f)
	return err == nil && string(chain[:]) == f.Chain, err
}

func chainText(previous string, leaf [32]byte, f *Frame) (text [2 * sha256.Size]byte, err error) {
	var room [512]byte
	b := room[:sha256.Size]
	if previous != "" {
		if !isHex(previous, 2*sha256.Size) {
			return text, fmt.Errorf("hash chain of frame %d: previous chain %q is not 64 hex digits", f.Seq, previous)
		}
		if _, err := hex.Decode(b, []byte(previous)); err != nil {
			return text, fmt.Errorf("hash chain of frame %d: previous chain: %w", f.Seq, err)
		}
	}
	b = append(b, leaf[:]...)
	b = f.appendChained(b)
	sum := sha256.Sum256(b)
	hex.Encode(text[:], sum[:])
	return text, nil
}

// appendChained appends the frame's headers but salt and chain as "name:value\n" lines in the order of
// their names. It writes what Header writes.
func (f *Frame) appendChained(b []byte) []byte {
	text := func(name, value string) {
		if value != "" {
			b = append(append(append(append(b, name...), ':'), value...), '\n')
		}
	}
	number := func(name string, n uint64) {
		b = append(strconv.AppendUint(append(append(b, name...), ':'), n, 10), '\n')
	}
	b = append(append(b, HeaderAt...), ':')
	b = append(f.At.UTC().AppendFormat(b, time.RFC3339Nano), '\n')
	text(HeaderBlob, f.Blob)
	text(HeaderChan, string(f.Chan))
	text(HeaderEnd, string(f.End))
	text(HeaderExchange, f.Exchange)
	text(HeaderFrom, string(f.From))
	if len(f.HTTP) > 0 {
		text(HeaderHTTP, base64.StdEncoding.EncodeToString(f.HTTP))
	}
	if f.No > 0 {
		number(HeaderNo, f.No)
	}
	number(HeaderSeq, f.Seq)
	text(HeaderType, string(f.Type))
	if f.Writer.Journal != "" {
		b = append(append(append(append(b, HeaderWriter...), ':'), f.Writer.Journal...), ':')
		b = append(strconv.AppendUint(b, f.Writer.Offset, 10), '\n')
	}
	return b
}
