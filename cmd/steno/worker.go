package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/lease"
	"github.com/steno-io/steno/translate/stage"
)

func (a *app) workerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Run one stage of the pipeline on a NATS of your own, as many copies as you like",
	}
	cmd.AddCommand(a.workerTranslateCommand(), a.workerSinkCommand())
	group(cmd)
	return cmd
}

func (a *app) workerTranslateCommand() *cobra.Command {
	var name, place string
	ttl := lease.DefaultTTL
	cmd := &cobra.Command{
		Use:   "translate --nats URL",
		Short: "Translate frames into records, sharing the partitions with the other workers",
		Long: `translate folds the frames on STENO_RAW into records on STENO_EVENTS. The partitions
are spread evenly over the workers that live; one that is stopped hands its own over
in order, one that is killed loses them after a moment. Two workers on one partition
waste work and do no harm. The streams must be there: steno streams apply.`,
		Example: `  steno worker translate --nats nats://127.0.0.1:4222`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.workerTranslate(cmd.Context(), name, place, ttl)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "the worker's name, unlike every other's (default: the host's and a random part)")
	cmd.Flags().StringVar(&place, "archive", "", "archive to fold frames from that were given back, where the one that has them is not there and a snapshot cannot be used")
	cmd.Flags().DurationVar(&ttl, "lease", ttl, "how long a killed worker's partitions wait for another one, whole seconds up to "+lease.MaxTTL.String())
	return cmd
}

func (a *app) workerTranslate(ctx context.Context, name, place string, ttl time.Duration) error {
	name, err := a.worker(name)
	if err != nil {
		return err
	}
	if ttl < lease.MinTTL || ttl > lease.MaxTTL || ttl%time.Second != 0 {
		return a.badValue(fmt.Errorf("--lease %s: want whole seconds, from %s to %s", ttl, lease.MinTTL, lease.MaxTTL), "lease")
	}
	s, err := connectStreams(ctx, a.destination())
	if err != nil {
		return err
	}
	defer s.conn.Close()
	if place != "" {
		if _, err := readArchive(ctx, place); err != nil {
			return err
		}
	}
	w, err := stage.New(stage.Options{
		JS: s.js, Catalogue: protocols(), Log: a.log, Leases: &stage.Leases{Worker: name, TTL: ttl}, Returned: returned(s.js, place),
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "steno worker translate: %s serves on %s\n", name, printable(a.destination()))
	return w.Run(ctx)
}

// worker checks what every worker needs, and names the one that has no name.
func (a *app) worker(name string) (string, error) {
	if !a.remote() {
		return "", a.badValue(errors.New("worker: which NATS? give --nats or --context (on a data directory, steno up does all)"), "nats", "context")
	}
	if name == "" {
		name = workerName()
	}
	if !schema.IsToken(name) {
		return "", a.badValue(fmt.Errorf("--name %q: want 1 to %d characters of [A-Za-z0-9_-]", name, schema.MaxToken), "name")
	}
	return name, nil
}

// workerName is the host's with something random: a worker that comes back is another one.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "worker"
	}
	random := uuid.NewString()[:8]
	host = schema.Token(host)
	return host[:min(len(host), schema.MaxToken-len(random)-1)] + "-" + random
}
