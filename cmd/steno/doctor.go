package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works, what was recorded last, and what has not come through",
		Long: `doctor opens the data directory as every command does, waits until what the
journals hold is numbered, and says what it finds: who holds the directory, the
last journal with its age, frames and events, what has not come through, which
captures are parked, and which the ledger has and the streams have lost, wholly or
from some frame on. It ends with 1 if something is wrong.

Where a living tap publishes to a NATS of its own, doctor gives it a few seconds
to come up with what its journal holds.

Of a cluster (--nats and --ledger) it says which partitions no translator has, of
which the ledger is behind, and which captures are parked. Journals are not looked
at: they are where the taps are.`,
		Example: `  steno doctor
  steno doctor --json | jq .problems`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), asJSON) },
	}
	a.ledgerFlag(cmd)
	cmd.Flags().StringVar(&a.archive, "archive", "", "also say how much is not sealed in this archive yet")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// health is what doctor finds.
type health struct {
	Data     string          `json:"data,omitempty"` // of a data directory
	NATS     string          `json:"nats,omitempty"` // of a cluster
	Database string          `json:"database,omitempty"`
	Holder   *holder.Address `json:"holder,omitempty"`
	Streams  string          `json:"streams"`
	Ledger   sink.Stats      `json:"ledger"`
	Archive  *archiveHealth  `json:"archive,omitempty"`
	Journals int             `json:"journals"`
	Last     *lastJournal    `json:"last_journal,omitempty"`
	Problems []string        `json:"problems"`
}

// lastJournal is the journal written last.
type lastJournal struct {
	ID      string        `json:"id"`
	Capture string        `json:"capture"` // of a proxy's: the peer
	Alive   bool          `json:"alive"`
	Status  schema.Status `json:"status"` // of its one capture, empty before the first event
	At      time.Time     `json:"at"`
	AgeS    float64       `json:"age_s"`
	Bytes   int64         `json:"bytes"`
	Frames  uint64        `json:"frames"` // accounted for by events, or in open messages
	Events  uint64        `json:"events"` // numbered
}

func (a *app) doctor(ctx context.Context, asJSON bool) error {
	var h health
	err := a.inSession(ctx, "doctor", func(ctx context.Context, s *session) (err error) {
		h, err = a.examine(ctx, s)
		return err
	})
	if err != nil {
		return err
	}
	if asJSON {
		err = a.out.json(h)
	} else {
		h.print(a)
	}
	if err == nil && len(h.Problems) > 0 {
		err = &exitError{code: exitRuntime}
	}
	return err
}

func (a *app) examine(ctx context.Context, s *session) (health, error) {
	h := health{Streams: "ok, " + plural(s.info.Partitions, "partition"), Problems: []string{}}
	if err := s.examine(ctx, s, &h); err != nil {
		return h, err
	}
	var err error
	if h.Ledger, err = s.ledger.Stats(ctx); err != nil {
		return h, err
	}
	parked, err := s.parked(ctx)
	if err != nil {
		return h, err
	}
	for _, p := range parked {
		what := "is parked"
		if p.Redrive {
			what = "waits to be folded again; it was parked"
		}
		h.problem("%s %s at frame %d: %s (%s)", p.Identity, what, p.Frame, p.Reason, p.FirstLine())
	}
	lost, stuck, err := s.lost(ctx)
	if err != nil {
		return h, err
	}
	h.lost(lost)
	h.parked(stuck)
	if a.archive != "" {
		if h.Archive, err = s.archived(ctx, a.archive); err != nil {
			return h, err
		}
	}
	if n := h.Ledger.Indexing.Failed; n > 0 {
		h.problem("%s could not be indexed, and steno search does not find %s", plural(n, "event"), them(n))
	}
	return h, nil
}

// lagPatience is how long a living tap may take to publish what its journal holds.
const lagPatience = 5 * time.Second

// journals finds the journal written last, and what of any has not come through.
func (h *health) journals(ctx context.Context, s *session, dir holder.Dir) error {
	infos, err := journal.List(dir.Journals())
	if err != nil {
		return fmt.Errorf("list journals: %w", err)
	}
	h.Journals = len(infos)
	until := time.Now().Add(lagPatience)
	for _, info := range infos {
		if info.Err != nil {
			h.problem("journal %s cannot be read: %v", info.Path, info.Err)
			continue
		}
		mark, err := markOf(ctx, dir, info, until)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			h.problem("the mark of journal %s cannot be read: %v", info.ID, err)
		}
		h.lag(s, info, mark)
		if h.Last == nil || info.WrittenAt.After(h.Last.At) {
			if h.Last, err = lastOf(ctx, s, info, mark); err != nil {
				return err
			}
		}
	}
	return nil
}

// lag says what of a journal has not come through; what goes to this directory was waited for, and is
// among what the session says.
func (h *health) lag(s *session, info journal.Info, mark journal.Mark) {
	said := slices.ContainsFunc(s.unstored, func(what string) bool { return strings.Contains(what, info.ID) })
	switch {
	case said, mark.Done:
	case !info.Alive:
		h.problem("journal %s (%s) has not come through to %s: %s of it stored",
			info.ID, info.Head.Identity, whereTo(info), pluralIs(mark.Frames, "frame"))
	case info.Head.Destination != "" && lagging(info, mark):
		h.problem("journal %s (%s) of a living tap lags: %s of %s are not stored on %s yet (a line that has not ended is not counted as stored)",
			info.ID, info.Head.Identity, plural(uint64(info.Size)-mark.Offset, "byte"), sizeText(info.Size), whereTo(info))
	}
}

