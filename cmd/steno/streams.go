package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/steno-io/steno/schema/topology"
)

func (a *app) streamsCommand() *cobra.Command {
	var config topology.Config
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "streams",
		Short: "Plan, apply or check the streams on NATS",
		Long: `streams manages the streams and buckets that steno uses. Nothing else creates
them on a NATS of your own; every process checks them at its start and refuses
to run on drifted ones.`,
	}
	flags := cmd.PersistentFlags()
	flags.IntVar(&config.Replicas, "replicas", 1, "replicas of every stream: 1, 3 or 5")
	flags.Uint32Var(&config.Partitions, "partitions", 0, "partitions of new streams (default 32); fixed for their life")
	flags.Int64Var(&config.MaxBytes, "max-bytes", 0, "bound of STENO_RAW and STENO_EVENTS, each; a full stream refuses (0: none)")
	flags.BoolVar(&asJSON, "json", false, "print JSON")

	changes := func(ctx context.Context, do func(context.Context, jetstream.JetStream, topology.Config) ([]topology.Change, error), none string) error {
		return a.withStreams(ctx, func(js jetstream.JetStream) error {
			list, err := do(ctx, js, config)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(a.out).Encode(list)
			}
			if len(list) == 0 {
				fmt.Fprintln(a.out, none)
			}
			for _, c := range list {
				fmt.Fprintln(a.out, c)
			}
			return nil
		})
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "plan", Short: "Print what apply would do", Args: cobra.NoArgs,
			Example: "  steno streams plan --nats nats://localhost:4222 --replicas 3",
			RunE: func(cmd *cobra.Command, _ []string) error {
				return changes(cmd.Context(), topology.Plan, "nothing to do")
			},
		},
		&cobra.Command{
			Use: "apply", Short: "Create what is missing and mend what has drifted", Args: cobra.NoArgs,
			Example: "  steno streams apply --nats nats://localhost:4222 --replicas 3",
			RunE: func(cmd *cobra.Command, _ []string) error {
				return changes(cmd.Context(), topology.Apply, "nothing to do")
			},
		},
		&cobra.Command{
			Use: "check", Short: "Check that the streams are as they must be", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.checkStreams(cmd.Context(), asJSON) },
		},
	)
	return cmd
}

func (a *app) checkStreams(ctx context.Context, asJSON bool) error {
	return a.withStreams(ctx, func(js jetstream.JetStream) error {
		info, err := topology.Check(ctx, js)
		if err != nil {
			return err
		}
		if asJSON {
			return json.NewEncoder(a.out).Encode(info)
		}
		_, err = fmt.Fprintf(a.out, "ok: %s partitions, %d replicas\n", strconv.FormatUint(uint64(info.Partitions), 10), info.Replicas)
		return err
	})
}

// withStreams gives the JetStream of the NATS that the flags name, or of the data directory.
func (a *app) withStreams(ctx context.Context, do func(jetstream.JetStream) error) (err error) {
	if !a.remote() {
		s, ctx, err := a.open(ctx, "streams")
		if err != nil {
			return err
		}
		return errors.Join(why(ctx, do(s.js)), s.close())
	}
	conn, err := dial(a.destination())
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return fmt.Errorf("open JetStream: %w", err)
	}
	return do(js)
}
