package topology

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// errKeepsNone marks a purge that would take a subject's last message.
var errKeepsNone = errors.New("it would take the last message, on which the next append is fenced")

// Purge takes the messages of one exact subject before a stream sequence away, for good. It refuses to take
// the subject's last one. After an error they may be gone or not, and purging again is right: a sequence
// never comes again.
func Purge(ctx context.Context, js jetstream.JetStream, stream, subject string, before uint64) error {
	fail := func(err error) error {
		return fmt.Errorf("purge %s of stream %s before sequence %d: %w", subject, stream, before, err)
	}
	last, ok, err := Last(ctx, js, stream, subject)
	if err == nil && (!ok || last.Seq < before) {
		err = errKeepsNone
	}
	if err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	s, err := js.Stream(ctx, stream)
	if err == nil {
		err = s.Purge(ctx, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeSequence(before))
	}
	if err != nil {
		return fail(err)
	}
	return nil
}
