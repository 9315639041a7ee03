package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/steno-io/steno/ingest/intervene/reach"
	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/ingest/tap"
	"github.com/steno-io/steno/ingest/turns"
	"github.com/steno-io/steno/schema"
)

// leastJournal is the smallest bound of the journals that leaves room for a conversation.
const leastJournal = 1 << 20

type recordFlags struct {
	identity   identityFlags
	labels     []string
	whenFull   string
	journalMax int64
}

func (a *app) recordCommand() *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use:   "record [flags] -- AGENT [ARGS…]",
		Short: "Tap an ACP agent: put this in front of its command",
		Long: `record starts the agent and stands between it and its client. Both see the same
bytes as without it; every chunk is journalled before it is passed on. Signals
and the exit status are passed on too.

It needs nothing else running: it writes a journal, and steno up, or the next
command that reads, publishes it. With a NATS URL it publishes by itself: its own
journal, and those that earlier ones of the same directory could not.

While steno up runs on the directory, or with a NATS URL, steno cancel ends a turn:
the agent gets session/cancel, as from its client, between two of the client's lines.`,
		Example: `  steno record -- my-agent --acp
  steno record --label team=oats --workflow nightly -- node agent.js`,
		Args: atLeastOne("which agent? give its command behind --, such as: steno record -- my-agent --acp"),
		RunE: func(cmd *cobra.Command, args []string) error {
			// The agent gets the signals and decides what they mean; a second one must not end this process
			// before the journal is closed.
			signals := make(chan os.Signal, 1)
			signal.Notify(signals, stopSignals()...)
			defer signal.Stop(signals)
			return a.record(context.WithoutCancel(cmd.Context()), args, &f)
		},
	}
	cmd.Flags().SetInterspersed(false)
	f.register(cmd)
	return cmd
}

func (f *recordFlags) register(cmd *cobra.Command) {
	f.identity.register(cmd, "the host's name", "a new UUIDv7")
	cmd.Flags().StringArrayVar(&f.labels, "label", nil, "label k=v that lists show; may be repeated")
	cmd.Flags().StringVar(&f.whenFull, "when-full", string(journal.Block),
		"what to do where nothing can be recorded: block holds the conversation (or does not start it), pass lets it go on unrecorded")
	f.journalMax = journal.DefaultMax
	cmd.Flags().Var(byteSize{&f.journalMax, leastJournal}, "journal-max", "what all journals of the directory may take together, such as 1GB or 512MiB")
}

func (a *app) record(ctx context.Context, command []string, f *recordFlags) error {
	w, err := a.beginRecord(schema.OpenInfo{Tap: "record", Command: command}, f)
	if err != nil {
		return err
	}
	did := func() error { return a.attended(ctx, command, w) }
	return a.whileKept(ctx, w, did, func(err, _ error) error { return err }) // the agent's end is the command's
}

// beginRecord makes the journal of an agent that is to be started; nil, without an error, where the agent
// is to run all the same. open says what the record's first frame holds beside what all records have.
func (a *app) beginRecord(open schema.OpenInfo, f *recordFlags) (*journal.Writer, error) {
	whenFull, err := journal.ParseWhenFull(f.whenFull)
	if err != nil {
		return nil, a.badValue(fmt.Errorf("--when-full: %w", err), "when-full")
	}
	w, err := a.createJournal(open, f, whenFull)
	if err != nil && whenFull == journal.Pass {
		fmt.Fprintf(a.err, "steno %s: NOT RECORDING: %v\n", open.Tap, err)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: the agent is not started, since nothing can be recorded (--when-full pass starts it all the same): %w", open.Tap, err)
	}
	if a.isTerminal(a.err) {
		fmt.Fprintf(a.err, "steno %s: recording %s\n", open.Tap, w.Head().Identity)
	}
	return w, nil
}

