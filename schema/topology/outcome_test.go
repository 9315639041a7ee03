package topology_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"github.com/synadia-io/orbit.go/jetstreamext"

	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

func TestClassifyByCode(t *testing.T) {
	code := func(n jetstream.ErrorCode) error {
		return fmt.Errorf("publish: %w", &jetstream.APIError{Code: 400, ErrorCode: n})
	}
	tests := []struct {
		err  error
		want topology.Outcome
	}{
		{nil, topology.Stored},
		{code(10071), topology.Refused},
		{code(10164), topology.Busy},
		{code(10210), topology.TooMany},
		{code(10054), topology.Never},
		{code(10097), topology.Never},
		{code(10176), topology.Unknown},
		{code(10077), topology.Unknown}, // the disk, or a full stream
		{jetstreamext.ErrAtomicPublishTooManyInflight, topology.TooMany},
		{nats.ErrMaxPayload, topology.Never},
		{nats.ErrTimeout, topology.Unknown},
		{nats.ErrNoResponders, topology.Unknown},
		{jetstream.ErrNoStreamResponse, topology.Unknown},
		{context.DeadlineExceeded, topology.Unknown},
		{errors.New("anything"), topology.Unknown},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, topology.Classify(tt.err), "%v", tt.err)
	}
}

// The server's own answers, for single messages and for batches.
func TestClassifyWhatTheServerSays(t *testing.T) {
	ctx := deadline(t)
	s := natstest.Start(t)
	fill(t, s.JS, 2, subjectA)

	_, err := s.JS.Publish(ctx, subjectA, nil, jetstream.WithExpectLastSequencePerSubject(1))
	require.Equal(t, topology.Refused, topology.Classify(err), "%v", err)
	_, err = s.JS.Publish(ctx, subjectA, nil, jetstream.WithExpectLastSequencePerSubject(2))
	require.Equal(t, topology.Stored, topology.Classify(err), "%v", err)
	_, err = s.JS.Publish(ctx, subjectB, nil, jetstream.WithExpectLastSequencePerSubject(0))
	require.NoError(t, err, "0 expects an empty subject")
	_, err = s.JS.Publish(ctx, subjectB, nil, jetstream.WithExpectLastSequencePerSubject(0))
	require.Equal(t, topology.Refused, topology.Classify(err), "%v", err)
	_, err = s.JS.Publish(ctx, subjectA, make([]byte, 2<<20))
	require.Equal(t, topology.Never, topology.Classify(err), "%v", err)

	batch := func(expect string) error {
		_, err := jetstreamext.PublishMsgBatch(ctx, s.JS, []*nats.Msg{
			{Subject: subjectA, Header: nats.Header{jetstream.ExpectedLastSubjSeqHeader: {expect}}},
			{Subject: subjectA, Header: nats.Header{}},
		})
		return err
	}
	require.Equal(t, topology.Refused, topology.Classify(batch("2")), "the batch is fenced on its first message")
	require.Equal(t, topology.Stored, topology.Classify(batch("3")))
}

func TestClassifyTooManyBatches(t *testing.T) {
	s := natstest.Start(t)
	var refused error
	for i := range 60 { // the server takes 50 open batches a stream
		b, err := jetstreamext.NewBatchPublisher(s.JS)
		require.NoError(t, err)
		if err := b.Add(fmt.Sprintf("steno.raw.1.n.w.r%d.0.1", i), nil); err != nil {
			refused = err
			break
		}
	}
	require.Equal(t, topology.TooMany, topology.Classify(refused), "%v", refused)
}
