package consoletest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/ingest/files"
	"github.com/steno-io/steno/schema"
)

// Tap stores the frames of one capture, as the append does: numbered, chained, large ones in the bucket.
type Tap struct {
	Identity schema.Identity
	// Clock gives the time of each frame that has none; the default is the machine's.
	Clock func() time.Time

	p     *Pipeline
	seq   uint64
	chain string
}

// Tap begins a capture.
func (p *Pipeline) Tap(id schema.Identity) *Tap { return &Tap{Identity: id, Clock: time.Now, p: p} }

// Transcript is a session of the capture.
func (tap *Tap) Transcript(session uint32) schema.Transcript {
	return schema.Transcript{Identity: tap.Identity, Session: session}
}

// Steps has each frame come a step after the one before, the first at a time.
func (tap *Tap) Steps(from time.Time, step time.Duration) {
	tap.Clock = func() time.Time {
		at := from
		from = from.Add(step)
		return at
	}
}

// pending bounds how many frames wait for the server's answer.
const pending = 512

// Store stores frames in order; it returns once all are.
func (tap *Tap) Store(frames ...schema.Frame) {
	t := tap.p.t
	t.Helper()
	waiting := make(chan jetstream.PubAckFuture, pending)
	g, ctx := errgroup.WithContext(t.Context())
	g.Go(func() error {
		defer close(waiting)
		return tap.publish(ctx, frames, waiting)
	})
	g.Go(func() error { return await(waiting) })
	require.NoError(t, g.Wait())
}

func (tap *Tap) publish(ctx context.Context, frames []schema.Frame, waiting chan<- jetstream.PubAckFuture) error {
	for _, f := range frames {
		m, err := tap.message(f)
		if err != nil {
			return err
		}
		ack, err := tap.p.JS.PublishMsgAsync(m)
		if err != nil {
			return err
		}
		select {
		case waiting <- ack:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// errUnanswered is of a frame that the server neither took nor refused.
var errUnanswered = errors.New("the server does not answer")

// await waits for the answers in their order, for each a bounded time, and gives the first that is none to go on with.
func await(waiting <-chan jetstream.PubAckFuture) error {
	for ack := range waiting {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			return err
		case <-time.After(Within):
			return fmt.Errorf("store a frame on %s: %w", ack.Msg().Subject, errUnanswered)
		}
	}
	return nil
}

// message is the next frame as it is stored.
func (tap *Tap) message(f schema.Frame) (*nats.Msg, error) {
	tap.seq++
	f.Seq, f.Salt = tap.seq, fmt.Sprintf("%032x", tap.seq)
	f.Writer = schema.Writer{Journal: "j", Offset: tap.seq}
	if f.At.IsZero() {
		f.At = tap.Clock().UTC()
	}
	var err error
	if len(f.Data) > schema.MaxInline {
		if f.Blob, err = tap.p.Blobs.Put(tap.p.t.Context(), tap.Identity, f.Data); err != nil {
			return nil, err
		}
	}
	if f.Chain, err = schema.ChainHash(tap.chain, &f); err != nil {
		return nil, err
	}
	tap.chain = f.Chain
	m := &nats.Msg{Subject: schema.RawSubject(tap.Identity, schema.Partitions), Header: f.Header(), Data: f.Data}
	if f.Blob != "" {
		m.Data = nil
	}
	return m, nil
}

// Import stores a file's frames, whatever steno import reads, with their own times.
func (p *Pipeline) Import(path string) *Tap {
	p.t.Helper()
	file, err := files.Open(path)
	require.NoError(p.t, err)
	tap := p.Tap(schema.Identity{Namespace: p.Namespace, Workflow: "import", Run: file.Run(), Attempt: 1})
	var frames []schema.Frame
	for f, err := range file.Frames() {
		require.NoError(p.t, err)
		frames = append(frames, f)
	}
	tap.Store(frames...)
	return tap
}
