package givingback_test

import (
	"context"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink/archive"
)

var errBroken = errors.New("the connection is gone")

// breaking is a JetStream of which one write fails: refused, or done with the answer lost.
type breaking struct {
	jetstream.JetStream
	at   int
	done bool
	then func() error // what its answer is instead; nil: errBroken
	n    int
}

func (b *breaking) write(do func() error) error {
	if b.n++; b.n != b.at {
		return do()
	}
	if b.done {
		if err := do(); err != nil {
			return err
		}
	}
	if b.then != nil {
		return b.then()
	}
	return errBroken
}

func (b *breaking) PublishMsg(ctx context.Context, m *nats.Msg, opts ...jetstream.PublishOpt) (ack *jetstream.PubAck, err error) {
	err = b.write(func() error {
		ack, err = b.JetStream.PublishMsg(ctx, m, opts...)
		return err
	})
	return ack, err
}

func (b *breaking) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	s, err := b.JetStream.Stream(ctx, name)
	return &breakingStream{s, b}, err
}

type breakingStream struct {
	jetstream.Stream
	b *breaking
}

func (s *breakingStream) Purge(ctx context.Context, opts ...jetstream.StreamPurgeOpt) error {
	return s.b.write(func() error { return s.Stream.Purge(ctx, opts...) })
}

// put stores a message that was taken away.
func (s *site) put(subject string, m topology.Message) {
	s.t.Helper()
	header := nats.Header{}
	for name, values := range m.Header {
		if !strings.HasPrefix(name, "Nats-") {
			header[name] = values
		}
	}
	_, err := s.JS.PublishMsg(bounded(s.t), &nats.Msg{Subject: subject, Header: header, Data: m.Data})
	require.NoError(s.t, err)
}

// nowhere opens no archive.
func (s *site) nowhere(why error) func(context.Context, schema.Identity) (archive.Store, error) {
	return func(context.Context, schema.Identity) (archive.Store, error) { return nil, why }
}
