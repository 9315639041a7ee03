package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
)

// Screen shows what a Console tells it. Its methods are called one at a time; an error ends Run.
type Screen interface {
	// Event shows a durable event, each once, in the order of their numbers: 1, 2, 3 … The number is the
	// store_seq that the ledger gives, and event is the encoding that the ledger keeps. A Message takes the
	// place of the text that was shown of it.
	Event(number uint64, event []byte, e *schema.Event) error
	// Open shows all messages that are open, in the place of all open text that was shown.
	Open(messages []schema.OpenMessage) error
	// Piece shows more of an open message; anew: in the place of its text so far.
	Piece(m Message, text string, anew bool) error
	// About shows what has changed about the transcript, such as its title or that it has ended.
	About(about schema.About) error
	// Lag says why text may be missing for a while; Open follows. Events are never missing.
	Lag(why string) error
}

// Message tells open messages apart: a user's and an agent's, an answer and a thought may have one id.
type Message struct {
	User    bool
	Channel schema.Channel
	ID      string
}

// Console follows one transcript.
type Console struct {
	Conn       *nats.Conn // with an inbox prefix that it may subscribe to
	Transcript schema.Transcript
	Partitions uint32 // of the streams
	API        string // what the user says in the place of $JS.API; empty: that
	Screen     Screen
}

// What a console waits for.
const (
	askAgain  = 250 * time.Millisecond // for an answer; doubled up to longest, since a long one takes its time
	longest   = 2 * time.Second
	silence   = 2 * time.Second // in which nothing comes of an open message, until it asks
	pullBytes = 8 << 20         // on their way at once: without a bound, large records overflow the client
)

// Run shows the transcript until ctx ends, which is no error. A transcript that has no frame yet is waited
// for.
func (c *Console) Run(ctx context.Context) error {
	if err := c.run(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("show %s: %w", c.Transcript, err)
	}
	return nil
}

func (c *Console) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	api := cmp.Or(c.API, "$JS.API")
	js, err := jetstream.NewWithAPIPrefix(c.Conn, api)
	if err != nil {
		return err
	}
	r := newRun(c, js, api)

	// The subscriptions come first: what is new while the rest is asked for is heard.
	live, pages := make(chan *nats.Msg, maxHeld), make(chan *nats.Msg, schema.MaxOpenPages)
	for subject, messages := range map[string]chan *nats.Msg{schema.DeltaSubject(c.Transcript): live, r.replies + ".*": pages} {
		sub, err := c.Conn.ChanSubscribe(subject, messages)
		if err != nil {
			return fmt.Errorf("subscribe to %s: %w", subject, err)
		}
		defer func() { _ = sub.Unsubscribe() }() // the connection may be gone
	}
	if err := r.want(); err != nil {
		return err
	}
	records := make(chan jetstream.Msg)
	stop, err := c.history(ctx, js, records)
	if err != nil {
		return err
	}
	defer func() { cancel(); stop() }()

	status := c.Conn.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer c.Conn.RemoveStatusListener(status)
	tick := time.NewTicker(askAgain)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m := <-records:
			err = r.record(ctx, m)
		case m := <-live:
			err = r.live(m.Data)
		case m := <-pages:
			err = r.page(m)
		case s := <-status:
			if s == nats.CLOSED {
				return nats.ErrConnectionClosed
			}
			err = r.lose("the connection was lost")
		case <-tick.C:
			err = r.askIfDue(time.Now())
		}
		if err != nil {
			return err
		}
	}
}

// history gives the capture's records from the first on, in order, each once, until ctx ends; stop waits for
// that. The client library makes another consumer, where that one has ended, whenever one is lost.
func (c *Console) history(ctx context.Context, js jetstream.JetStream, records chan<- jetstream.Msg) (stop func(), err error) {
	subject := schema.EventSubject(c.Transcript.Identity, c.Partitions)
	// No name prefix: whoever knows a consumer's name can take its messages away.
	consumer, err := js.OrderedConsumer(ctx, "STENO_EVENTS", jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{subject}, InactiveThreshold: time.Minute,
	})
	if err != nil {
		return nil, fmt.Errorf("create consumer of %s: %w", subject, err)
	}
	reading, err := consumer.Consume(func(m jetstream.Msg) {
		select {
		case records <- m:
		case <-ctx.Done():
		}
	}, jetstream.PullMaxBytes(pullBytes))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", subject, err)
	}
	return func() { reading.Stop(); <-reading.Closed() }, nil
}
