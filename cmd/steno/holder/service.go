package holder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
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

// request asks for work. It is asked again under the same ID until the work is done.
type request struct {
	ID string `json:"id"`
	// Capture and Frame: settle that capture up to that frame.
	Capture string `json:"capture,omitempty"`
	Frame   uint64 `json:"frame,omitempty"`
}

type reply struct {
	Error    string   `json:"error,omitempty"`
	Parked   bool     `json:"parked,omitempty"`
	Stalled  bool     `json:"stalled,omitempty"`
	Unstored []string `json:"unstored,omitempty"`
}

// answerStep is how long the holder works before it says "not yet": the asker asks again, so that
// neither waits on a process that is gone.
const answerStep = 5 * time.Second

var (
	// ErrParked: the capture is parked and nothing more of it will be numbered.
	ErrParked = errors.New("capture is parked")
	// ErrStalled: what was waited for does not come, and nothing moves that could bring it.
	ErrStalled = errors.New("the pipeline does not get on")
)

// errAgain asks for another request.
const errAgain = "not yet"

// Settle waits until a capture's frames up to frame are committed and numbered by whoever holds the
// directory, across holders. The error wraps ErrParked if they will never be, and ErrStalled if they
// do not come.
func (c *Client) Settle(ctx context.Context, id schema.Identity, frame uint64) error {
	_, err := c.until(ctx, settleSubject, request{Capture: id.String(), Frame: frame})
	if err != nil {
		return fmt.Errorf("settle %s: %w", id, err)
	}
	return nil
}

// Drain waits until what the directory's journals hold now is numbered, and says of what does not come
// through why.
func (c *Client) Drain(ctx context.Context) (unstored []string, err error) {
	r, err := c.until(ctx, drainSubject, request{})
	if err != nil {
		return nil, fmt.Errorf("drain journals: %w", err)
	}
	return r.Unstored, nil
}

// HandOver asks the holder to give the directory to this process, which takes it next. An up refuses.
func (c *Client) HandOver(ctx context.Context) error {
	r, err := c.ask(ctx, handOverSubject, nil, answerStep)
	if err == nil && r.Error != "" {
		err = errors.New(r.Error)
	}
	if err != nil {
		return fmt.Errorf("ask the holder to hand over: %w", err)
	}
	return nil
}

// until asks the holder, whoever that is, until it has done what was asked.
func (c *Client) until(ctx context.Context, subject string, q request) (reply, error) {
	q.ID = uuid.NewString()
	data, err := json.Marshal(q)
	if err != nil {
		return reply{}, err
	}
	for {
		r, err := c.ask(ctx, subject, data, 2*answerStep)
		switch {
		case err != nil, r.Error == errAgain: // the holder changes, or is busy: ask again
			select {
			case <-ctx.Done():
				return reply{}, context.Cause(ctx)
			case <-c.gone:
				return reply{}, ErrGone
			case <-time.After(dialEvery):
			}
		case r.Parked:
			return r, answered{r.Error, ErrParked}
		case r.Stalled:
			return r, answered{r.Error, ErrStalled}
		case r.Error != "":
			return r, errors.New(r.Error)
		default:
			return r, nil
		}
	}
}

// answered is an error as the holder worded it.
type answered struct {
	text string
	is   error
}

// Error implements error.
func (a answered) Error() string { return a.text }

// Unwrap gives the sentinel that the text names already.
func (a answered) Unwrap() error { return a.is }

// ask asks once. It does not wait for the answer of a holder that has gone.
func (c *Client) ask(ctx context.Context, subject string, data []byte, timeout time.Duration) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c.mu.Lock()
	stop := context.AfterFunc(c.present, cancel)
	c.mu.Unlock()
	defer stop()
	m, err := c.Conn.RequestWithContext(ctx, subject, data)
	if err != nil {
		return reply{}, err
	}
	var r reply
	return r, json.Unmarshal(m.Data, &r)
}

// serve answers the holder's requests until ctx ends.
func (h *Holder) serve(ctx context.Context) error {
	jobs := newJobs(ctx)
	defer jobs.stop()
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
			jobs.group.Go(func() { h.answer(m, h.settled(jobs, m.Data)) })
		case m := <-drain:
			jobs.group.Go(func() { h.answer(m, h.drained(jobs, m.Data)) })
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

func (h *Holder) settled(jobs *jobs, data []byte) reply {
	var q request
	if err := json.Unmarshal(data, &q); err != nil {
		return reply{Error: fmt.Sprintf("read settle request: %v", err)}
	}
	id, err := schema.ParseIdentity(q.Capture)
	if err != nil {
		return reply{Error: fmt.Sprintf("read settle request: %v", err)}
	}
	return jobs.step(q.ID, func(ctx context.Context) reply {
		err := h.settle(ctx, id, q.Frame)
		switch {
		case err == nil:
			return reply{}
		case errors.Is(err, ErrParked), errors.Is(err, ErrStalled):
			return reply{Error: err.Error(), Parked: errors.Is(err, ErrParked), Stalled: errors.Is(err, ErrStalled)}
		}
		return reply{Error: errAgain}
	})
}

func (h *Holder) drained(jobs *jobs, data []byte) reply {
	var q request
	if err := json.Unmarshal(data, &q); err != nil {
		return reply{Error: fmt.Sprintf("read drain request: %v", err)}
	}
	return jobs.step(q.ID, func(ctx context.Context) reply {
		unstored, err := h.drain(ctx)
		if err != nil {
			h.o.Log.Debug().Err(err).Msg("drain journals; to be asked again")
			return reply{Error: errAgain}
		}
		return reply{Unstored: unstored}
	})
}
