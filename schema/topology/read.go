package topology

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Read gives the stored messages of one subject filter with sequence from or above, in order, up to
// the filter's last message as of the call. What is stored meanwhile is not given. An error ends the
// sequence; it wraps ErrStalled if messages are there and do not arrive for 30 seconds.
func Read(ctx context.Context, js jetstream.JetStream, stream, subject string, from uint64) iter.Seq2[Message, error] {
	return read(ctx, js, stream, subject, from, false)
}

// ReadHeaders is Read of all messages, without their payload.
func ReadHeaders(ctx context.Context, js jetstream.JetStream, stream, subject string) iter.Seq2[Message, error] {
	return read(ctx, js, stream, subject, 1, true)
}

func read(ctx context.Context, js jetstream.JetStream, stream, subject string, from uint64, bare bool) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		end, ok, err := lastPatiently(ctx, js, stream, subject)
		if err != nil {
			yield(Message{}, err)
			return
		}
		if !ok || end.Seq < from {
			return
		}
		if end.Seq == from && !bare { // the usual answer to "what came after the last that I know"
			yield(end, nil)
			return
		}
		f := follower{js: js, stream: stream, subject: subject, next: max(from, 1), bounded: true, bare: bare}
		defer f.close()
		for {
			m, err := f.receive(ctx)
			if errors.Is(err, errDrained) {
				return // the end was replaced or purged while we read
			}
			if err != nil {
				yield(Message{}, fmt.Errorf("read %s of stream %s at sequence %d: %w", subject, stream, f.next, err))
				return
			}
			if m.Seq > end.Seq {
				return
			}
			if !yield(m, nil) || m.Seq == end.Seq {
				return
			}
		}
	}
}

// lastPatiently is Last for a reader, who outlives a lost connection here as well as behind it.
func lastPatiently(ctx context.Context, js jetstream.JetStream, stream, subject string) (m Message, ok bool, err error) {
	err = patiently(ctx, func() (err error) {
		m, ok, err = Last(ctx, js, stream, subject)
		return err
	})
	return m, ok, err
}

// patiently asks again while there is no connection, for half a minute.
func patiently(ctx context.Context, ask func() error) error {
	for began := time.Now(); ; {
		err := ask()
		away := errors.Is(err, nats.ErrReconnectBufExceeded) || errors.Is(err, nats.ErrDisconnected)
		if !away || time.Since(began) > stallAfter {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(firstRetry):
		}
	}
}

// Consume follows a subject filter from a stream sequence for ever and hands each message to handle,
// one after the other, in order, each once. It returns ctx.Err(), the first error of handle as it
// is, or an error that trying again cannot mend, such as a stream that does not exist. Lost
// connections and consumers are mended; when messages are pending and none comes, the consumer is
// made anew.
func Consume(ctx context.Context, js jetstream.JetStream, stream, subject string, from uint64, handle func(Message) error) error {
	f := follower{js: js, stream: stream, subject: subject, next: max(from, 1)}
	defer f.close()
	for {
		m, err := f.receive(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("follow %s of stream %s at sequence %d: %w", subject, stream, f.next, err)
		}
		if err := handle(m); err != nil {
			return err
		}
	}
}
