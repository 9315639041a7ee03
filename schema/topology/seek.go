package topology

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Seek gives the stream sequence of the first message of one exact subject that reached accepts; ok is
// false if it accepts none. Once it accepts a message it must accept all behind it. It asks the stream's
// leader as often as the stream's length has binary digits, and waits at most 5 seconds for each answer.
func Seek(ctx context.Context, js jetstream.JetStream, stream, subject string, reached func(Message) (bool, error)) (seq uint64, ok bool, err error) {
	end, ok, err := Last(ctx, js, stream, subject)
	if err != nil || !ok {
		return 0, false, err
	}
	if ok, err = reached(end); err != nil || !ok {
		return 0, false, err
	}
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return 0, false, fmt.Errorf("seek in %s: stream %s: %w", subject, stream, err)
	}
	// From high on, the next message of the subject is accepted; before low, none is.
	low, high := s.CachedInfo().State.FirstSeq, end.Seq
	for seq = end.Seq; low < high; {
		middle := low + (high-low)/2
		m, there, err := next(ctx, s, subject, middle)
		if err != nil {
			return 0, false, fmt.Errorf("seek in %s of stream %s at sequence %d: %w", subject, stream, middle, err)
		}
		if !there { // purged meanwhile
			return 0, false, nil
		}
		if ok, err = reached(m); err != nil {
			return 0, false, err
		}
		if ok {
			seq, high = m.Seq, middle
		} else {
			low = m.Seq + 1
		}
	}
	return seq, true, nil
}

// next reads the first message of a subject with that sequence or a higher one.
func next(ctx context.Context, s jetstream.Stream, subject string, from uint64) (m Message, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	raw, err := s.GetMsg(ctx, max(from, 1), jetstream.WithGetMsgSubject(subject))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return Message{}, false, nil
	}
	if err != nil {
		return Message{}, false, err
	}
	return Message{Subject: raw.Subject, Seq: raw.Sequence, Time: raw.Time, Header: raw.Header, Data: raw.Data}, true, nil
}
