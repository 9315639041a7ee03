package topology

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// errKeepsNone marks a purge that would take a subject's last message.
var errKeepsNone = errors.New("it would take the last message, on which the next append is fenced")

// errOther marks a sequence at which another subject's message stands than the one that is to go.
var errOther = errors.New("a message of another subject stands there")

// Purge takes the messages of one exact subject before a stream sequence away, for good. The last one of them
// stands right before that sequence; it is given to still once more when nothing else is left to do, whose error
// ends the purge. Where it is gone already nothing is done. The subject's last message is refused. After an error
// they may be gone or not, and purging again is right: a sequence never comes again.
func Purge(ctx context.Context, js jetstream.JetStream, stream, subject string, before uint64, still func(last Message) error) error {
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
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	s, err := js.Stream(within, stream)
	if err != nil {
		return fail(err)
	}
	m, there, err := At(ctx, js, stream, before-1)
	switch {
	case err != nil:
		return fail(err)
	case !there:
		return gone(ctx, js, stream, subject, before)
	case m.Subject != subject:
		return fail(errOther)
	}
	if err = still(m); err == nil {
		err = s.Purge(within, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeSequence(before))
	}
	if err != nil {
		return fail(err)
	}
	return nil
}

// gone looks that nothing of a subject is left before a sequence.
func gone(ctx context.Context, js jetstream.JetStream, stream, subject string, before uint64) error {
	first, ok, err := First(ctx, js, stream, subject)
	if err == nil && (!ok || first.Seq < before) {
		err = fmt.Errorf("purge %s of stream %s before sequence %d: what stood there is gone, and others are not", subject, stream, before)
	}
	return err
}