func whereTo(info journal.Info) string {
	if info.Head.Destination == "" {
		return "this directory"
	}
	return printable(info.Head.Destination)
}

func lagging(info journal.Info, mark journal.Mark) bool { return mark.Offset < uint64(info.Size) }

// markOf reads a journal's mark; that of a living tap which publishes by itself has until then to come
// up with what the journal held when it was listed.
func markOf(ctx context.Context, dir holder.Dir, info journal.Info, until time.Time) (journal.Mark, error) {
	for {
		mark, err := journal.ReadMark(dir.Journals(), info.ID)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return mark, err
		}
		if !info.Alive || info.Head.Destination == "" || !lagging(info, mark) || time.Now().After(until) {
			return mark, nil
		}
		select {
		case <-ctx.Done():
			return mark, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func lastOf(ctx context.Context, s *session, info journal.Info, mark journal.Mark) (*lastJournal, error) {
	id := info.Head.Identity
	if mark.Identity != (schema.Identity{}) {
		id = mark.Identity
	}
	last := &lastJournal{
		ID: info.ID, Alive: info.Alive, At: info.WrittenAt.UTC(), AgeS: time.Since(info.WrittenAt).Seconds(),
		Bytes: info.Size, Capture: id.String(),
	}
	captures := []schema.Identity{id}
	if info.Head.Open.Protocol == schema.A2A {
		last.Capture = info.Head.Open.Peer // a proxy's journal goes to many
		captures = slices.Collect(maps.Keys(mark.Captures))
	}
	for _, id := range captures {
		status, err := last.add(ctx, s, id)
		if err != nil {
			return nil, err
		}
		if len(captures) == 1 {
			last.Status = status
		}
	}
	return last, nil
}

// add counts what the ledger has of a capture, and gives its status.
func (l *lastJournal) add(ctx context.Context, s *session, id schema.Identity) (schema.Status, error) {
	capture, err := s.ledger.Capture(ctx, id)
	if errors.Is(err, sink.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	l.Frames += capture.Accounted
	for _, frames := range capture.Open {
		l.Frames += frames
	}
	for _, session := range capture.Sessions {
		l.Events += session.Head
	}
	return capture.Status, nil
}

func (h *health) problem(format string, args ...any) {
	h.Problems = append(h.Problems, fmt.Sprintf(format, args...))
}

// doctorWidth is the width of doctor's text in characters; behind its labels it has doctorIndent less.
const (
	doctorWidth  = 80
	doctorIndent = "          "
)

func (h *health) print(a *app) {
	say := func(label, format string, args ...any) {
		text := wrapped(fmt.Sprintf(format, args...), doctorWidth-len(doctorIndent), doctorIndent)
		fmt.Fprintf(a.out, "%-*s%s\n", len(doctorIndent), label, text)
	}
	if h.Data == "" {
		h.printCluster(say)
		return
	}
	holder := "nobody; this command, while it ran"
	if h.Holder != nil {
		holder = fmt.Sprintf("%s, process %d, since %s", h.Holder.Kind, h.Holder.PID, h.Holder.Since.Local().Format(time.DateTime))
	}
	say("data", "%s", h.Data)
	say("held by", "%s", holder)
	say("streams", "%s", h.Streams)
	say("ledger", "%s", h.counts())
	h.printArchive(say)
	if h.Last == nil {
		say("journals", "none: nothing was recorded here in the last day")
	} else {
		say("journals", "%d; the last one was written %s ago (%s): %s, %s numbered", h.Journals,
			time.Duration(h.Last.AgeS*float64(time.Second)).Round(time.Second), h.Last.state(), plural(h.Last.Frames, "frame"), plural(h.Last.Events, "event"))
		say("", "%s", h.Last.Capture)
	}
	h.printProblems(say, "all that was journalled has come through")
}

func (h *health) printCluster(say func(label, format string, args ...any)) {
	say("cluster", "%s", h.NATS)
	say("streams", "%s", h.Streams)
	say("ledger", "%s: %s", h.Database, h.counts())
	h.printArchive(say)
	h.printProblems(say, "all partitions are translated, and all records are numbered")
}

func (h *health) printProblems(say func(label, format string, args ...any), none string) {
	if len(h.Problems) == 0 {
		say("problems", "none: %s", none)
	}
	for _, p := range h.Problems {
		say("problem", "%s", p)
	}
}

func (h *health) counts() string {
	text := fmt.Sprintf("%s of %s, %s", plural(h.Ledger.Transcripts, "transcript"), plural(h.Ledger.Captures, "capture"), plural(h.Ledger.Events, "event"))
	if n := h.Ledger.Dropped; n > 0 {
		text += fmt.Sprintf("; %d of them in the archive", n)
	}
	if n := h.Ledger.Indexing.Behind; n > 0 {
		text += fmt.Sprintf("; the search is %s behind", plural(n, "event"))
	}
	return text
}

// andMore stands for so many others.
func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// them stands for so many things.
func them(n uint64) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// state is what became of the journal's tap.
func (l *lastJournal) state() string {
	switch {
	case l.Alive:
		return "its tap is running"
	case l.Status == schema.StatusAbandoned:
		return "abandoned: its tap was killed"
	}
	return "its tap has ended"
}
