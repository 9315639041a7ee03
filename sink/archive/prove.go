package archive

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/steno-io/steno/schema"
)

// Leaves are the frames of a capture, in order, as leaves of the tree of RFC 6962: of them follows the proof
// that one is among those of a seal. The zero value has none. It takes 64 bytes a frame.
type Leaves struct {
	size   int64
	hashes []tlog.Hash
}

// Append adds the next frame by its leaf (schema.Leaf).
func (l *Leaves) Append(leaf [32]byte) error {
	hashes, err := tlog.StoredHashesForRecordHash(l.size, tlog.RecordHash(leaf[:]), tlog.HashReaderFunc(l.read))
	if err != nil {
		return fmt.Errorf("add frame %d to the tree: %w", l.size+1, err)
	}
	l.hashes = append(l.hashes, hashes...)
	l.size++
	return nil
}

func (l *Leaves) read(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		if at < 0 || at >= int64(len(l.hashes)) {
			return nil, fmt.Errorf("hash %d is not there", at)
		}
		out[i] = l.hashes[at]
	}
	return out, nil
}

// Size is the number of frames.
func (l *Leaves) Size() uint64 { return uint64(l.size) }

// Inclusion is the proof that a frame is among those that a seal covers: the leaf's hash and those of the
// path, from the leaf up, give the root (RFC 6962, 2.1.1).
type Inclusion struct {
	Frame uint64      `json:"frame"`
	Index uint64      `json:"index"` // of the leaf, from 0
	Size  uint64      `json:"size"`  // of the tree: frames that the seal covers
	Leaf  string      `json:"leaf"`  // SHA-256(salt ‖ bytes), in hex: the leaf's datum
	Hash  tlog.Hash   `json:"hash"`  // SHA-256(0x00 ‖ leaf), in base64
	Path  []tlog.Hash `json:"path"`
	Root  tlog.Hash   `json:"root"`
}

// Prove makes the proof for a frame in the tree of the first size frames, and checks it against root.
func (l *Leaves) Prove(frame, size uint64, leaf [32]byte, root tlog.Hash) (Inclusion, error) {
	p := Inclusion{Frame: frame, Index: frame - 1, Size: size, Leaf: fmt.Sprintf("%x", leaf), Hash: tlog.RecordHash(leaf[:]), Root: root}
	if frame == 0 || frame > size || size > l.Size() {
		return p, fmt.Errorf("prove frame %d of %d: there are %d", frame, size, l.Size())
	}
	path, err := tlog.ProveRecord(int64(size), int64(p.Index), tlog.HashReaderFunc(l.read))
	if err == nil {
		err = tlog.CheckRecord(path, int64(size), root, int64(p.Index), p.Hash)
	}
	if err != nil {
		return p, fmt.Errorf("prove frame %d of %d under root %s: %w", frame, size, root, err)
	}
	p.Path = path
	return p, nil
}

// Sealing is the seal that covers a frame, and who vouches for it.
type Sealing struct {
	Seal    *Seal  `json:"-"`
	Name    string `json:"seal"`   // object
	SHA256  string `json:"sha256"` // of its JSON
	Note    string `json:"note"`   // object
	Key     string `json:"key"`    // public key that signed the note
	KeyHash string `json:"key_hash"`
	Trusted bool   `json:"trusted"`       // it is the key that was asked for
	Log     string `json:"log,omitempty"` // object: the entry of the log of seals that names the seal; a bundle has no log
}

// ErrUnfit: something that was read of an archive is not what it must be; steno verify finds what.
var ErrUnfit = errors.New("it does not fit")

// unfit marks an error as one of what was read, unless the store failed or the call was broken off.
func unfit(ctx context.Context, err error) error {
	if err == nil || storeFailed(err) || ctx.Err() != nil || errors.Is(err, ErrUnfit) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnfit, err)
}

// Sealing gives the first seal that covers a frame of a capture, its note checked against it and, unless it is
// empty, against the trusted public key; nil if none covers it. single: the archive is a bundle, which has no log
// of seals; any other must have it. The error wraps ErrSignature or ErrUnfit where seal, note and log do not fit.
func (c *Contents) Sealing(ctx context.Context, id schema.Identity, frame uint64, trusted string, single bool) (*Sealing, error) {
	one := c.captures[id]
	if one == nil {
		return nil, nil
	}
	for i := range one.seals {
		if s := &one.seals[i]; s.Last >= frame {
			out, err := c.sealing(ctx, id, s, trusted)
			if err == nil && !single {
				out.Log, err = c.logged(ctx, id, s, out.SHA256, trusted)
			}
			if err != nil {
				return nil, fmt.Errorf("check seal up to frame %d of %s: %w", s.Last, id, unfit(ctx, err))
			}
			return out, nil
		}
	}
	return nil, nil
}

func (c *Contents) sealing(ctx context.Context, id schema.Identity, s *Seal, trusted string) (*Sealing, error) {
	out := &Sealing{Seal: s, Name: Folder(id) + sealName(s.Last), Note: Folder(id) + noteName(sealName(s.Last))}
	data, err := s.Encode() // as it was read: DecodeSeal takes no other bytes
	if err != nil {
		return nil, err
	}
	out.SHA256 = hexSum(data)
	text, err := read(ctx, c.store, out.Note, maxEntry)
	if errors.Is(err, ErrNotFound) {
		return nil, errors.New("it is not signed")
	}
	if err != nil {
		return nil, err
	}
	n, by, err := openNote(text, trusted)
	if err != nil {
		return nil, err
	}
	if n.origin != sealOrigin+s.Capture || n.size != s.Last || n.root != s.Root || n.sha256 != out.SHA256 {
		return nil, errors.New("its note signs another one")
	}
	out.Key, out.KeyHash, out.Trusted = by.Key, by.Hash, by.Trusted
	return out, nil
}

// logged gives the entry of the log of seals that names a seal.
func (c *Contents) logged(ctx context.Context, id schema.Identity, s *Seal, sha, trusted string) (string, error) {
	log := seals{c.store, id.Namespace}
	_, head, _, err := log.head(ctx, trusted)
	if err != nil {
		return "", err
	}
	if head.size == 0 {
		return "", errors.New("the log of seals, which must name it, or its head is not there")
	}
	end, err := log.end(ctx)
	if err != nil {
		return "", err
	}
	entry, err := log.find(ctx, end, s.Capture, s.Last, sha)
	if err != nil {
		return "", err
	}
	if entry == nil {
		return "", errors.New("the log of seals does not name it")
	}
	return logName(id.Namespace, entry.Number), nil
}
