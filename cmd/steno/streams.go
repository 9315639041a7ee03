package main

import (
	"context"
	"errors"
	"fmt"
	"time"

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
		Example: `  steno streams plan --nats nats://localhost:4222 --replicas 3
  steno streams apply --nats nats://localhost:4222 --replicas 3
  steno streams check --context prod`,
	}
	group(cmd)
	flags := cmd.PersistentFlags()
	flags.IntVar(&config.Replicas, "replicas", 1, "replicas of every stream: 1, 3 or 5")
	flags.Uint32Var(&config.Partitions, "partitions", 0, "partitions of new streams (default 32); fixed for their life")
	flags.Var(byteSize{&config.MaxBytes, 0}, "max-bytes",
		"bound of STENO_RAW and STENO_EVENTS, each, such as 100GB; a full stream refuses (0: none; not given: as it is)")
	flags.BoolVar(&asJSON, "json", false, "print JSON")

	changes := func(ctx context.Context, do func(context.Context, jetstream.JetStream, topology.Config) ([]topology.Change, error)) error {
		c, err := a.wanted(config)
		if err != nil {
			return err
		}
		return a.withStreams(ctx, func(ctx context.Context, js jetstream.JetStream) error {
			list, err := do(ctx, js, c)
			return errors.Join(a.sayChanges(list, err == nil, asJSON), err)
		})
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "plan", Short: "Print what apply would do", Args: cobra.NoArgs,
			Example: "  steno streams plan --nats nats://localhost:4222 --replicas 3",
			RunE:    func(cmd *cobra.Command, _ []string) error { return changes(cmd.Context(), topology.Plan) },
		},
		&cobra.Command{
			Use: "apply", Short: "Create what is missing and mend what has drifted", Args: cobra.NoArgs,
			Example: `  steno streams apply --nats nats://localhost:4222 --replicas 3
  steno streams apply --max-bytes 0   take a bound away`,
			RunE: func(cmd *cobra.Command, _ []string) error { return changes(cmd.Context(), topology.Apply) },
		},
		&cobra.Command{
			Use: "check", Short: "Check that the streams are as they must be", Args: cobra.NoArgs,
			Example: `  steno streams check --context prod
  steno streams check --json | jq .partitions`,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.checkStreams(cmd.Context(), asJSON) },
		},
	)
	return cmd
}

// wanted is the topology that the flags ask for.
func (a *app) wanted(c topology.Config) (topology.Config, error) {
	switch c.Replicas {
	case 1, 3, 5:
	default:
		return c, a.badValue(fmt.Errorf("--replicas %d: want 1, 3 or 5", c.Replicas), "replicas")
	}
	if _, given := a.from["max-bytes"]; given && c.MaxBytes == 0 {
		c.MaxBytes = topology.Unbounded
	}
	return c, nil
}

// sayChanges prints what was done, also before an error; all says that there was none.
func (a *app) sayChanges(list []topology.Change, all, asJSON bool) error {
	if asJSON {
		if !all && len(list) == 0 {
			return nil
		}
		if list == nil {
			list = []topology.Change{}
		}
		return a.out.json(list)
	}
	if all && len(list) == 0 {
		fmt.Fprintln(a.out, "nothing to do")
	}
	for _, c := range list {
		fmt.Fprintln(a.out, c)
	}
	return nil
}

func (a *app) checkStreams(ctx context.Context, asJSON bool) error {
	return a.withStreams(ctx, func(ctx context.Context, js jetstream.JetStream) error {
		info, err := topology.Check(ctx, js)
		if err != nil {
			return withRemedy(err)
		}
		if asJSON {
			return a.out.json(struct {
				Partitions uint32               `json:"partitions"`
				Replicas   int                  `json:"replicas"`
				Created    map[string]time.Time `json:"created"`
			}{info.Partitions, info.Replicas, info.Created})
		}
		_, err = fmt.Fprintf(a.out, "ok: %s, %s\n", plural(info.Partitions, "partition"), plural(info.Replicas, "replica"))
		return err
	})
}

// withStreams gives the JetStream of the NATS that the flags name, or of the data directory.
func (a *app) withStreams(ctx context.Context, do func(context.Context, jetstream.JetStream) error) error {
	if !a.remote() {
		return a.inSession(ctx, "streams", func(ctx context.Context, s *session) error { return do(ctx, s.js) })
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
	return do(ctx, js)
}
