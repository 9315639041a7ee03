package topology

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
)

// States keeps the large states of snapshots in the bucket of the blobs, under keys of their own. A name
// is given once and never again, whatever the bytes: whoever knows that no snapshot names it any more may
// delete it at any later time, and takes nothing away from a snapshot that was stored since.
type States struct{ blobs *Blobs }

// States gives the states that are kept in the same bucket.
func (b *Blobs) States() *States { return &States{b} }

// Put stores a state and gives its name: something unique, a slash, and its SHA-256 in hex.
func (s *States) Put(ctx context.Context, id schema.Identity, state []byte) (name string, err error) {
	ctx, cancel := context.WithTimeout(ctx, blobWithin)
	defer cancel()
	sum := sha256.Sum256(state)
	name = uuid.NewString() + "/" + hex.EncodeToString(sum[:])
	if err := s.blobs.put(ctx, s.key(id, name), state, sum); err != nil {
		return "", fmt.Errorf("put state %s of %d bytes: %w", s.key(id, name), len(state), err)
	}
	return name, nil
}

// Get reads a state by its name and checks it. It tries again for about 1.5 seconds; then the error wraps
// ErrBlob if the bucket does not have these bytes.
func (s *States) Get(ctx context.Context, id schema.Identity, name string) ([]byte, error) {
	return s.blobs.await(ctx, s.key(id, name), name[strings.LastIndexByte(name, '/')+1:])
}

// Delete takes a state away that no snapshot names any more; it may be gone already.
func (s *States) Delete(ctx context.Context, id schema.Identity, name string) error {
	ctx, cancel := context.WithTimeout(ctx, blobWithin)
	defer cancel()
	if err := s.blobs.store.Delete(ctx, s.key(id, name)); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return fmt.Errorf("delete state %s: %w", s.key(id, name), err)
	}
	return nil
}

// key is where a state of a capture stands.
func (s *States) key(id schema.Identity, name string) string { return id.String() + "/state/" + name }
