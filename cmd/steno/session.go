package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/translate/stage"
)

// Times of a session.
const (
	raceEvery = 50 * time.Millisecond
	patience  = 30 * time.Second // with what is there, but does not answer
)

// session is what a command works with: the streams and the ledger of one site.
type session struct {
	site
	conn      *nats.Conn
	js        jetstream.JetStream
	info      topology.Info
	ledger    ledger // read-only
	archives  *archives
	batchFrom int // frames; see publish.BatchFrom
	// unstored says of each journal and capture that does not come through why. What a command answers
	// is without it.
	unstored []string
	stalled  error // of the captures that were waited for in vain since
}

// site is where the streams and the ledger of a session are.
type site interface {
	// patient asks what may be answered, and asks again where the answer may have been lost or is not
	// ready yet. It returns ctx's cause when that ends, and errors that another try does not mend.
	patient(ctx context.Context, ask func() error) error
	// settle waits until a capture's frames up to frame are committed and numbered. The error wraps
	// holder.ErrParked if they never will be, and holder.ErrStalled if they do not come.
	settle(ctx context.Context, id schema.Identity, frame uint64) error
	// examine adds what doctor finds of the site itself, beside the streams' and the ledger's.
	examine(ctx context.Context, s *session, h *health) error
	// close gives the site back.
	close() error
}

// ledger is what commands read: whichever database it is in, one moment sees what the next one does
// not lose, and nothing is ever written.
type ledger interface {
	sink.Reader
	sink.Auditor
	sink.Searcher
	io.Closer
}

// open opens the cluster that the flags name, or else the data directory. The context that it gives
// ends when there is nobody any more to ask.
func (a *app) open(ctx context.Context, name string) (*session, context.Context, error) {
	if a.clustered() {
		s, err := a.openCluster(ctx)
		return s, ctx, err
	}
	return a.openDirectory(ctx, name)
}

// why gives the reason for which a context ended, where that is what an error says.
func why(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		return cause
	}
	return err
}

// parked lists the captures that the stage has parked.
func (s *session) parked(ctx context.Context) (list []stage.ParkedCapture, err error) {
	err = s.patient(ctx, func() (err error) {
		list, err = stage.ListParked(ctx, s.js)
		return err
	})
	return list, err
}

// blobs opens what is kept apart from the streams.
func (s *session) blobs(ctx context.Context) (blobs *topology.Blobs, err error) {
	err = s.patient(ctx, func() (err error) {
		blobs, err = topology.OpenBlobs(ctx, s.js)
		return err
	})
	return blobs, err
}

// close closes the ledger and gives the site back.
func (s *session) close() error {
	var err error
	if s.ledger != nil {
		err = s.ledger.Close()
	}
	return errors.Join(err, s.site.close())
}

// isTransient tells errors that a busy server gives, or a holder on its way.
func isTransient(err error) bool {
	return isAny(err, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected, nats.ErrReconnectBufExceeded,
		jetstream.ErrNoStreamResponse, context.DeadlineExceeded, fs.ErrNotExist)
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}
