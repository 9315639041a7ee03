package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/ingest/filing"
	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
)

// publishGrace is how long a tap with a NATS URL of its own goes on publishing after a journal's end.
// What is left then, the holder of the data directory publishes.
const publishGrace = 5 * time.Second

// publishOwn publishes a journal of this process as it grows, if it goes to a NATS, and returns when
// all is stored, or the grace is over. What cannot be published stays in the journal, and whoever holds
// the directory next publishes it; so failures are said and harm nothing.
func (a *app) publishOwn(ctx context.Context, w *journal.Writer, command string) {
	if w.Head().Destination == "" {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() { defer close(over); endLater(ctx, w, cancel) }()
	defer func() { cancel(); <-over }()
	for {
		err := a.publishOnce(ctx, w, command)
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			fmt.Fprintf(a.err, "steno %s: the rest of %s waits in its journal: %v\n", command, w.Head().Identity, err)
			return
		}
		a.log.Warn().Err(err).Msg("publish journal; trying again")
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// endLater calls end when the grace after the journal's end is over, unless ctx ends before.
func endLater(ctx context.Context, w *journal.Writer, end func()) {
	select {
	case <-ctx.Done():
		return
	case <-w.Ended():
	}
	select {
	case <-ctx.Done():
	case <-time.After(publishGrace):
		end()
	}
}

func (a *app) publishOnce(ctx context.Context, w *journal.Writer, command string) (err error) {
	release, err := holder.Claim(a.dir(), w.Head())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	s, err := connectStreams(ctx, w.Head().Destination)
	if err != nil {
		return err
	}
	defer s.conn.Close()
	reader, err := journal.Open(w.Path())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	say := func(format string, args ...any) {
		fmt.Fprintf(a.err, "steno "+command+": "+format+"\n", args...)
	}
	reader.Report(func(n journal.Notice) { say("%s", n) })
	return holder.NewPublisher(filing.Options{
		Filed:  s.filed,
		Failed: func(id schema.Identity, err error) { say("%s takes no more frames: %v", id, err) },
		Options: publish.Options{
			Source: reader, JS: s.js, Blobs: s.blobs, Partitions: s.info.Partitions, BatchFrom: s.batchFrom,
			SaveMark: func(m journal.Mark) error { return journal.WriteMark(a.dir().Journals(), w.Head().ID, m) },
			Identified: func(final, asked schema.Identity) {
				if final != asked {
					say("%s is taken; recording as %s", asked, final)
				}
			},
		},
	}).Run(ctx)
}
