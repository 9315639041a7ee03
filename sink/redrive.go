package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
)

// redriveAnswer is what the owner of a partition answers.
type redriveAnswer struct {
	Redriven bool   `json:"redriven"` // false without an error: the ledger has not parked the capture
	Error    string `json:"error,omitempty"`
}

// ErrNoOwner marks a request that no sink answered in time: ask again, or start one.
var ErrNoOwner = errors.New("no sink stores the partition")

// Redrive asks the sink that stores the capture's partition to take it out of the ledger's park and to
// store the partition again from its first message: what is there already is compared, what was passed
// over comes behind it. false: the ledger had not parked it.
func Redrive(ctx context.Context, nc *nats.Conn, id schema.Identity, partitions uint32) (bool, error) {
	m, err := nc.RequestWithContext(ctx, schema.RedriveSubject(id, partitions), nil)
	if errors.Is(err, nats.ErrNoResponders) {
		err = ErrNoOwner
	}
	var answer redriveAnswer
	if err == nil {
		err = json.Unmarshal(m.Data, &answer)
	}
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	if err != nil {
		return false, fmt.Errorf("redrive %s in the ledger: %w", id, err)
	}
	return answer.Redriven, nil
}

// redrive answers requests until one has ended the claim; then it returns errRestart.
func (p *partition) redrive(ctx context.Context, claim Claim) error {
	requests := make(chan *nats.Msg, 64)
	subject := schema.RedrivePartition(p.number)
	sub, err := p.sink.o.JS.Conn().ChanSubscribe(subject, requests)
	if err != nil {
		return fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	leave := sync.OnceFunc(func() {
		_ = sub.Unsubscribe() // the connection may be gone
		for {
			select {
			case m := <-requests:
				if !schema.IsInbox(m.Reply) {
					continue
				}
				p.answer(m, redriveAnswer{Error: "the partition is claimed anew: ask again"})
			default:
				return
			}
		}
	})
	defer leave()
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-requests:
			if !schema.IsInbox(m.Reply) {
				p.sink.o.Log.Warn().Str("subject", m.Subject).Str("reply", m.Reply).Msg("request that cannot be answered")
				continue
			}
			_, id, err := schema.ParseSubject(m.Subject)
			if err != nil || id.Partition(p.of) != p.number {
				p.answer(m, redriveAnswer{Error: fmt.Sprintf("read request on %s: no capture of partition %d", m.Subject, p.number)})
				continue
			}
			// From here on a refusal by the epoch is our own doing.
			p.redriven.Store(true)
			tries := 0
			redriven, err := retry(ctx, p.sink, "redrive a capture", func() (bool, error) {
				tries++
				return p.sink.o.Ledger.Redrive(ctx, claim, id)
			})
			switch {
			case errors.Is(err, ErrFenced) && tries == 1: // another owns the partition, and answers
				p.redriven.Store(false)
				return err
			case err != nil: // perhaps done, with the answer lost: claimed anew, it is as it is
				leave() // before the answer: whoever asks again on it is not heard by a claim that is over
				p.answer(m, redriveAnswer{Error: err.Error()})
				return errRestart
			case redriven:
				p.sink.o.Log.Info().Stringer("capture", id).Uint32("partition", p.number).
					Msg("capture taken out of the park: the partition is read again from its first message")
				leave()
				p.answer(m, redriveAnswer{Redriven: true})
				return errRestart
			}
			p.redriven.Store(false)
			p.answer(m, redriveAnswer{})
		}
	}
}

func (p *partition) answer(m *nats.Msg, a redriveAnswer) {
	data, err := json.Marshal(a)
	if err == nil {
		err = m.Respond(data)
	}
	if err != nil { // whoever asked asks again
		p.sink.o.Log.Warn().Err(err).Str("subject", m.Subject).Msg("answer a request to redrive")
	}
}
