package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/postgres"
	"github.com/steno-io/steno/sink/rebuild"
)

func (a *app) rebuildCommand() *cobra.Command {
	var place string
	var key keyFlag
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rebuild --archive DIR",
		Short: "Make a lost ledger again from an archive and the streams",
		Long: `rebuild fills an empty ledger: with what an archive holds, which is proved as it is
read, as steno verify does, and behind it with the records that the streams still
have. What is stored goes through the check that every record goes through: numbers
1, 2, 3 … for each transcript, and the same bytes where both have an event.

Without --nats it is the ledger of the data directory, which nobody may hold
meanwhile; take away ledger.db, with -wal and -shm, if a damaged one is there. With
--nats it is the PostgreSQL database that --ledger names; stop the sinks first. A
ledger that holds anything is refused.

Where the streams are lost as well, the ledger shows what the archive has, and its
proof is the archive's: steno verify DIR. Without DIR verify looks for the frames in
the streams, and says that they are gone.

Of captures whose first records are gone from the streams, and whose seals or frames
are not good, what was proved is stored, and no more. It ends with 0 when all is
there again, with 10 when something of the archive was changed, or a capture has a
gap between archive and streams, with 12 when a signature is not good, and with 1
when this build does not have the translator version that a sealed capture names.`,
		Example: `  mv ~/.local/share/steno/ledger.db* /tmp && steno rebuild --archive /srv/archive
  steno rebuild --archive /srv/archive --nats nats://127.0.0.1:4222 --ledger postgres://steno@127.0.0.1/steno2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if place == "" {
				return usage("steno rebuild: from which archive? give --archive DIR")
			}
			return a.rebuild(cmd.Context(), place, key, asJSON)
		},
	}
	cmd.Flags().StringVar(&place, "archive", "", "the archive, as steno seal writes it")
	key.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was done as JSON")
	cmd.Flags().StringVar(&a.database, "ledger", "", "the empty PostgreSQL ledger of a cluster, with --nats: a postgres:// URL, or key=value pairs")
	return cmd
}

func (a *app) rebuild(ctx context.Context, place string, key keyFlag, asJSON bool) error {
	trusted, err := a.trustedKey(key)
	if err != nil {
		return err
	}
	store, single, err := openArchive(ctx, place)
	if err != nil {
		return err
	}
	progress := a.progress()
	o := rebuild.Options{
		Archive: store, Log: a.log,
		Check: archive.CheckOptions{Trusted: trusted, Single: single, NewFold: newFold, Progress: progress.verifying},
	}
	var result rebuild.Result
	if a.clustered() {
		result, err = a.rebuildCluster(ctx, o)
	} else {
		result, err = a.rebuildDirectory(ctx, o)
	}
	progress.done()
	if err != nil {
		return a.rebuildFailed(err)
	}
	return a.sayRebuilt(&result, asJSON)
}

func (a *app) rebuildDirectory(ctx context.Context, o rebuild.Options) (result rebuild.Result, err error) {
	options, err := a.holderOptions(holder.Command)
	if err != nil {
		return result, err
	}
	err = holder.Alone(ctx, options, func(ctx context.Context, h holder.Held) (err error) {
		o.Ledger, o.JS, o.Info = h.Ledger, h.JS, h.Info
		result, err = rebuild.Run(ctx, o)
		return err
	})
	return result, err
}

func (a *app) rebuildCluster(ctx context.Context, o rebuild.Options) (result rebuild.Result, err error) {
	s, err := connectStreams(ctx, a.destination())
	if err != nil {
		return result, err
	}
	defer s.conn.Close()
	l, err := a.openDatabase(ctx, postgres.Options{})
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	o.Ledger, o.JS, o.Info = l, s.js, s.info
	return rebuild.Run(ctx, o)
}

// rebuildFailed says what to do.
func (a *app) rebuildFailed(err error) error {
	switch {
	case errors.Is(err, rebuild.ErrNotEmpty) && a.clustered():
		return &exitError{exitConfig, fmt.Errorf("%w: rebuild fills an empty one: name another database (createdb makes one)", err)}
	case errors.Is(err, rebuild.ErrNotEmpty):
		return &exitError{exitConfig, fmt.Errorf("%w: rebuild fills an empty one: take %s away, with -wal and -shm", err, a.dir().Ledger())}
	case errors.Is(err, sink.ErrFenced):
		return fmt.Errorf("%w: stop the sinks that keep this ledger; what was stored is a part, so begin with an empty one", err)
	case errors.Is(err, holder.ErrHeld):
		return fmt.Errorf("%w: stop it first", err)
	}
	return err
}

// rebuilt is what rebuild says it did.
type rebuilt struct {
	archive.Checked
	Sealed      uint64   `json:"sealed_events"` // stored from the archive
	Captures    uint64   `json:"ledger_captures"`
	Transcripts uint64   `json:"ledger_transcripts"`
	Events      uint64   `json:"ledger_events"`
	Incomplete  []string `json:"incomplete"` // captures that are not whole, and why
}

// incomplete says why not all of a capture is stored.
func incomplete(p *sink.Parked) string {
	if p.Reason == sink.ReasonGap {
		return fmt.Sprintf("%s: session %d: event %s is in neither the archive nor the streams, which go on with %s", p.Capture, p.Session, p.Have, p.Got)
	}
	return fmt.Sprintf("%s: session %d: %s at event %d, in record %d of the streams", p.Capture, p.Session, p.Reason, p.Ordinal, p.Seq)
}

func (a *app) sayRebuilt(r *rebuild.Result, asJSON bool) error {
	said := rebuilt{
		Checked: r.Checked, Sealed: r.Sealed, Captures: r.Stats.Captures, Transcripts: r.Stats.Transcripts, Events: r.Stats.Events,
		Incomplete: []string{},
	}
	for _, p := range r.Parked {
		said.Incomplete = append(said.Incomplete, incomplete(&p))
	}
	for _, h := range r.Holes {
		said.Incomplete = append(said.Incomplete, fmt.Sprintf("%s: %d frames have no event in the archive or the streams", h.Capture, h.Frames))
	}
	code := r.Checked.ExitCode()
	if code == exitGap { // so it was
		code = exitOK
	}
	if len(said.Incomplete) > 0 && code != exitSignature {
		code = exitChanged
	}
	if asJSON {
		if err := a.out.json(said); err != nil {
			return err
		}
	} else {
		a.sayFindings(&r.Checked.Report)
		for _, line := range said.Incomplete {
			a.out.line("not whole: %s", line)
		}
		a.saySigned(&r.Checked)
		verdict := "rebuilt"
		if code != exitOK {
			verdict = "not wholly rebuilt"
		}
		fmt.Fprintf(a.out, "%s: %s, %s, %d events, %d of them from %s\n", verdict, plural(int(said.Captures), "capture"),
			plural(int(said.Transcripts), "transcript"), said.Events, said.Sealed, plural(r.Checked.Seals, "seal"))
	}
	if code != exitOK {
		return &exitError{code: code}
	}
	return nil
}
