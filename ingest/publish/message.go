package publish

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// saltBytes are drawn for each frame.
const saltBytes = 16

// messages makes the messages of an append, in order: numbers, salts and chain behind the present
// head, large data in the blob bucket, and the fence on the first message. head is what it will be
// once they are stored, but for the sequence.
func (a *Appender) messages(ctx context.Context, frames []schema.Frame) (messages []*nats.Msg, head Head, err error) {
	head = a.head
	salts := make([]byte, saltBytes*len(frames))
	rand.Read(salts) // it never fails: without randomness the process ends
	digits := hex.EncodeToString(salts)
	for i, f := range frames {
		f.Seq = head.Frames + 1
		f.Writer.Journal = a.o.Journal
		f.Salt = digits[2*saltBytes*i : 2*saltBytes*(i+1)]
		f.Blob, f.Chain = "", ""
		if err := f.Validate(); err != nil { // its bounds keep the headers within what the server takes
			return nil, Head{}, fmt.Errorf("%w: %w", ErrUnstorable, err)
		}
		if len(f.Data) > schema.MaxInline {
			if f.Blob, err = a.o.Blobs.Put(ctx, a.o.Identity, f.Data); err != nil {
				return nil, Head{}, err
			}
		}
		if f.Chain, err = schema.ChainHash(head.Chain, &f); err != nil {
			return nil, Head{}, fmt.Errorf("%w: %w", ErrUnstorable, err)
		}
		m := &nats.Msg{Subject: a.subject, Header: f.Header(), Data: f.Data}
		if f.Blob != "" {
			m.Data = nil
		}
		if i == 0 {
			m.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(head.Sequence, 10))
			m.Header.Set(jetstream.ExpectedStreamHeader, topology.Raw)
		}
		messages = append(messages, m)
		head.Frames, head.Chain, head.Own, head.Offset = f.Seq, f.Chain, true, f.Writer.Offset
	}
	return messages, head, nil
}
