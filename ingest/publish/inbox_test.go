package publish

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/topology"
)

func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		text string
		seq  uint64
		err  error
	}{
		{`{"stream":"STENO_RAW","seq":18446744073709551615}`, 18446744073709551615, nil},
		{`{"stream":"STENO_RAW","domain":"d","seq":17}`, 17, nil},
		{`{"stream":"STENO_RAW","seq":17,"duplicate":true}`, 17, nil},
		{`{"stream":"STENO_RAW","seq":0}`, 0, nil}, // behind no fence
		{`{"stream":"STENO_RAW","seq":18446744073709551616}`, 0, jetstream.ErrInvalidJSAck},
		{`{"stream":"OTHER","seq":17}`, 0, jetstream.ErrInvalidJSAck},
		{`{"stream":"STENO_RAW"}`, 0, jetstream.ErrInvalidJSAck},
		{`{}`, 0, jetstream.ErrInvalidJSAck},
		{`+OK`, 0, jetstream.ErrInvalidJSAck},
		{``, 0, jetstream.ErrNoStreamResponse},
	} {
		seq, err := sequence(&nats.Msg{Data: []byte(test.text)})
		require.ErrorIs(t, err, test.err, test.text)
		require.Equal(t, test.seq, seq, test.text)
	}
	_, err := sequence(&nats.Msg{Data: []byte(`{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 7"},"stream":"STENO_RAW","seq":0}`)})
	require.Equal(t, topology.Refused, topology.Classify(err))
}

// What the first of two leaders has answered already is no answer to the next message.
func TestAnAnswerToldTwiceIsPassedOver(t *testing.T) {
	r := newRig(t)
	conn, err := nats.Connect(r.JS.Conn().ConnectedUrl(), nats.Token(r.JS.Conn().Opts.Token))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	asked, err := conn.SubscribeSync("stray")
	require.NoError(t, err)
	require.NoError(t, conn.Flush())
	go func() {
		m, err := asked.NextMsg(time.Minute)
		for _, answer := range []string{`{"stream":"STENO_RAW","seq":6}`, `{"stream":"STENO_RAW","seq":7}`, `{"stream":"STENO_RAW","seq":9}`} {
			err = errors.Join(err, m.Respond([]byte(answer)))
		}
		if err != nil {
			t.Error(err)
		}
	}()
	b, err := openInbox(r.JS.Conn())
	require.NoError(t, err)
	defer b.leave()
	seq, err := b.ask(deadline(t), nats.NewMsg("stray"), 7)
	require.NoError(t, err)
	require.Equal(t, uint64(9), seq)
}

// However often the connection was lost before a message, its own answer counts.
func TestWhatWasLostBeforeAMessageIsNotItsAnswer(t *testing.T) {
	r := newRig(t)
	asked, err := r.JS.Conn().Subscribe("stray", func(m *nats.Msg) { _ = m.Respond([]byte(`{"stream":"STENO_RAW","seq":9}`)) })
	require.NoError(t, err)
	defer asked.Unsubscribe() //nolint:errcheck // the connection goes with the test
	b, err := openInbox(r.JS.Conn())
	require.NoError(t, err)
	defer b.leave()
	for range cap(b.lost) {
		b.lost <- nats.RECONNECTING
	}
	seq, err := b.ask(deadline(t), nats.NewMsg("stray"), 7)
	require.NoError(t, err)
	require.Equal(t, uint64(9), seq)
}

// After an error the late answer meets nobody, and what it would have said is read from the subject.
func TestAnInboxIsLeftAfterAnError(t *testing.T) {
	r := newRig(t)
	a := r.appender(t, "j")
	require.NoError(t, a.Append(deadline(t), frames(2)))
	first := a.inbox.subject
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, a.Append(gone, frames(3)), context.Canceled)
	require.NoError(t, a.Append(deadline(t), frames(4)))
	require.NotEqual(t, first, a.inbox.subject)
	require.Equal(t, numbers("j", 4), texts(r.stored(t, capture)))
	a.Close()
	a.Close()
	require.Zero(t, r.JS.Conn().NumSubscriptions()-1, "the rest is the client's own, for requests")
	require.NoError(t, a.Append(deadline(t), frames(5)))
	require.Equal(t, numbers("j", 5), texts(r.stored(t, capture)))
}
