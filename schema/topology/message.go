package topology

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Message is one stored message. Seq is its sequence in the stream, Time when the server stored it.
type Message struct {
	Subject string
	Seq     uint64
	Time    time.Time
	Header  nats.Header
	Data    []byte
}

// answerWithin bounds the wait for each answer of the server. A request that was sent to a server
// that then went away is never answered, however long the caller's own context lasts.
const answerWithin = 5 * time.Second

// Last reads the last message of one exact subject from the stream's leader; ok is false if there
// is none. It waits at most 5 seconds for the answer, and asks once more where none came: by then another
// server may be there.
func Last(ctx context.Context, js jetstream.JetStream, stream, subject string) (m Message, ok bool, err error) {
	m, ok, err = last(ctx, js, stream, subject)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return last(ctx, js, stream, subject)
	}
	return m, ok, err
}

func last(ctx context.Context, js jetstream.JetStream, stream, subject string) (m Message, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return Message{}, false, fmt.Errorf("read last message of %s: stream %s: %w", subject, stream, err)
	}
	raw, err := s.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return Message{}, false, nil
	}
	if err != nil {
		return Message{}, false, fmt.Errorf("read last message of %s: %w", subject, err)
	}
	return Message{Subject: raw.Subject, Seq: raw.Sequence, Time: raw.Time, Header: raw.Header, Data: raw.Data}, true, nil
}

// At reads the message of a stream sequence from the stream's leader; ok is false if there is none, or no
// more. It waits at most 5 seconds.
func At(ctx context.Context, js jetstream.JetStream, stream string, seq uint64) (m Message, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return Message{}, false, fmt.Errorf("read message %d of stream %s: %w", seq, stream, err)
	}
	raw, err := s.GetMsg(ctx, seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return Message{}, false, nil
	}
	if err != nil {
		return Message{}, false, fmt.Errorf("read message %d of stream %s: %w", seq, stream, err)
	}
	return Message{Subject: raw.Subject, Seq: raw.Sequence, Time: raw.Time, Header: raw.Header, Data: raw.Data}, true, nil
}

// First reads the first message of one exact subject from the stream's leader; ok is false if there is none.
// It waits at most 10 seconds.
func First(ctx context.Context, js jetstream.JetStream, stream, subject string) (m Message, ok bool, err error) {
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	s, err := js.Stream(within, stream)
	if err == nil {
		m, ok, err = next(ctx, s, subject, 1)
	}
	if err != nil {
		return Message{}, false, fmt.Errorf("read first message of %s of stream %s: %w", subject, stream, err)
	}
	return m, ok, nil
}
