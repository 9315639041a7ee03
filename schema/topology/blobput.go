package topology

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Bounds of a put: bytes of a chunk, and chunks without an answer.
const (
	blobChunk   = 128 << 10
	blobPending = 64
)

// blobSubject is where what names an object's chunks stands.
func blobSubject(key string) string {
	return "$O." + Blob + ".M." + base64.URLEncoding.EncodeToString([]byte(key))
}

// put stores data as the client library's object store has it, chunks under a name of their own and
// one message that names them, but that one only when all chunks are acknowledged, and takes nothing
// back. The library's own put sends all at once, and where an answer is lost it takes the chunks away
// and may leave the message: then the object seems to be there for good, and its bytes are not.
// A put that fails leaves chunks that nothing names.
func (b *Blobs) put(ctx context.Context, key string, data []byte, sum [sha256.Size]byte) error {
	info := jetstream.ObjectInfo{
		ObjectMeta: jetstream.ObjectMeta{Name: key, Opts: &jetstream.ObjectMetaOptions{ChunkSize: blobChunk}},
		Bucket:     Blob, NUID: uuid.NewString(), Size: uint64(len(data)),
		Digest: "SHA-256=" + base64.URLEncoding.EncodeToString(sum[:]),
	}
	var acks []jetstream.PubAckFuture
	for len(data) > 0 {
		n := min(len(data), blobChunk)
		ack, err := b.js.PublishMsgAsync(&nats.Msg{Subject: "$O." + Blob + ".C." + info.NUID, Data: data[:n]}, jetstream.WithStallWait(blobWithin))
		if err != nil {
			return fmt.Errorf("publish chunk %d: %w", len(acks)+1, err)
		}
		acks, data = append(acks, ack), data[n:]
	}
	for i, ack := range acks {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			return fmt.Errorf("publish chunk %d of %d: %w", i+1, len(acks), err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	info.Chunks = uint32(len(acks))
	text, err := json.Marshal(info)
	if err != nil {
		return fmt.Errorf("write what names the chunks: %w", err)
	}
	_, err = b.js.PublishMsg(ctx, &nats.Msg{
		Subject: blobSubject(key), Data: text,
		Header: nats.Header{jetstream.MsgRollup: {jetstream.MsgRollupSubject}},
	})
	return err
}
