package holder

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// Kind says what a holder is: whether it stays.
type Kind string

// Kinds of holders. A command hands over to an up.
const (
	Up      Kind = "up"
	Command Kind = "command"
)

// Address is where a directory's holder is reached.
type Address struct {
	PID     int       `json:"pid"`
	Kind    Kind      `json:"kind"`
	Server  string    `json:"server"` // host:port of the embedded NATS server
	Version string    `json:"version"`
	Since   time.Time `json:"since"`
}

// ReadAddress reads the address that the last holder wrote; without one the error wraps
// fs.ErrNotExist. Whether that holder still lives, Held says.
func (d Dir) ReadAddress() (Address, error) {
	data, err := os.ReadFile(d.address())
	if err != nil {
		return Address{}, fmt.Errorf("read holder's address: %w", err)
	}
	var a Address
	if err := json.Unmarshal(data, &a); err != nil {
		return Address{}, fmt.Errorf("read holder's address %s: %w", d.address(), err)
	}
	return a, nil
}

func (d Dir) writeAddress(a Address) error {
	data, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("write holder's address: %w", err)
	}
	return replace(d.address(), data)
}

func (d Dir) removeAddress() error {
	if err := os.Remove(d.address()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove holder's address: %w", err)
	}
	return nil
}

// readToken reads the directory's token, making one where there is none. Only the holder makes it.
func (d Dir) readToken() (string, error) {
	data, err := os.ReadFile(d.token())
	if err == nil {
		return string(data), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read token: %w", err)
	}
	return "", err
}

func (d Dir) ensureToken() (string, error) {
	token, err := d.readToken()
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	random := make([]byte, 24)
	rand.Read(random) // never fails
	token = hex.EncodeToString(random)
	return token, replace(d.token(), []byte(token))
}

// replace writes a file that others see whole or not at all.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(f.Name()))
	}
	return nil
}

// address is the host:port of a server's URL.
func address(serverURL string) string {
	u, err := url.Parse(serverURL)
	if err != nil {
		return serverURL
	}
	return u.Host
}
