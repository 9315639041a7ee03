package topology

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// look reads what names an object's chunks, from the leader; the error wraps jetstream.ErrObjectNotFound if there
// is none. The client library's own look may be answered by a replica that is behind, as the bucket allows for who
// only reads: whoever then puts nothing, or deletes, would count on bytes that are gone.
func (b *Blobs) look(ctx context.Context, key string) (info jetstream.ObjectInfo, err error) {
	fail := func(err error) (jetstream.ObjectInfo, error) {
		return jetstream.ObjectInfo{}, fmt.Errorf("look up blob %s: %w", key, err)
	}
	asked, err := json.Marshal(map[string]string{"last_by_subj": blobSubject(key)})
	if err != nil {
		return fail(err)
	}
	m, err := b.js.Conn().RequestWithContext(ctx, jetstream.DefaultAPIPrefix+"STREAM.MSG.GET."+blobStream, asked)
	if err != nil {
		return fail(err)
	}
	var answer struct {
		Error   *jetstream.APIError `json:"error"`
		Message *struct {
			Data []byte `json:"data"`
		} `json:"message"`
	}
	err = json.Unmarshal(m.Data, &answer)
	switch {
	case err != nil:
		return fail(err)
	case answer.Error != nil && answer.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return fail(jetstream.ErrObjectNotFound)
	case answer.Error != nil:
		return fail(answer.Error)
	case answer.Message == nil:
		return fail(jetstream.ErrInvalidJetStreamResponse)
	}
	if err := json.Unmarshal(answer.Message.Data, &info); err != nil {
		return fail(err)
	}
	if info.Deleted {
		return fail(jetstream.ErrObjectNotFound)
	}
	return info, nil
}
