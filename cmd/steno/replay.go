package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/console/refold"
	"github.com/steno-io/steno/console/replay"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

func (a *app) replayCommand() *cobra.Command {
	var f viewFlags
	o := replay.Options{}
	cmd := &cobra.Command{
		Use:   "replay [KEY]",
		Short: "Play a transcript again, with its original timing",
		Long: `replay folds the capture's frames again and prints the transcript as it was
typed, with the pauses that lay between the frames.

` + keyHelp,
		Example: `  steno replay --speed 4 --idle-limit 2s
  steno replay s-1 --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(o.Speed > 0) || math.IsInf(o.Speed, 0) {
				return a.badValue(fmt.Errorf("--speed %v: want a number above 0", o.Speed), "speed")
			}
			if o.IdleLimit < 0 {
				return a.badValue(fmt.Errorf("--idle-limit %s: want 0 or more", o.IdleLimit), "idle-limit")
			}
			return a.replay(cmd.Context(), args, f, o)
		},
	}
	f.register(cmd)
	a.ledgerFlag(cmd)
	a.archiveFlag(cmd)
	cmd.Flags().Float64Var(&o.Speed, "speed", 1, "how many times faster")
	cmd.Flags().DurationVar(&o.IdleLimit, "idle-limit", 0, "the longest pause, as waited (0: none)")
	return cmd
}

func (a *app) replay(ctx context.Context, args []string, f viewFlags, o replay.Options) error {
	return a.withTranscript(ctx, "replay", args, func(ctx context.Context, s *session, t sink.Summary) error {
		typed := s.typed(ctx, t.Transcript)
		if f.json {
			return replay.Replay(ctx, typed, o, func(e schema.Event) error {
				_, err := fmt.Fprintf(a.out, "%s\n", e.AppendJSON(nil))
				return err
			})
		}
		r := a.renderer(f)
		if err := r.Transcript(t); err != nil {
			return err
		}
		return errors.Join(replay.Replay(ctx, typed, o, func(e schema.Event) error {
			if e.Ephemeral {
				return r.Delta(e)
			}
			return r.Event(e)
		}), r.Close())
	})
}

// typed folds a capture's frames again and gives the events of one of its sessions, deltas too, the
// durable ones with their numbers.
func (s *session) typed(ctx context.Context, key schema.Transcript) iter.Seq2[schema.Event, error] {
	return func(yield func(schema.Event, error) bool) {
		source, err := s.frames(ctx)
		if err == nil {
			_, err = source.Fold(ctx, key.Identity, func(e *schema.Event) bool {
				return e.Session != key.Session || yield(*e, nil)
			})
		}
		if err != nil {
			yield(schema.Event{}, err)
		}
	}
}

// frames is where the session's frames are folded again.
func (s *session) frames(ctx context.Context) (*refold.Source, error) {
	stored, err := s.stored(ctx)
	if err != nil {
		return nil, err
	}
	return &refold.Source{Stored: stored, Versions: s.ledger, Catalogue: protocols()}, nil
}

// paceFrames waits before each frame as long as it took in the recording, divided by speed, at most
// limit.
func paceFrames(speed float64, limit time.Duration) func(ctx context.Context, f *schema.Frame) error {
	var before time.Time
	return func(ctx context.Context, f *schema.Frame) error {
		pause := f.At.Sub(before)
		if before.IsZero() {
			pause = 0
		}
		before = f.At
		if speed <= 0 || pause <= 0 {
			return nil
		}
		timer := time.NewTimer(min(time.Duration(float64(pause)/speed), limit))
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return nil
		}
	}
}
