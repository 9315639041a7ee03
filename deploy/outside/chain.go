package outside

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
)

// link checks a frame's chain: SHA-256 over the chain before it (32 zeros at first), the frame's leaf,
// SHA-256 of salt and bytes, and its other headers as name:value lines, sorted.
func (c *Capture) link(h nats.Header, data []byte) error {
	salt, err := hex.DecodeString(h.Get("Steno-Salt"))
	if err != nil {
		return fmt.Errorf("salt: %w", err)
	}
	leaf := sha256.Sum256(append(salt, data...))
	var lines []string
	for name, values := range h {
		if strings.HasPrefix(name, "Steno-") && name != "Steno-Salt" && name != "Steno-Chain" {
			if len(values) != 1 {
				return fmt.Errorf("header %s has %d values", name, len(values))
			}
			lines = append(lines, name+":"+values[0]+"\n")
		}
	}
	slices.Sort(lines)
	if c.chain == nil {
		c.chain = make([]byte, sha256.Size)
	}
	sum := sha256.New()
	for _, part := range [][]byte{c.chain, leaf[:], []byte(strings.Join(lines, ""))} {
		sum.Write(part)
	}
	c.chain = sum.Sum(nil)
	stated, err := hex.DecodeString(h.Get("Steno-Chain"))
	if err != nil {
		return fmt.Errorf("chain: %w", err)
	}
	if !bytes.Equal(stated, c.chain) {
		return errors.New("its chain is not that of the frames before it")
	}
	return nil
}
