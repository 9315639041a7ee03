package proxy

import (
	"bytes"
	"encoding/hex"
	"fmt"
)

const (
	// PushKeyBytes is how long a key of push URLs is that is made.
	PushKeyBytes = 32
	// LeastPushKey is the shortest key of push URLs, in bytes.
	LeastPushKey = 16
)

// ReadPushKey reads a key of push URLs as it stands in a file: the hexadecimal digits of one that was
// made, or any other bytes that are long enough, without the white space around them.
func ReadPushKey(text []byte) ([]byte, error) {
	text = bytes.TrimSpace(text)
	if key, err := hex.DecodeString(string(text)); err == nil && len(key) == PushKeyBytes {
		return key, nil
	}
	if len(text) < LeastPushKey {
		return nil, fmt.Errorf("%d bytes, want at least %d", len(text), LeastPushKey)
	}
	return bytes.Clone(text), nil
}
