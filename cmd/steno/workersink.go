package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/postgres"
)

func (a *app) workerSinkCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "sink --nats URL --ledger URL",
		Short: "Number records into a PostgreSQL ledger, sharing the partitions with the other sinks",
		Long: `sink numbers the events of the records on STENO_EVENTS and keeps them in a ledger in
PostgreSQL. The partitions are spread evenly over the sinks that live, by rows in
that database; what makes storing safe is the epoch that a sink raises when it
takes one. It makes the tables it needs, in the schema steno.`,
		Example: `  steno worker sink --nats nats://127.0.0.1:4222 --ledger postgres://steno@127.0.0.1/steno`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.workerSink(cmd.Context(), name) },
	}
	cmd.Flags().StringVar(&name, "name", "", "the worker's name, unlike every other's (default: the host's and a random part)")
	cmd.Flags().StringVar(&a.database, "ledger", "", "the database, as libpq reads it: a postgres:// URL, or key=value pairs")
	return cmd
}

func (a *app) workerSink(ctx context.Context, name string) (err error) {
	name, err = a.worker(name)
	if err != nil {
		return err
	}
	if strings.TrimSpace(a.database) == "" {
		return a.badValue(errors.New("--ledger: which database? such as postgres://steno@127.0.0.1/steno"), "ledger")
	}
	s, err := connectStreams(ctx, a.destination())
	if err != nil {
		return err
	}
	defer s.conn.Close()
	ledger, err := a.openDatabase(ctx, postgres.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	fmt.Fprintf(a.err, "steno worker sink: %s serves on %s\n", name, printable(a.destination()))
	err = sink.New(sink.Options{
		JS: s.js, Ledger: ledger, Index: ledger, Log: a.log,
		Ownership: postgres.NewOwnership(ledger, postgres.OwnershipOptions{ID: name, Log: a.log}),
	}).Run(ctx)
	if ctx.Err() != nil {
		return nil // it was stopped
	}
	return err
}