// createJournal does all that recording needs before the agent is started.
func (a *app) createJournal(open schema.OpenInfo, f *recordFlags, whenFull journal.WhenFull) (*journal.Writer, error) {
	if a.unprepared != nil {
		return nil, a.unprepared
	}
	head, err := a.recordHead(open, f)
	if err != nil {
		return nil, err
	}
	return journal.Create(journal.Options{
		Dir: a.dir().Journals(), Head: head, Max: f.journalMax, WhenFull: whenFull,
		Report: func(n journal.Notice) { fmt.Fprintf(a.err, "steno %s: %s\n", open.Tap, n) },
	})
}

// whileKept does what writes into a journal, which is synced, and published if it has a destination,
// meanwhile. What end makes of its error, and of the one of a journal that could not be synced or closed,
// which was said, is the command's. Without a journal it only does it.
func (a *app) whileKept(ctx context.Context, w *journal.Writer, do func() error, end func(did, kept error) error) error {
	if w == nil {
		return end(do(), nil)
	}
	command := w.Head().Open.Tap
	syncing, stopSync := context.WithCancel(ctx)
	synced := make(chan error, 1)
	go func() { synced <- w.Run(syncing) }()
	publishing, giveUp := context.WithCancel(ctx)
	defer giveUp()
	var published sync.WaitGroup
	published.Go(func() { a.publishOwn(publishing, w.Path(), w.Head(), command) })
	published.Go(func() { a.publishLeft(publishing, w.Head(), command) })
	did := do()
	stopSync()
	kept := errors.Join(<-synced, w.Close())
	if kept != nil {
		fmt.Fprintf(a.err, "steno %s: journal: %v\n", command, kept)
	}
	err := end(did, kept)
	grace := time.AfterFunc(publishGrace, giveUp)
	defer grace.Stop()
	published.Wait()
	return err
}

// attended runs the agent, whose turns others may cancel meanwhile.
func (a *app) attended(ctx context.Context, command []string, w *journal.Writer) error {
	o := tap.Options{Command: command, Stdin: a.in}
	if w == nil {
		return a.tapped(ctx, o)
	}
	seen := &turns.Turns{}
	o.Journal, o.Watch, o.Inlet = w, seen.Pass, &tap.Inlet{}
	target := reach.Tapped{Turns: seen, Inlet: o.Inlet, Journal: w}
	return a.whileAttended(ctx, w, target, func() error { return a.tapped(ctx, o) })
}

// tapped runs the agent and gives its exit status as the command's.
func (a *app) tapped(ctx context.Context, o tap.Options) error {
	if out, ok := a.stdio.out.(*os.File); ok {
		o.Stdout = out
	}
	if stderr, ok := a.err.(*os.File); ok {
		o.Stderr = stderr
	}
	result, err := tap.Run(ctx, o)
	if errors.Is(err, exec.ErrNotFound) {
		err = fmt.Errorf("%w (give the agent's full path: desktop programs have no shell PATH)", err)
	}
	if err != nil && result.ExitCode == 0 {
		return fmt.Errorf("record: %w", err)
	}
	if err != nil {
		fmt.Fprintln(a.err, "steno record:", err)
	}
	if result.ExitCode != 0 {
		return &exitError{code: result.ExitCode}
	}
	return nil
}

func (a *app) recordHead(open schema.OpenInfo, f *recordFlags) (journal.Head, error) {
	labels, err := parseLabels(f.labels)
	if err != nil {
		return journal.Head{}, a.badValue(err, "label")
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	run, err := uuid.NewV7()
	if err != nil {
		return journal.Head{}, fmt.Errorf("%s: make a run: %w", open.Tap, err)
	}
	id, err := a.identity(&f.identity, schema.Token(host), run.String())
	if err != nil {
		return journal.Head{}, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		cwd = "" // the agent's own business
	}
	open.Protocol, open.Version, open.Cwd, open.Host, open.Labels = schema.ACP, version, cwd, host, labels
	return journal.Head{Identity: id, Destination: a.destination(), Open: open}, nil
}

func parseLabels(pairs []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, pair := range pairs {
		k, v, ok := strings.Cut(pair, "=")
		if !ok || k == "" {
			return nil, fmt.Errorf("--label %q: want k=v", pair)
		}
		labels[k] = v
	}
	return labels, nil
}
