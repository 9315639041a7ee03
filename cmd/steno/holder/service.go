package holder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
)

// Subjects of the holder's own requests. They are this directory's, not the cluster's: only the
// embedded server carries them.
const (
	settleSubject   = "steno.holder.settle"
	drainSubject    = "steno.holder.drain"
	handOverSubject = "steno.holder.handover"
)

// settleRequest asks to wait until a capture's frames up to Frame are committed and numbered.
type settleRequest struct {
	Capture string `json:"capture"`
	Frame   uint64 `json:"frame"`
}

type reply struct {
	Error  string `json:"error,omitempty"`
	Parked bool   `json:"parked,omitempty"`
}

// settleStep is how long the holder works on one request: the asker asks again, so that neither
// waits on a process that is gone.
const settleStep = 5 * time.Second

// ErrParked: the capture is parked and nothing more of it will be numbered.
var ErrParked = errors.New("capture is parked")

// errAgain asks for another settle request.
const errAgain = "not yet"

// Settle waits until a capture's frames up to frame are committed and numbered by whoever holds the
// directory, across holders. The error wraps ErrParked if they will never be.
func (c *Client) Settle(ctx context.Context, id schema.Identity, frame uint64) error {
	request, err := json.Marshal(settleRequest{Capture: id.String(), Frame: frame})
	if err == nil {
		err = c.until(ctx, settleSubject, request)
	}
	if err != nil {
		return fmt.Errorf("settle %s: %w", id, err)
	}
	return nil
}

// Drain waits until what the directory's journals hold now is numbered.
func (c *Client) Drain(ctx context.Context) error {
	if err := c.until(ctx, drainSubject, nil); err != nil {
		return fmt.Errorf("drain journals: %w", err)
	}
	return nil
}

// HandOver asks the holder to give the directory to this process, which takes it next. An up refuses.
func (c *Client) HandOver(ctx context.Context) error {
	r, err := c.ask(ctx, handOverSubject, nil, settleStep)
	if err == nil && r.Error != "" {
		err = errors.New(r.Error)
	}
	if err != nil {
		return fmt.Errorf("ask the holder to hand over: %w", err)
	}
	return nil
}

// until asks the holder, whoever that is, until it has done what was asked.
func (c *Client) until(ctx context.Context, subject string, request []byte) error {
	for {
		r, err := c.ask(ctx, subject, request, 2*settleStep)
		switch {
		case err != nil: // the holder changes, or is busy: ask again
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-c.gone:
				return ErrGone
			case <-time.After(100 * time.Millisecond):
			}
		case r.Parked:
			return fmt.Errorf("%s: %w", r.Error, ErrParked)
		case r.Error == errAgain:
		case r.Error != "":
			return errors.New(r.Error)
		default:
			return nil
		}
	}
}

func (c *Client) ask(ctx context.Context, subject string, request []byte, timeout time.Duration) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	m, err := c.Conn.RequestWithContext(ctx, subject, request)
	if err != nil {
		return reply{}, err
	}
	var r reply
	return r, json.Unmarshal(m.Data, &r)
}

// serve answers the holder's requests until ctx ends.
func (h *Holder) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer func() { cancel(); work.Wait() }()
	settle, drain, handOver := make(chan *nats.Msg, 64), make(chan *nats.Msg, 64), make(chan *nats.Msg, 1)
	for subject, messages := range map[string]chan *nats.Msg{settleSubject: settle, drainSubject: drain, handOverSubject: handOver} {
		if _, err := h.conn.ChanSubscribe(subject, messages); err != nil {
			return fmt.Errorf("serve %s: %w", subject, err)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-settle:
			work.Go(func() { h.answer(m, h.settled(ctx, m.Data)) })
		case m := <-drain:
			work.Go(func() { h.answer(m, h.step(ctx, h.drain)) })
		case m := <-handOver:
			if h.o.Kind == Up {
				h.answer(m, reply{Error: "an up does not hand over; stop it first"})
				continue
			}
			h.answer(m, reply{})
			if err := h.conn.FlushTimeout(time.Second); err != nil { // the connection ends next
				h.o.Log.Warn().Err(err).Msg("answer hand-over")
			}
			h.o.Log.Info().Msg("handing the data directory over")
			return errHandOver
		}
	}
}

func (h *Holder) answer(m *nats.Msg, r reply) {
	data, err := json.Marshal(r)
	if err == nil {
		err = m.Respond(data)
	}
	if err != nil { // the asker asks again
		h.o.Log.Warn().Err(err).Str("subject", m.Subject).Msg("answer request")
	}
}

func (h *Holder) settled(ctx context.Context, data []byte) reply {
	var r settleRequest
	if err := json.Unmarshal(data, &r); err != nil {
		return reply{Error: fmt.Sprintf("read settle request: %v", err)}
	}
	id, err := schema.ParseIdentity(r.Capture)
	if err != nil {
		return reply{Error: fmt.Sprintf("read settle request: %v", err)}
	}
	return h.step(ctx, func(ctx context.Context) error { return h.settle(ctx, id, r.Frame) })
}

// step works on a request for a while; the asker asks again where that is too short.
func (h *Holder) step(ctx context.Context, work func(context.Context) error) reply {
	step, cancel := context.WithTimeout(ctx, settleStep)
	defer cancel()
	err := work(step)
	switch {
	case err == nil:
		return reply{}
	case step.Err() != nil:
		return reply{Error: errAgain}
	}
	return reply{Error: err.Error(), Parked: errors.Is(err, ErrParked)}
}
