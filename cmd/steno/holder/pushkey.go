package holder

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// keyBytes is how long a key of push URLs is that is made here.
const keyBytes = 32

// PushKey is the key of the push URLs of this directory's proxies. The first one to ask makes it; it
// stays, since peers go on posting to URLs made with it.
func (d Dir) PushKey() ([]byte, error) {
	data, err := os.ReadFile(d.pushKey())
	if errors.Is(err, fs.ErrNotExist) {
		data, err = d.makePushKey()
	}
	if err != nil {
		return nil, fmt.Errorf("read push key: %w", err)
	}
	key, err := hex.DecodeString(string(data))
	if err == nil && len(key) != keyBytes {
		err = fmt.Errorf("want %d hexadecimal digits", 2*keyBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("read push key %s: %w", d.pushKey(), err)
	}
	return key, nil
}

// makePushKey gives the key that stands there then: of several who make one, the first one's.
func (d Dir) makePushKey() ([]byte, error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	key, name := make([]byte, keyBytes), make([]byte, 8)
	rand.Read(key) // neither fails
	rand.Read(name)
	temporary := d.pushKey() + "." + hex.EncodeToString(name)
	if err := replace(temporary, []byte(hex.EncodeToString(key))); err != nil {
		return nil, err
	}
	err := os.Link(temporary, d.pushKey()) // it fails if there is one
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err = errors.Join(err, os.Remove(temporary)); err != nil {
		return nil, err
	}
	return os.ReadFile(d.pushKey())
}
