package holder

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/steno-io/steno/ingest/proxy"
)

// PushKey is the key of the push URLs of this directory's proxies. The first one to ask makes it; it
// stays, since peers go on posting to URLs made with it.
func (d Dir) PushKey() ([]byte, error) {
	key, err := ReadPushKey(d.pushKey())
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := d.makePushKey(); err != nil {
		return nil, fmt.Errorf("make push key %s: %w", d.pushKey(), err)
	}
	return ReadPushKey(d.pushKey())
}

// ReadPushKey reads a key of push URLs: a directory's, or one that replicas share.
func ReadPushKey(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read push key: %w", err)
	}
	key, err := proxy.ReadPushKey(text)
	if err != nil {
		return nil, fmt.Errorf("read push key %s: %w", path, err)
	}
	return key, nil
}

// makePushKey makes a key unless there is one: of several who make one, the first one's counts.
func (d Dir) makePushKey() error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	key, name := make([]byte, proxy.PushKeyBytes), make([]byte, 8)
	rand.Read(key) // neither fails
	rand.Read(name)
	temporary := d.pushKey() + "." + hex.EncodeToString(name)
	if err := replace(temporary, []byte(hex.EncodeToString(key))); err != nil {
		return err
	}
	err := os.Link(temporary, d.pushKey()) // it fails if there is one
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return errors.Join(err, os.Remove(temporary))
}
