package holder

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
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
	// Left says that it holds no longer: a command that has ended in good order. Whoever needs a holder
	// then becomes the next one, instead of waiting for it.
	Left bool `json:"left,omitempty"`
}

// ReadAddress reads the holder's address; without one, or where that holder said that it left, the
// error wraps fs.ErrNotExist. A holder that was killed leaves its address behind: whether it lives,
// only its server says.
func (d Dir) ReadAddress() (Address, error) {
	a, err := d.lastAddress()
	if err == nil && a.Left {
		return Address{}, fmt.Errorf("read holder's address: it has left: %w", fs.ErrNotExist)
	}
	return a, err
}

// Left reports whether the last holder was a command that has ended in good order, and none came since.
func (d Dir) Left() bool {
	a, err := d.lastAddress()
	return err == nil && a.Left
}

// Answers reports whether a holder's server can be reached, which one that was killed cannot.
func (a Address) Answers() bool {
	conn, err := net.DialTimeout("tcp", a.Server, dialWithin)
	return err == nil && conn.Close() == nil
}

func (d Dir) lastAddress() (Address, error) {
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

// tokenLength is the length of a token in hexadecimal digits.
const tokenLength = 48

// readToken reads the directory's token. What is no token counts as none: the error wraps
// fs.ErrNotExist.
func (d Dir) readToken() (string, error) {
	data, err := os.ReadFile(d.token())
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	if _, err := hex.DecodeString(string(data)); err != nil || len(data) != tokenLength {
		return "", fmt.Errorf("read token: %s holds no %d hexadecimal digits: %w", d.token(), tokenLength, fs.ErrNotExist)
	}
	return string(data), nil
}

// ensureToken makes a token where there is none. Only the holder does.
func (d Dir) ensureToken() (string, error) {
	token, err := d.readToken()
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	random := make([]byte, tokenLength/2)
	rand.Read(random) // never fails
	token = hex.EncodeToString(random)
	return token, replace(d.token(), []byte(token))
}

// replace writes a file that others see whole or not at all, a machine's end included.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
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
