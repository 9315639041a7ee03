package topology

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ErrStalled marks a read that stopped: there are messages, and none came for stallAfter.
var ErrStalled = errors.New("the stream's messages do not arrive")

// errDrained ends a bounded read whose last message is gone.
var errDrained = errors.New("nothing is pending")

// What a follower waits for. pollIdle is how soon a reconnect is noticed, lookIdle how often an idle
// consumer is asked whether it should be; two heartbeats without a sign of life end a consumer.
const (
	// pullBytes bounds what is on its way to the client. Without it large messages overflow the
	// client's buffer and are dropped there.
	pullBytes = 8 << 20
	// pullMessages bounds their number, for which the client keeps room in advance: without it, for a
	// million, 8 MB a consumer. A thousand was too few: small messages overtook the reader and were
	// dropped; at this number none were.
	pullMessages = 20_000
	heartbeat    = 2 * time.Second
	expiry       = 10 * time.Second
	pollIdle     = 250 * time.Millisecond
	lookIdle     = 3 * time.Second
	inactive     = time.Minute
	stallAfter   = 30 * time.Second
	firstRetry   = 20 * time.Millisecond
	longestWait  = 2 * time.Second
	goodbye      = 2 * time.Second
)

// follower reads one subject filter in stream order without acks. Each consumer lives in the
// server's memory; whenever one is lost or skips a message, another begins where it stopped.
type follower struct {
	js      jetstream.JetStream
	stream  string
	subject string
	next    uint64 // stream sequence that the next message has at least
	bounded bool   // end with errDrained or ErrStalled instead of waiting for ever
	bare    bool   // messages come without their payload

	consumer   jetstream.Consumer
	messages   jetstream.MessagesContext
	release    func() bool
	delivered  uint64 // consumer sequence of the last message
	reconnects uint64
	progress   time.Time // when a message last came, or the follower began
	looked     time.Time // when the idle consumer was last asked
}

// receive gives the next message. It returns ctx.Err() when ctx ends, and errors that trying again
// cannot mend.
func (f *follower) receive(ctx context.Context) (Message, error) {
	if f.progress.IsZero() {
		f.progress = time.Now()
	}
	wait := firstRetry
	for {
		if ctx.Err() != nil {
			return Message{}, ctx.Err()
		}
		m, err := f.try(ctx)
		if err == nil {
			f.progress = time.Now()
			return m, nil
		}
		if ctx.Err() != nil {
			return Message{}, ctx.Err()
		}
		if errors.Is(err, errDrained) || errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, nats.ErrConnectionClosed) {
			return Message{}, err
		}
		f.close()
		if f.bounded && time.Since(f.progress) > stallAfter {
			return Message{}, fmt.Errorf("%w for %s: %w", ErrStalled, stallAfter, err)
		}
		select {
		case <-ctx.Done():
			return Message{}, ctx.Err()
		case <-time.After(wait):
		}
		wait = min(2*wait, longestWait)
	}
}

// try waits for the next message of the present consumer, or of a new one if there is none.
func (f *follower) try(ctx context.Context) (Message, error) {
	if f.consumer == nil {
		if err := f.open(ctx); err != nil {
			return Message{}, err
		}
	}
	for {
		msg, err := f.messages.Next(jetstream.NextMaxWait(pollIdle))
		if errors.Is(err, nats.ErrTimeout) {
			if err := f.look(ctx); err != nil {
				return Message{}, err
			}
			continue
		}
		if err != nil {
			return Message{}, err
		}
		meta, err := msg.Metadata()
		if err != nil {
			return Message{}, fmt.Errorf("read metadata of a message of %s: %w", f.subject, err)
		}
		if meta.Sequence.Consumer != f.delivered+1 || meta.Sequence.Stream < f.next {
			return Message{}, fmt.Errorf("follow %s: got delivery %d at sequence %d, want delivery %d from sequence %d on",
				f.subject, meta.Sequence.Consumer, meta.Sequence.Stream, f.delivered+1, f.next)
		}
		f.delivered, f.next = meta.Sequence.Consumer, meta.Sequence.Stream+1
		return Message{
			Subject: msg.Subject(), Seq: meta.Sequence.Stream, Time: meta.Timestamp,
			Header: msg.Headers(), Data: msg.Data(),
		}, nil
	}
}

func (f *follower) open(ctx context.Context) error {
	f.reconnects = f.js.Conn().Stats().Reconnects
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	consumer, err := f.js.CreateConsumer(within, f.stream, jetstream.ConsumerConfig{
		FilterSubject:     f.subject,
		HeadersOnly:       f.bare,
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       f.next,
		AckPolicy:         jetstream.AckNonePolicy,
		MemoryStorage:     true,
		Replicas:          1,
		InactiveThreshold: inactive,
	})
	if err != nil {
		return fmt.Errorf("create consumer of %s: %w", f.subject, err)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(pullMessages, pullBytes), jetstream.PullHeartbeat(heartbeat),
		jetstream.PullExpiry(expiry))
	f.consumer, f.delivered, f.looked = consumer, 0, time.Now()
	if err != nil {
		return fmt.Errorf("pull messages of %s: %w", f.subject, err)
	}
	f.messages = messages
	f.release = context.AfterFunc(ctx, messages.Stop)
	return nil
}

// look asks whether an idle consumer should be idle. Its error says why it should not.
func (f *follower) look(ctx context.Context) error {
	if f.js.Conn().Stats().Reconnects != f.reconnects {
		return fmt.Errorf("follow %s: the connection was lost", f.subject)
	}
	if time.Since(f.looked) < lookIdle {
		return nil
	}
	f.looked = time.Now()
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	info, err := f.consumer.Info(within)
	if err != nil {
		return fmt.Errorf("ask consumer of %s: %w", f.subject, err)
	}
	if info.NumPending > 0 || info.Delivered.Consumer > f.delivered {
		// A message may have come since the question: then it is read again, which costs little.
		return fmt.Errorf("follow %s: %d messages are pending and none comes", f.subject, info.NumPending)
	}
	if f.bounded {
		return errDrained
	}
	return nil
}

// close gives the consumer back. That is a courtesy: the server forgets it after a minute.
func (f *follower) close() {
	if f.messages != nil {
		f.release()
		f.messages.Stop()
	}
	if f.consumer != nil && f.js.Conn().IsConnected() {
		ctx, cancel := context.WithTimeout(context.Background(), goodbye)
		// The server drops it by itself when nobody has pulled for a while.
		_ = f.js.DeleteConsumer(ctx, f.stream, f.consumer.CachedInfo().Name)
		cancel()
	}
	f.messages, f.consumer = nil, nil
}
