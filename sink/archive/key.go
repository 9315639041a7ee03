package archive

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// Generate makes a key of that name: private is what NewKey reads and must be kept secret, public is what
// Key.Public gives. A name has no space and no plus sign.
func Generate(name string) (private, public string, err error) {
	private, public, err = note.GenerateKey(rand.Reader, name)
	if err == nil {
		_, err = note.NewVerifier(public) // it knows what a name may be
	}
	if err != nil {
		return "", "", fmt.Errorf("make key %q: %w", name, err)
	}
	return private, public, nil
}

// ed25519Key is the first byte of a key's encoding (c2sp.org/signed-note).
const ed25519Key = 1

// publicOf derives the public key: PRIVATE+KEY+name+hash+base64(algorithm ‖ seed).
func publicOf(private string) (string, error) {
	parts := strings.SplitN(private, "+", 5)
	if len(parts) != 5 {
		return "", errors.New("want PRIVATE+KEY+name+hash+base64")
	}
	seed, err := base64.StdEncoding.DecodeString(parts[4])
	if err != nil {
		return "", err
	}
	if len(seed) != 1+ed25519.SeedSize || seed[0] != ed25519Key {
		return "", errors.New("want an Ed25519 key")
	}
	return note.NewEd25519VerifierKey(parts[2], ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey))
}

// CheckPublic reports what is wrong with a public key; empty is none, and good.
func CheckPublic(public string) error {
	if public == "" {
		return nil
	}
	if _, err := note.NewVerifier(public); err != nil {
		return fmt.Errorf("read public key %q: %w", public, err)
	}
	return nil
}
