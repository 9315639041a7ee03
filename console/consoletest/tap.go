package consoletest

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

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
	stored := make(chan error, 1)
	go func() { stored <- await(waiting) }()
	err := tap.publish(frames, waiting)
	close(waiting)
	require.NoError(t, errors.Join(err, <-stored))
}

func (tap *Tap) publish(frames []schema.Frame, waiting chan<- jetstream.PubAckFuture) error {
	for _, f := range frames {
		m, err := tap.message(f)
		if err != nil {
			return err
		}
		ack, err := tap.p.JS.PublishMsgAsync(m)
		if err != nil {
			return err
		}
		waiting <- ack
	}
	return nil
}

func await(waiting <-chan jetstream.PubAckFuture) (first error) {
	for ack := range waiting {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			if first == nil {
				first = err
			}
		}
	}
	return first
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
