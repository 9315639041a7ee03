package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/translate/stage"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works, what was recorded last, and what has not come through",
		Long: `doctor opens the data directory as every command does, waits until what the
journals hold is numbered, and says what it finds: who holds the directory, the
last journal with its age, frames and events, what has not come through, and
which captures are parked. It ends with 1 if something is wrong.`,
		Example: `  steno doctor
  steno doctor --json | jq .problems`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// health is what doctor finds.
type health struct {
	Data     string          `json:"data"`
	Holder   *holder.Address `json:"holder,omitempty"`
	Streams  string          `json:"streams"`
	Ledger   sink.Stats      `json:"ledger"`
	Journals int             `json:"journals"`
	Last     *lastJournal    `json:"last_journal,omitempty"`
	Problems []string        `json:"problems"`
}

// lastJournal is the journal written last.
type lastJournal struct {
	ID      string    `json:"id"`
	Capture string    `json:"capture"`
	Alive   bool      `json:"alive"`
	At      time.Time `json:"at"`
	AgeS    float64   `json:"age_s"`
	Bytes   int64     `json:"bytes"`
	Frames  uint64    `json:"frames"` // stored
	Events  uint64    `json:"events"` // numbered
}

func (a *app) doctor(ctx context.Context, asJSON bool) error {
	s, ctx, err := a.open(ctx, "doctor")
	if err != nil {
		return err
	}
	h, err := a.examine(ctx, s)
	if err = errors.Join(why(ctx, err), s.close()); err != nil {
		return err
	}
	if asJSON {
		err = json.NewEncoder(a.out).Encode(h)
	} else {
		h.print(a)
	}
	if err == nil && len(h.Problems) > 0 {
		err = &exitError{code: exitRuntime}
	}
	return err
}

func (a *app) examine(ctx context.Context, s *session) (health, error) {
	h := health{Data: string(s.dir), Streams: fmt.Sprintf("ok, %d partitions", s.info.Partitions), Problems: []string{}}
	if address, err := s.dir.ReadAddress(); err == nil && s.held == nil {
		h.Holder = &address
	}
	var err error
	if h.Ledger, err = s.ledger.Stats(ctx); err != nil {
		return h, err
	}
	if err := h.journals(ctx, s); err != nil {
		return h, err
	}
	parked, err := stage.ListParked(ctx, s.js)
	if err != nil {
		return h, err
	}
	for _, p := range parked {
		h.problem("%s is parked at frame %d: %s (%s)", p.Identity, p.Frame, p.Reason, p.Error)
	}
	if n := h.Ledger.Parked; n > 0 {
		h.problem("the ledger has parked %d captures; steno verify says where they differ", n)
	}
	return h, nil
}

// journals finds the journal written last, and what of any has not come through.
func (h *health) journals(ctx context.Context, s *session) error {
	infos, err := journal.List(s.dir.Journals())
	if err != nil {
		return fmt.Errorf("list journals: %w", err)
	}
	h.Journals = len(infos)
	for _, info := range infos {
		if info.Err != nil {
			h.problem("journal %s cannot be read: %v", info.Path, info.Err)
			continue
		}
		mark, err := journal.ReadMark(s.dir.Journals(), info.ID)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			h.problem("the mark of journal %s cannot be read: %v", info.ID, err)
		}
		if !mark.Done && !info.Alive {
			where := "this directory"
			if info.Head.Destination != "" {
				where = "its NATS"
			}
			h.problem("journal %s (%s) has not come through to %s: %d frames of it are stored", info.ID, info.Head.Identity, where, mark.Frames)
		}
		if h.Last == nil || info.WrittenAt.After(h.Last.At) {
			if h.Last, err = lastOf(ctx, s, info, mark); err != nil {
				return err
			}
		}
	}
	return nil
}

func lastOf(ctx context.Context, s *session, info journal.Info, mark journal.Mark) (*lastJournal, error) {
	last := &lastJournal{
		ID: info.ID, Alive: info.Alive, At: info.WrittenAt.UTC(), AgeS: time.Since(info.WrittenAt).Seconds(),
		Bytes: info.Size, Frames: mark.Frames, Capture: info.Head.Identity.String(),
	}
	id := info.Head.Identity
	if mark.Identity != (schema.Identity{}) {
		id = mark.Identity
		last.Capture = id.String()
	}
	capture, err := s.ledger.Capture(ctx, id)
	if err != nil && !errors.Is(err, sink.ErrNotFound) {
		return nil, err
	}
	for _, session := range capture.Sessions {
		last.Events += session.Head
	}
	return last, nil
}

func (h *health) problem(format string, args ...any) {
	h.Problems = append(h.Problems, fmt.Sprintf(format, args...))
}

func (h *health) print(a *app) {
	holder := "nobody; this command, while it ran"
	if h.Holder != nil {
		holder = fmt.Sprintf("%s, process %d, since %s", h.Holder.Kind, h.Holder.PID, h.Holder.Since.Local().Format(time.DateTime))
	}
	fmt.Fprintf(a.out, "data      %s\nheld by   %s\nstreams   %s\n", h.Data, holder, h.Streams)
	fmt.Fprintf(a.out, "ledger    %d transcripts of %d captures, %d events\n", h.Ledger.Transcripts, h.Ledger.Captures, h.Ledger.Events)
	if h.Last == nil {
		fmt.Fprintln(a.out, "journals  none: nothing was recorded here in the last day")
	} else {
		state := "its tap has ended"
		if h.Last.Alive {
			state = "its tap is running"
		}
		fmt.Fprintf(a.out, "journals  %d; the last one was written %s ago (%s): %d frames stored, %d events numbered\n          %s\n",
			h.Journals, time.Duration(h.Last.AgeS*float64(time.Second)).Round(time.Second), state, h.Last.Frames, h.Last.Events, h.Last.Capture)
	}
	if len(h.Problems) == 0 {
		fmt.Fprintln(a.out, "problems  none: all that was journalled has come through")
	}
	for _, p := range h.Problems {
		fmt.Fprintln(a.out, "problem  ", p)
	}
}
