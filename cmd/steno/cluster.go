package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/postgres"
)

// Times of a cluster's settling.
const (
	settleEvery = 50 * time.Millisecond
	openWithin  = 2 * time.Second // for an owner's answer
)

// cluster is a NATS of the user's own with the ledger that its sinks keep in PostgreSQL. Of this
// machine it uses nothing, and it changes nothing there: workers and sinks do.
type cluster struct {
	streams  *streams
	nats     string // to be printed
	database string // likewise
	ledger   ledger
	patience time.Duration // with a pipeline that does not get on
	moved    time.Time     // when what was waited for got on last
}

// ledgerFlag lets a command read a cluster.
func (a *app) ledgerFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.database, "ledger", "", "PostgreSQL ledger of a cluster to read, with --nats: a postgres:// URL, or key=value pairs")
}

// clustered reports whether the command reads a cluster: one that can, and was given a ledger.
func (a *app) clustered() bool { return a.database != "" && a.remote() }

func (a *app) openCluster(ctx context.Context) (*session, error) {
	l, err := a.openDatabase(ctx, postgres.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	streams, err := connectStreams(ctx, a.destination())
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s := &session{
		site: &cluster{
			streams: streams, nats: printable(a.destination()), database: l.Name(), ledger: l, patience: cmp.Or(a.patience, patience), moved: time.Now(),
		},
		conn: streams.conn, js: streams.js, info: streams.info, ledger: l, batchFrom: streams.batchFrom,
	}
	s.archives = a.archivesOf(s)
	s.ledger = s.archives.through(l)
	return s, nil
}

// openDatabase opens the ledger that --ledger names.
func (a *app) openDatabase(ctx context.Context, o postgres.Options) (*postgres.Ledger, error) {
	l, err := postgres.Open(ctx, a.database, o)
	if errors.Is(err, postgres.ErrURL) {
		err = a.badValue(fmt.Errorf("--ledger: %w", err), "ledger")
	}
	return l, err
}

// patient implements site: a cluster that has just lost a leader, and a database that starts again,
// answer after a while.
func (c *cluster) patient(ctx context.Context, ask func() error) error {
	for began := time.Now(); ; {
		err := ask()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !isTransient(err) && !errors.Is(err, postgres.ErrUnreachable), time.Since(began) > c.patience:
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(raceEvery):
		}
	}
}

// settle implements site. Frames of messages that stay open have no record: of those the partition's
// owner says that it has folded them, and how many events it gave.
func (c *cluster) settle(ctx context.Context, id schema.Identity, frame uint64) error {
	for seen := ""; ; {
		var left string
		err := c.patient(ctx, func() (err error) {
			left, err = c.left(ctx, id, frame)
			return err
		})
		switch {
		case err != nil:
			return fmt.Errorf("settle %s: %w", id, err)
		case left == "":
			c.moved = time.Now()
			return nil
		case seen == "": // captures that stand one after the other wait together
			seen = left
		case left != seen:
			seen, c.moved = left, time.Now()
		case time.Since(c.moved) > c.patience:
			return fmt.Errorf("settle %s up to frame %d: %w: %s", id, frame, holder.ErrStalled, left)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(settleEvery):
		}
	}
}

// left says what is still to come until the capture's frames are numbered; empty when they are.
func (c *cluster) left(ctx context.Context, id schema.Identity, frame uint64) (string, error) {
	last, recorded, err := topology.Last(ctx, c.streams.js, topology.Events, schema.EventSubject(id, c.streams.info.Partitions))
	if err != nil {
		return "", err
	}
	var record schema.Record
	if recorded {
		if record, err = schema.RecordFromHeader(last.Header); err != nil {
			return "", fmt.Errorf("read the last record: %w", err)
		}
	}
	ordinals := map[uint32]uint64{}
	if record.Last.Frame < frame {
		left := ""
		if ordinals, left, err = c.folded(ctx, id, frame); err != nil || left != "" {
			return left, err
		}
	}
	left, err := c.unnumbered(ctx, id, record.Last, ordinals)
	if err == nil && left != "" && !recorded {
		left = "its translator has folded it, and no record of it is stored: do the streams take records?"
	}
	if err != nil || left == "" || !recorded {
		return left, err
	}
	// What the partition's sink is past, and the ledger has not, is missing: nobody brings it.
	if passed, err := c.passed(ctx, id, last.Seq); err != nil || !passed {
		return left, err
	}
	return c.unnumbered(ctx, id, schema.Origin{}, ordinals)
}

// folded asks the owner how many events of each session the frames gave, or says what is left.
func (c *cluster) folded(ctx context.Context, id schema.Identity, frame uint64) (ordinals map[uint32]uint64, left string, err error) {
	asking, done := context.WithTimeout(ctx, openWithin)
	defer done()
	reply, err := askOpen(asking, c.streams.conn, c.streams.info.Partitions, id)
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case isAny(err, nats.ErrNoResponders, nats.ErrTimeout, context.DeadlineExceeded):
		left = fmt.Sprintf("no translator answers for partition %d", id.Partition(c.streams.info.Partitions))
		return nil, left, parkedError(ctx, c.streams.js, id)
	case err != nil:
		return nil, "", err
	case reply.Parked != "":
		return nil, "", fmt.Errorf("%w: %s at frame %d", holder.ErrParked, reply.Parked, reply.Frame)
	case reply.Frame < frame:
		return nil, fmt.Sprintf("its translator is at frame %d", reply.Frame), nil
	}
	return reply.Ordinals, "", nil
}

// unnumbered says how far the ledger is, if not up to the record and the ordinals.
func (c *cluster) unnumbered(ctx context.Context, id schema.Identity, last schema.Origin, ordinals map[uint32]uint64) (string, error) {
	stored, err := c.ledger.Capture(ctx, id)
	if err != nil && !errors.Is(err, sink.ErrNotFound) {
		return "", err
	}
	if p := stored.Parked; p != nil {
		return "", fmt.Errorf("%w: %s at ordinal %d of session %d", holder.ErrParked, p.Reason, p.Ordinal, p.Session)
	}
	heads := map[uint32]uint64{}
	for _, s := range stored.Sessions {
		heads[s.Session] = s.Head
	}
	behind := stored.Last.Compare(last) < 0
	for session, ordinal := range ordinals {
		behind = behind || heads[session] < ordinal
	}
	if behind {
		return fmt.Sprintf("the ledger is at frame %d; is a steno worker sink running?", stored.Last.Frame), nil
	}
	return "", nil
}

// passed reports whether the ledger's position is at a record of the capture's partition, or behind it.
func (c *cluster) passed(ctx context.Context, id schema.Identity, seq uint64) (bool, error) {
	stats, err := c.ledger.Stats(ctx)
	if err != nil {
		return false, err
	}
	at := stats.Positions[id.Partition(c.streams.info.Partitions)]
	return at.Seq >= seq && at.Created.Equal(c.streams.info.Created[topology.Events]), nil
}

// close implements site.
func (c *cluster) close() error {
	c.streams.conn.Close()
	return nil
}
