package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/rs/zerolog"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/ingest/filing"
	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
)

// publishGrace is how long a tap with a NATS URL of its own goes on publishing when it is to end. What
// is left then, the holder of the data directory publishes, or the next tap that goes to the same NATS.
const publishGrace = 5 * time.Second

// publishOwn publishes a journal of this directory that goes to a NATS as it grows, and returns when
// all is stored, or ctx ends. What cannot be published stays in the journal; so failures are said and
// harm nothing.
func (a *app) publishOwn(ctx context.Context, path string, head journal.Head, command string) {
	if head.Destination == "" {
		return
	}
	for tries := 1; ; tries++ {
		err := a.publishOnce(ctx, path, head, command)
		if err == nil {
			return
		}
		if journal.Gone(path, err) {
			a.saidGone(head, command, err)
			return
		}
		if ctx.Err() != nil || publish.Hopeless(err) {
			fmt.Fprintf(a.err, "steno %s: the rest of %s waits in its journal; steno up on %s publishes it, or the next steno %s to the same NATS: %v\n",
				command, head.Identity, a.dir(), command, err)
			return
		}
		level := zerolog.WarnLevel
		if tries&(tries-1) != 0 { // an outage is said ever more seldom: an editor shows each line
			level = zerolog.DebugLevel
		}
		a.log.WithLevel(level).Err(err).Msg("publish journal; trying again")
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// saidGone says that a journal is gone, unless all of it was stored before: another process has done that.
func (a *app) saidGone(head journal.Head, command string, err error) {
	if mark, unread := journal.ReadMark(a.dir().Journals(), head.ID); unread != nil || !mark.Done {
		fmt.Fprintf(a.err, "steno %s: the journal of %s was deleted before all of it was stored: %v\n", command, head.Identity, err)
	}
}

func (a *app) publishOnce(ctx context.Context, path string, head journal.Head, command string) (err error) {
	release, err := holder.Claim(a.dir(), head)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	s, err := connectStreams(ctx, head.Destination)
	if err != nil {
		return err
	}
	defer s.conn.Close()
	reader, err := journal.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	mark, err := journal.ReadMark(a.dir().Journals(), head.ID)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	say := func(format string, args ...any) {
		fmt.Fprintf(a.err, "steno "+command+": "+format+"\n", args...)
	}
	reader.Report(func(n journal.Notice) { say("%s", n) })
	return holder.NewPublisher(filing.Options{
		Filed:  s.filed,
		Failed: func(id schema.Identity, err error) { say("%s takes no more frames: %v", id, err) },
		Options: publish.Options{
			Source: reader, JS: s.js, Blobs: s.blobs, Partitions: s.info.Partitions, BatchFrom: s.batchFrom, Mark: mark,
			SaveMark: func(m journal.Mark) error { return journal.WriteMark(a.dir().Journals(), head.ID, m) },
			Identified: func(final, asked schema.Identity) {
				if final != asked {
					say("%s is taken; recording as %s", asked, final)
				}
			},
		},
	}).Run(ctx)
}

// publishLeft publishes what dead taps of the same kind left in this directory for the same NATS, the
// oldest first, and returns when all is stored, or ctx ends.
func (a *app) publishLeft(ctx context.Context, own journal.Head, command string) {
	if own.Destination == "" {
		return
	}
	infos, err := journal.List(a.dir().Journals())
	if err != nil {
		a.log.Warn().Err(err).Msg("look for journals that were left")
		return
	}
	for _, info := range infos {
		if ctx.Err() != nil {
			return
		}
		if info.Err != nil || info.Alive || !inPlaceOf(own, info.Head) {
			continue
		}
		if mark, err := journal.ReadMark(a.dir().Journals(), info.ID); err == nil && mark.Done {
			continue
		}
		a.publishOwn(ctx, info.Path, info.Head, command)
	}
}

// inPlaceOf reports whether a tap publishes what another one left: to the same NATS, and by a proxy what
// the same peer's proxies left, whose conversations it goes on with.
func inPlaceOf(own, left journal.Head) bool {
	return left.Destination == own.Destination && left.Open.Protocol == own.Open.Protocol &&
		(own.Open.Protocol != schema.A2A || left.Open.Peer == own.Open.Peer)
}
