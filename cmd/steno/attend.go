package main

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/ingest/intervene"
	"github.com/steno-io/steno/ingest/journal"
)

// Times of a tap that waits for somebody who can bring interventions.
const (
	attendEvery  = 500 * time.Millisecond
	attendWithin = 2 * time.Second // for a connection
)

// whileAttended does what holds a conversation that w records, and takes interventions for it meanwhile,
// wherever its record goes: over the NATS that the journal names, or over whoever holds the data directory.
// While there is neither, or the record has not got there, there are none: nobody could have seen in what
// he intervenes. Nothing else depends on it. Without a journal it only does it.
func (a *app) whileAttended(ctx context.Context, w *journal.Writer, target intervene.Target, do func() error) error {
	if w == nil {
		return do()
	}
	attending, leave := context.WithCancel(ctx)
	var attended sync.WaitGroup
	attended.Go(func() { a.attend(attending, w, intervene.NewDesk(target)) })
	err := do()
	leave()
	attended.Wait()
	return err
}

// attend goes on until ctx ends.
func (a *app) attend(ctx context.Context, w *journal.Writer, desk *intervene.Desk) {
	for ctx.Err() == nil {
		mark, err := journal.ReadMark(a.dir().Journals(), w.Head().ID)
		if err == nil {
			err = a.attendOnce(ctx, w.Head().Destination, func(ctx context.Context, conn *nats.Conn) error {
				return desk.Serve(ctx, conn, mark.Identity, func() { a.log.Debug().Stringer("capture", mark.Identity).Msg("taking interventions") })
			})
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // nobody is there yet, or the next one is awaited
			a.log.Debug().Err(err).Msg("take interventions; trying again")
		}
		select {
		case <-ctx.Done():
		case <-time.After(attendEvery):
		}
	}
}

// dialer makes connections only as long as what they are for goes on: a tap's end waits for a NATS that is
// silent no longer than attendWithin.
type dialer func(network, address string) (net.Conn, error)

// Dial implements nats.CustomDialer.
func (d dialer) Dial(network, address string) (net.Conn, error) { return d(network, address) }

// unattended says, once a process, that its user may not take interventions: else it looks as if nobody sent any.
func (a *app) unattended() nats.ErrHandler {
	return func(_ *nats.Conn, _ *nats.Subscription, err error) {
		if errors.Is(err, nats.ErrPermissionViolation) {
			a.mayNot.Do(func() {
				a.log.Warn().Err(err).Msg("interventions do not get here; allow the tap's NATS user to subscribe to steno.intervene.> and to publish to _INBOX.>")
			})
		}
	}
}

// attendOnce serves on one connection, until that is lost or ctx ends. A connection to a NATS of its own
// comes again by itself; one to a directory's holder is given up with the holder, since the next one may be
// long in coming.
func (a *app) attendOnce(ctx context.Context, destination string, serve func(context.Context, *nats.Conn) error) error {
	if destination != "" {
		options := []nats.Option{nats.Timeout(attendWithin), nats.ErrorHandler(a.unattended())}
		if !strings.HasPrefix(destination, contextPrefix) { // a context may lead through a proxy, by a dialer of its own
			options = append(options, nats.SetCustomDialer(dialer(func(network, address string) (net.Conn, error) {
				return (&net.Dialer{Timeout: attendWithin}).DialContext(ctx, network, address)
			})))
		}
		conn, err := dialWith(destination, options...)
		if err != nil {
			return err
		}
		defer conn.Close()
		return serve(ctx, conn)
	}
	if _, err := a.dir().ReadAddress(); err != nil {
		return err
	}
	connecting, done := context.WithTimeout(ctx, attendWithin)
	defer done()
	client, err := a.dir().ConnectOr(connecting, "steno tap", func() error { return errNobody }) // an address may outlive its holder
	if err != nil {
		return err
	}
	defer client.Close()
	serving, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop()
	watching.Go(func() {
		select {
		case <-client.Lost():
			stop()
		case <-serving.Done():
		}
	})
	return serve(serving, client.Conn)
}
