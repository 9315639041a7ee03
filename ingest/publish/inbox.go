package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema/topology"
)

// inbox is where the answers to an appender's single messages come. One message is in flight, so all
// name the same reply subject, which the server then finds without a search, and the next answer is the
// message's own. Only of a message that two leaders of a cluster saw stored each may say so, the second
// after the next message has gone; that answer names a sequence which the next one's fence has already.
// After a wait that ends with an error the inbox must be left for a new one.
type inbox struct {
	conn    *nats.Conn
	subject string
	answers *nats.Subscription
	came    chan *nats.Msg
	lost    chan nats.Status // the connection was, and with it perhaps an answer
	timer   *time.Timer
}

// roomForAnswers is more than can come: the one that is waited for, and the stray ones of a leader each.
const roomForAnswers = 16

func openInbox(conn *nats.Conn) (*inbox, error) {
	b := &inbox{conn: conn, subject: conn.NewInbox(), came: make(chan *nats.Msg, roomForAnswers), timer: time.NewTimer(answerWithin)}
	b.timer.Stop()
	var err error
	if b.answers, err = conn.ChanSubscribe(b.subject, b.came); err != nil {
		return nil, err
	}
	b.lost = conn.StatusChanged(nats.RECONNECTING, nats.CLOSED)
	return b, nil
}

// leave gives the subscription back.
func (b *inbox) leave() {
	_ = b.answers.Unsubscribe() // it fails on a connection that is closed, and has none
	b.conn.RemoveStatusListener(b.lost)
}

// ask publishes a message and gives the sequence that its answer names, which is behind that of the
// fence.
func (b *inbox) ask(ctx context.Context, m *nats.Msg, fence uint64) (uint64, error) {
	for len(b.lost) > 0 { // it came again before this message, each time
		<-b.lost
	}
	m.Reply = b.subject
	if err := b.conn.PublishMsg(m); err != nil {
		return 0, err
	}
	b.timer.Reset(answerWithin)
	defer b.timer.Stop()
	for {
		select {
		case m := <-b.came:
			if seq, err := sequence(m); err != nil || seq > fence {
				return seq, err
			}
		case <-b.lost:
			return 0, nats.ErrDisconnected
		case <-b.timer.C:
			return 0, nats.ErrTimeout
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// ackBegin is how the server begins an ack of STENO_RAW, unless it is in a JetStream domain.
var ackBegin = []byte(`{"stream":"` + topology.Raw + `","seq":`)

// sequence reads an answer: the stored message's sequence, or why none is stored.
func sequence(m *nats.Msg) (uint64, error) {
	if digits, ok := bytes.CutPrefix(m.Data, ackBegin); ok {
		if digits, ok = bytes.CutSuffix(digits, []byte("}")); ok {
			if seq, err := strconv.ParseUint(string(digits), 10, 64); err == nil {
				return seq, nil
			}
		}
	}
	if len(m.Data) == 0 { // nobody listens on the subject: the server's word for it has a status and no text
		return 0, jetstream.ErrNoStreamResponse
	}
	var answer struct {
		Error  *jetstream.APIError `json:"error"`
		Stream string              `json:"stream"`
		Seq    uint64              `json:"seq"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return 0, errors.Join(jetstream.ErrInvalidJSAck, err)
	}
	switch {
	case answer.Error != nil:
		return 0, answer.Error
	case answer.Stream != topology.Raw || answer.Seq == 0:
		return 0, jetstream.ErrInvalidJSAck
	}
	return answer.Seq, nil
}
