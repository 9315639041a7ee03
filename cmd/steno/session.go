package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink/sqlite"
)

// session is a command's access to a data directory: through the process that holds it, or through
// the embedded pipeline that this command starts for as long as it runs.
type session struct {
	dir    holder.Dir
	client *holder.Client
	js     jetstream.JetStream
	info   topology.Info
	ledger *sqlite.Ledger // read-only

	end  context.CancelCauseFunc
	stop context.CancelFunc // of the pipeline that this process runs; nil if another one does
	held chan error
}

// open opens the data directory. It answers only when what the journals held is numbered. The context
// that it gives ends when the directory has no holder any more.
func (a *app) open(ctx context.Context, name string) (*session, context.Context, error) {
	s := &session{dir: a.dir()}
	ctx, s.end = context.WithCancelCause(ctx)
	err := s.hold(ctx, a)
	if err == nil {
		err = s.connect(ctx, name)
	}
	if err == nil {
		go func() { // ends with ctx, which close ends
			select {
			case <-ctx.Done():
			case <-s.client.Gone():
				s.end(holder.ErrGone)
			}
		}()
		err = s.client.Drain(ctx)
	}
	if err == nil {
		err = s.patient(ctx, func() (err error) {
			s.ledger, err = sqlite.Open(s.dir.Ledger(), sqlite.Options{ReadOnly: true})
			return err
		})
	}
	if err != nil {
		return nil, ctx, errors.Join(why(ctx, err), s.close())
	}
	return s, ctx, nil
}

// why gives the reason for which a context ended, where that is what an error says.
func why(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		return cause
	}
	return err
}

// hold takes the directory if nobody has it.
func (s *session) hold(ctx context.Context, a *app) error {
	options, err := a.holderOptions(holder.Command)
	if err != nil {
		return err
	}
	h, err := holder.Acquire(ctx, options)
	if errors.Is(err, holder.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	// It runs until close, also when ctx has ended: what was asked before is still answered.
	held, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop, s.held = stop, make(chan error, 1)
	go func() {
		_, err := h.Run(held)
		if err != nil {
			s.end(err)
		}
		s.held <- err
	}()
	return nil
}

func (s *session) connect(ctx context.Context, name string) (err error) {
	if s.client, err = s.dir.Connect(ctx, "steno "+name); err != nil {
		return err
	}
	if s.js, err = jetstream.New(s.client.Conn); err != nil {
		return fmt.Errorf("open JetStream: %w", err)
	}
	return s.patient(ctx, func() (err error) {
		s.info, err = topology.Check(ctx, s.js)
		return err
	})
}

// patient repeats what another holder may answer: this one may be going away. It ends with ctx, which
// ends when no holder comes, and with errors that no holder mends.
func (s *session) patient(ctx context.Context, ask func() error) error {
	for {
		err := ask()
		if err == nil || errors.Is(err, topology.ErrDrifted) || errors.Is(err, topology.ErrPartitions) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// close gives everything back and waits for the pipeline that this process runs.
func (s *session) close() error {
	var errs []error
	if s.ledger != nil {
		errs = append(errs, s.ledger.Close())
	}
	s.end(nil)
	if s.client != nil {
		s.client.Close()
	}
	if s.stop != nil {
		s.stop()
		errs = append(errs, <-s.held)
	}
	return errors.Join(errs...)
}
