package topology

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
)

// ErrBlob marks bytes that a message refers to and that the bucket does not give: absent, or of
// another hash.
var ErrBlob = errors.New("blob not to be had")

// A reader may be ahead of the replica that answers it, so a blob that is not there is asked for
// again: after 50, 100, 200, 400 and 800 ms.
const (
	blobTries = 6
	blobWait  = 50 * time.Millisecond
)

// blobWithin bounds one put or one try of a get: 64 MB take about 0.1 s on loopback.
const blobWithin = 30 * time.Second

// Blobs keeps large payloads by content: under the key of its capture and its SHA-256 the same bytes
// are stored once. It is safe for concurrent use.
type Blobs struct {
	store jetstream.ObjectStore
	js    jetstream.JetStream // publishes chunks
}

// OpenBlobs opens the bucket. It waits at most 5 seconds for the server's answer.
func OpenBlobs(ctx context.Context, js jetstream.JetStream) (*Blobs, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	store, err := js.ObjectStore(ctx, Blob)
	if err != nil {
		return nil, fmt.Errorf("open blob bucket %s: %w", Blob, err)
	}
	chunks, err := jetstream.New(js.Conn(), jetstream.WithPublishAsyncTimeout(answerWithin), jetstream.WithPublishAsyncMaxPending(blobPending))
	if err != nil {
		return nil, fmt.Errorf("open blob bucket %s: %w", Blob, err)
	}
	return &Blobs{store: store, js: chunks}, nil
}

// Put stores data if it is absent and gives its SHA-256 in hex. It may be repeated after any error.
func (b *Blobs) Put(ctx context.Context, id schema.Identity, data []byte) (sha string, err error) {
	ctx, cancel := context.WithTimeout(ctx, blobWithin)
	defer cancel()
	sum := sha256.Sum256(data)
	sha = hex.EncodeToString(sum[:])
	key := b.key(id, sha)
	info, err := b.look(ctx, key)
	if err == nil && info.Size == uint64(len(data)) {
		return sha, nil
	}
	if err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return "", err
	}
	if err := b.put(ctx, key, data, sum); err != nil {
		return "", fmt.Errorf("put blob %s of %d bytes: %w", key, len(data), err)
	}
	return sha, nil
}

// Get reads data by its hash and checks it. It tries again for about 1.5 seconds; then the error
// wraps ErrBlob if the bucket does not have these bytes.
func (b *Blobs) Get(ctx context.Context, id schema.Identity, sha string) ([]byte, error) {
	return b.await(ctx, b.key(id, sha), sha)
}

// await reads a key until it is there with bytes of this hash, or the tries are at their end.
func (b *Blobs) await(ctx context.Context, key, sha string) ([]byte, error) {
	wait := blobWait
	for try := 1; ; try++ {
		data, err := b.get(ctx, key, sha)
		if err == nil {
			return data, nil
		}
		if ctx.Err() != nil || try == blobTries {
			return nil, fmt.Errorf("get blob %s: %w", key, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("get blob %s: %w", key, ctx.Err())
		case <-time.After(wait):
		}
		wait *= 2
	}
}

func (b *Blobs) get(ctx context.Context, key, sha string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, blobWithin)
	defer cancel()
	data, err := b.store.GetBytes(ctx, key)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, fmt.Errorf("%w: %w", ErrBlob, err)
	}
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != sha {
		return nil, fmt.Errorf("its bytes have the hash %x: %w", sum, ErrBlob)
	}
	return data, nil
}

// Has reports whether the bucket's leader says that it has data of that hash.
func (b *Blobs) Has(ctx context.Context, id schema.Identity, sha string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	_, err := b.look(ctx, b.key(id, sha))
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Delete takes data away that no message names; it may be gone already. Whoever deletes must look afterwards
// whether a message names it by then, and put it back: Put gives no sign that it found it.
func (b *Blobs) Delete(ctx context.Context, id schema.Identity, sha string) error {
	ctx, cancel := context.WithTimeout(ctx, blobWithin)
	defer cancel()
	if err := b.store.Delete(ctx, b.key(id, sha)); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return fmt.Errorf("delete blob %s: %w", b.key(id, sha), err)
	}
	return nil
}

// key is where a payload of a capture stands.
func (b *Blobs) key(id schema.Identity, sha string) string { return id.String() + "/" + sha }

// Frame reads a message of STENO_RAW, its data resolved.
func (b *Blobs) Frame(ctx context.Context, m Message) (schema.Frame, schema.Identity, error) {
	_, id, err := schema.ParseSubject(m.Subject)
	if err != nil {
		return schema.Frame{}, schema.Identity{}, fmt.Errorf("read frame at sequence %d: %w", m.Seq, err)
	}
	f, err := schema.FrameFromHeader(m.Header, m.Data)
	if err != nil {
		return schema.Frame{}, id, fmt.Errorf("read frame of %s at sequence %d: %w", id, m.Seq, err)
	}
	if f.Blob != "" {
		if f.Data, err = b.Get(ctx, id, f.Blob); err != nil {
			return schema.Frame{}, id, fmt.Errorf("read frame %d of %s: %w", f.Seq, id, err)
		}
	}
	return f, id, nil
}

// Record reads a message of STENO_EVENTS, its payload resolved.
func (b *Blobs) Record(ctx context.Context, m Message) (schema.Record, schema.Identity, error) {
	_, id, err := schema.ParseSubject(m.Subject)
	if err != nil {
		return schema.Record{}, schema.Identity{}, fmt.Errorf("read record at sequence %d: %w", m.Seq, err)
	}
	payload := m.Data
	if sha := m.Header.Get(schema.HeaderBlob); sha != "" {
		if payload, err = b.Get(ctx, id, sha); err != nil {
			return schema.Record{}, id, fmt.Errorf("read record of %s at sequence %d: %w", id, m.Seq, err)
		}
	}
	r, err := schema.DecodeRecord(m.Header, payload)
	if err != nil {
		return schema.Record{}, id, fmt.Errorf("read record of %s at sequence %d: %w", id, m.Seq, err)
	}
	return r, id, nil
}
