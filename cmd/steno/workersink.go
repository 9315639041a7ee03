package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive/keeper"
	"github.com/steno-io/steno/sink/postgres"
)

func (a *app) workerSinkCommand() *cobra.Command {
	var name string
	var k keepFlags
	cmd := &cobra.Command{
		Use:   "sink --nats URL --ledger URL",
		Short: "Number records into a PostgreSQL ledger, sharing the partitions with the other sinks",
		Long: `sink numbers the events of the records on STENO_EVENTS and keeps them in a ledger in
PostgreSQL. The partitions are spread evenly over the sinks that live, by rows in
that database; what makes storing safe is the epoch that a sink raises when it
takes one. It makes the tables it needs, in the schema steno.

With --archive each sink seals the captures of its partitions by itself (steno up
--help says when, what --give-back gives back, and what --drop-sealed drops); all sinks name one archive, and one
--signing-key. Of another ledger on the same streams it does not know: --give-back is the
time that it has. --give-back needs translators and taps of this version, --drop-sealed sinks
and readers of the ledger.`,
		Example: `  steno worker sink --nats nats://127.0.0.1:4222 --ledger postgres://steno@127.0.0.1/steno
  steno worker sink --archive /srv/archive --signing-key mill.key --give-back 30d`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.workerSink(cmd.Context(), name, &k) },
	}
	cmd.Flags().StringVar(&name, "name", "", "the worker's name, unlike every other's (default: the host's and a random part)")
	k.register(cmd)
	cmd.Flags().StringVar(&a.database, "ledger", "", "the database, as libpq reads it: a postgres:// URL, or key=value pairs")
	return cmd
}

func (a *app) workerSink(ctx context.Context, name string, k *keepFlags) (err error) {
	name, err = a.worker(name)
	if err != nil {
		return err
	}
	if strings.TrimSpace(a.database) == "" {
		return a.badValue(errors.New("--ledger: which database? such as postgres://steno@127.0.0.1/steno"), "ledger")
	}
	if k.to.place != "" && k.key == "" {
		return a.badValue(errors.New("--archive: signed with which key? all sinks need the same --signing-key (steno keygen makes one)"), "archive")
	}
	kept, err := a.keeping(ctx, k)
	if err != nil {
		return err
	}
	s, err := connectStreams(ctx, a.destination())
	if err != nil {
		return err
	}
	defer s.conn.Close()
	place := ""
	if kept != nil {
		place = kept.place
	}
	ledger, err := a.openDatabase(ctx, postgres.Options{Sealed: a.sealedIn(place)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	fmt.Fprintf(a.err, "steno worker sink: %s serves on %s\n", name, printable(a.destination()))
	owned := keeper.NewOwned(postgres.NewOwnership(ledger, postgres.OwnershipOptions{ID: name, Log: a.log}))
	err = a.sinkAndKeep(ctx, sink.New(sink.Options{JS: s.js, Ledger: ledger, Index: ledger, Log: a.log, Ownership: owned}), kept, ledger, owned.Owns)
	if ctx.Err() != nil {
		return nil // it was stopped
	}
	return err
}

// sinkAndKeep runs a sink and, beside it, what seals the captures of its partitions.
func (a *app) sinkAndKeep(ctx context.Context, s *sink.Sink, kept *keeping, ledger keptLedger, owns func(uint32) bool) error {
	if kept == nil {
		return s.Run(ctx)
	}
	conn, js, err := connectKeeper(a.destination())
	if err != nil {
		return err
	}
	defer conn.Close()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.Run(ctx) })
	g.Go(func() error { return kept.run(ctx, js, ledger, owns, s.Claimed) })
	return g.Wait()
}
