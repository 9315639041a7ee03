package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A note is a C2SP checkpoint (c2sp.org/tlog-checkpoint) with two extension lines: the SHA-256 of what it
// speaks of, and the key that signed it, so that whoever has no key can tell whose it is.
//
//	github.com/steno-io/steno/seal/default/mill/7b…/0/1     origin
//	4096                                                    size of the tree: its frames
//	CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=            root, in base64
//	sha256 9f86d081…                                        of the seal's JSON
//	key mill+c74f20a3+AR…                                   public key of the signature
//
//	— mill x08go/ZJ…                                        signature (c2sp.org/signed-note)
const (
	sealOrigin = "github.com/steno-io/steno/seal/"
	logOrigin  = "github.com/steno-io/steno/seals/"
)

// ErrSignature marks a note that is not signed as it must be.
var ErrSignature = errors.New("signature not good")

// Key signs notes.
type Key struct {
	signer note.Signer
	public string
}

// NewKey reads a private key as Generate writes it.
func NewKey(private string) (Key, error) {
	private = strings.TrimSpace(private)
	signer, err := note.NewSigner(private)
	if err != nil {
		return Key{}, fmt.Errorf("read private key: %w", err)
	}
	public, err := publicOf(private)
	if err != nil {
		return Key{}, fmt.Errorf("read private key: %w", err)
	}
	return Key{signer, public}, nil
}

// Public is the key that verifies what the key signs: name+hash+base64.
func (k Key) Public() string { return k.public }

// checkpoint is the text of a note.
type checkpoint struct {
	origin string
	size   uint64
	root   tlog.Hash
	sha256 string
}

// sign writes a note.
func (k Key) sign(c checkpoint) ([]byte, error) {
	text := fmt.Sprintf("%s\n%d\n%s\nsha256 %s\nkey %s\n", c.origin, c.size, c.root, c.sha256, k.public)
	out, err := note.Sign(&note.Note{Text: text}, k.signer)
	if err != nil {
		return nil, fmt.Errorf("sign note of %s: %w", c.origin, err)
	}
	return out, nil
}

// Signed tells by whom a note is signed.
type Signed struct {
	Key  string // public key
	Hash string // its hash, 8 hex digits
	// Trusted: it is the key that was asked for. Without one nothing is.
	Trusted bool
}

// open reads a note and checks its signature: by the key that it names, and against trusted if that is not
// empty. ErrSignature: it is not by the key that it names, or by another than the trusted one.
func openNote(data []byte, trusted string) (checkpoint, Signed, error) {
	var c checkpoint
	text, _, found := strings.Cut(string(data), "\n\n")
	lines := strings.Split(text, "\n")
	if !found || len(lines) != 5 {
		return c, Signed{}, fmt.Errorf("%w: it is no note of five lines and a signature", ErrSignature)
	}
	key, ok := strings.CutPrefix(lines[4], "key ")
	if !ok {
		return c, Signed{}, fmt.Errorf("%w: its fifth line names no key", ErrSignature)
	}
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return c, Signed{}, fmt.Errorf("%w: key %q: %w", ErrSignature, key, err)
	}
	n, err := note.Open(data, note.VerifierList(verifier))
	if err != nil {
		return c, Signed{}, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	if len(n.Sigs) != 1 || len(n.UnverifiedSigs) != 0 {
		return c, Signed{}, fmt.Errorf("%w: want one signature", ErrSignature)
	}
	by := Signed{Key: key, Hash: fmt.Sprintf("%08x", verifier.KeyHash()), Trusted: trusted != "" && key == strings.TrimSpace(trusted)}
	if trusted != "" && !by.Trusted {
		return c, by, fmt.Errorf("%w: it is by key %s, not by the one that is trusted", ErrSignature, by.Hash)
	}
	c.origin = lines[0]
	if c.size, err = strconv.ParseUint(lines[1], 10, 64); err != nil || strconv.FormatUint(c.size, 10) != lines[1] {
		return c, by, fmt.Errorf("size %q is no number", lines[1])
	}
	if c.root, err = tlog.ParseHash(lines[2]); err != nil {
		return c, by, fmt.Errorf("root %q: %w", lines[2], err)
	}
	if c.sha256, ok = strings.CutPrefix(lines[3], "sha256 "); !ok {
		return c, by, fmt.Errorf("its fourth line has no SHA-256")
	}
	return c, by, nil
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
