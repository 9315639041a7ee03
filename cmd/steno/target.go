package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/stage"
)

// target is where frames are imported to.
type target struct {
	options publish.AppenderOptions
	// settled waits until a capture's frames are committed and, where this directory's ledger takes
	// them, numbered. whole says that the frame is the close of a file that was read to its end.
	settled func(ctx context.Context, id schema.Identity, frame uint64, whole bool) error
}

func (a *app) importTarget(ctx context.Context) (*target, context.Context, func() error, error) {
	if a.remote() {
		t, done, err := a.remoteTarget(ctx)
		return t, ctx, done, err
	}
	s, ctx, err := a.open(ctx, "import")
	if err != nil {
		return nil, ctx, nil, err
	}
	t, err := s.target(ctx)
	if err != nil {
		return nil, ctx, nil, errors.Join(why(ctx, err), s.close())
	}
	return t, ctx, s.close, nil
}

// target is the session's own streams.
func (s *session) target(ctx context.Context) (*target, error) {
	t := &target{options: publish.AppenderOptions{JS: s.js, Partitions: s.info.Partitions, BatchFrom: s.batchFrom}}
	t.settled = func(ctx context.Context, id schema.Identity, frame uint64, _ bool) error {
		return s.settle(ctx, id, frame)
	}
	var err error
	t.options.Blobs, err = s.blobs(ctx)
	return t, err
}

// remoteTarget is a NATS of the user's own.
func (a *app) remoteTarget(ctx context.Context) (*target, func() error, error) {
	s, err := connectStreams(ctx, a.destination())
	if err != nil {
		return nil, nil, err
	}
	t := &target{options: publish.AppenderOptions{JS: s.js, Blobs: s.blobs, Partitions: s.info.Partitions, BatchFrom: s.batchFrom}}
	t.settled = func(ctx context.Context, id schema.Identity, frame uint64, whole bool) error {
		if !whole { // its last frames may be of a message that stays open, which no record tells
			return nil
		}
		return a.committed(ctx, s.js, id, s.info.Partitions, frame)
	}
	return t, func() error { s.conn.Close(); return nil }, nil
}

// committed waits until a record covers the frame, which is a close frame and so always gives an
// event. The error wraps holder.ErrParked if none ever will.
func (a *app) committed(ctx context.Context, js jetstream.JetStream, id schema.Identity, partitions uint32, frame uint64) error {
	slow := &waiting{out: a.err}
	for tries := 0; ; tries++ {
		m, ok, err := topology.Last(ctx, js, topology.Events, schema.EventSubject(id, partitions))
		if err == nil && ok {
			record, err := schema.RecordFromHeader(m.Header)
			if err != nil {
				return fmt.Errorf("wait for the record of frame %d of %s: %w", frame, id, err)
			}
			if record.Last.Frame >= frame {
				return nil
			}
		}
		if err == nil && tries%20 == 19 {
			err = parkedError(ctx, js, id)
			if errors.Is(err, holder.ErrParked) {
				return err
			}
		}
		switch {
		case err != nil:
			slow.on("waiting for frame %d of %s to be committed: %v", frame, id, err)
		default:
			slow.on("waiting for frame %d of %s to be committed: it is stored, and no translator gets on with it", frame, id)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// parkedError is why the capture is parked, wrapping holder.ErrParked; nil if it is not.
func parkedError(ctx context.Context, js jetstream.JetStream, id schema.Identity) error {
	list, err := stage.ListParked(ctx, js)
	if err != nil {
		return err
	}
	for _, p := range list {
		if p.Identity == id && !p.Redrive {
			return fmt.Errorf("%w: %s at frame %d: %s (%s)", holder.ErrParked, id, p.Frame, p.Reason, p.Error)
		}
	}
	return nil
}
