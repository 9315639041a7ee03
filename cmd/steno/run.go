package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/ingest/headless"
	"github.com/steno-io/steno/ingest/intervene"
	"github.com/steno-io/steno/ingest/intervene/reach"
	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/ingest/tap"
	"github.com/steno-io/steno/ingest/turns"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
)

// maxPrompt is how long a prompt may be, in bytes.
const maxPrompt = 16 << 20

type runFlags struct {
	record      recordFlags
	prompt      string
	promptFile  string
	cwd         string
	permissions string
	deadline    time.Duration
	fallback    string
	fs          bool
	terminal    bool
	timeout     time.Duration
	acp         int
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run --prompt TEXT|--prompt-file FILE --permissions POLICY [flags] -- AGENT [ARGS…]",
		Short: "Ask an ACP agent one thing, without an editor",
		Long: `run is an ACP client without a person: it starts the agent, opens a session in
--cwd, sends one prompt, and records all of it as steno record does.

What the agent asks permission for is answered by --permissions; there is no
default:
  deny          the agent's own "reject" (once, where it offers that)
  allow-once    "allow once"; denied where the agent offers nothing so narrow
  allow-always  "allow always", else "allow once", else denied
  ask           somebody is asked (see below), and --ask-fallback decides when
                nobody has answered within --ask-deadline
What is asked while a turn is being cancelled is answered "cancelled".

The agent gets no files and no terminals of this client unless --fs or --terminal
are given; then inside --cwd only. Links and .. do not lead out of it. A command in
a terminal is only started there: it can do what you can. An agent does what it
does by itself without asking anybody.

Versions 1 and 2 of the protocol are offered, and the agent answers with the one
that is spoken. --fs and --terminal are of version 1, which alone is offered then.

ask: the transcript shows what waits. It is answered over the NATS that --nats names,
or over the steno up which runs on the data directory:
  steno approve KEY --call CALL        (or --deny; steno approve --help)
CALL is the agent's id of the tool call, or the request's, which steno show --json has
as approvalId. Approving is "allow once", and refused where the agent does not offer
that; denying is "reject". Who decided is in the record.
steno cancel KEY cancels the turn, as Ctrl-C does.

The result is one JSON object: text (all that the agent answered), final_message
(the last message of it), stop_reason, session_id, transcript (its key; empty if
nothing was recorded), and error, where there was one.

It ends with 0 when the turn ended with end_turn and the record is whole on the
disk, with 1 for any other outcome, and with 69 when the agent cannot be started.
Ctrl-C and SIGTERM cancel the turn, as --timeout does; a second one ends it at once.
What the agent has started ends with the run.`,
		Example: `  steno run --prompt "How many sacks?" --permissions deny -- my-agent --acp
  steno run --prompt-file task.md --cwd ~/mill --fs --permissions allow-once -- node agent.js | jq -r .text
  git diff | steno run --prompt-file - --permissions deny -- my-agent --acp`,
		Args: atLeastOne("which agent? give its command behind --, such as: steno run --prompt TEXT --permissions deny -- my-agent --acp"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runAgent(cmd.Context(), args, &f)
		},
	}
	p := cmd.Flags()
	p.SetInterspersed(false)
	p.StringVar(&f.prompt, "prompt", "", "what to ask")
	p.StringVar(&f.promptFile, "prompt-file", "", "file that says what to ask; - is stdin")
	p.StringVar(&f.cwd, "cwd", ".", "directory of the agent and its session")
	p.StringVar(&f.permissions, "permissions", "", "how permission requests are answered: deny, allow-once, allow-always or ask (required)")
	p.DurationVar(&f.deadline, "ask-deadline", 5*time.Minute, "how long somebody may take to answer, with ask")
	p.StringVar(&f.fallback, "ask-fallback", "", "what decides then: deny, allow-once or allow-always (required with ask)")
	p.BoolVar(&f.fs, "fs", false, "let the agent read and write text files in --cwd through this client")
	p.BoolVar(&f.terminal, "terminal", false, "let the agent run commands through this client, started in --cwd")
	p.IntVar(&f.acp, "acp-version", 0, "newest version of the protocol to offer, 1 or 2 (default 2, or 1 with --fs or --terminal)")
	p.DurationVar(&f.timeout, "timeout", 0, "cancel what has not ended by then (0: never)")
	f.record.register(cmd)
	return cmd
}

// runResult is what the command prints.
type runResult struct {
	Text         string `json:"text"`
	FinalMessage string `json:"final_message"`
	StopReason   string `json:"stop_reason"`
	SessionID    string `json:"session_id"`
	Transcript   string `json:"transcript"`
	Error        string `json:"error,omitempty"`
}

// runAgent runs the command. The first signal ends asking, which ends what is done before the agent is
// started; from then on a run is stopped in good order.
func (a *app) runAgent(asking context.Context, command []string, f *runFlags) error {
	if f.timeout < 0 {
		return a.badValue(fmt.Errorf("--timeout %s: want 0 or more", f.timeout), "timeout")
	}
	cancelled := make(chan struct{}) // by an intervention
	ctx, stop, done := untilTwoSignals(context.WithoutCancel(asking), f.timeout, cancelled)
	defer done()
	o, err := a.runOptions(asking, stop, command, f)
	if err != nil {
		return err
	}
	o.Stop = stop
	asks := o.Permissions.Policy == headless.Ask
	if asks {
		if err := a.canAsk(asking); err != nil {
			return fmt.Errorf("run: %w", err)
		}
	}
	if err := unlessStopped(asking, stop); err != nil {
		return a.runEnded(headless.Result{}, err, nil)
	}
	w, err := a.beginRecord(schema.OpenInfo{Tap: "run", Command: command, Permissions: string(o.Permissions.Policy)}, &f.record)
	if err != nil {
		return err
	}
	if w == nil && asks {
		return errors.New("run: what is not recorded has no name under which it could be asked about (--permissions ask)")
	}
	var targets intervene.Targets
	if w != nil {
		seen := &overheard{Writer: w}
		o.Journal = seen
		targets = intervene.Targets{reach.Own{Turns: &seen.turns, Journal: w, Cancel: sync.OnceFunc(func() { close(cancelled) })}}
	}
	if asks {
		approvals := &reach.Approvals{}
		o.Permissions.Approver = approvals
		targets = append(targets, approvals)
	}
	var result headless.Result
	did := func() error {
		err := unlessStopped(asking, stop)
		if err == nil {
			result, err = headless.Run(ctx, o)
		}
		return err
	}
	held := func() error { return a.whileAttended(ctx, w, targets, did) }
	return a.whileKept(ctx, w, held, func(err, kept error) error {
		if kept != nil && err != nil {
			err = fmt.Errorf("%w; the record: %w", err, kept)
		} else if kept != nil {
			err = fmt.Errorf("the record: %w", kept)
		}
		return a.runEnded(result, err, w)
	})
}

// overheard is a journal that knows the turns of what it keeps.
type overheard struct {
	*journal.Writer
	turns turns.Turns
}

// Append implements tap.Journal.
func (w *overheard) Append(ctx context.Context, from schema.From, at time.Time, b []byte) error {
	err := w.Writer.Append(ctx, from, at, b)
	if err == nil {
		w.turns.Pass(from, b)
	}
	return err
}

// Control implements tap.Journal.
func (w *overheard) Control(ctx context.Context, typ schema.FrameType, at time.Time, info any) error {
	if typ == schema.TypeClose { // whatever the agent has left open, nothing of it can be cancelled any more
		w.turns.End()
	}
	return w.Writer.Control(ctx, typ, at, info)
}

// unlessStopped is an error if a run was asked to stop before its agent was started.
func unlessStopped(asking context.Context, stop <-chan struct{}) error {
	select {
	case <-stop:
	case <-asking.Done():
	default:
		return nil
	}
	return fmt.Errorf("%w before the agent was started", headless.ErrStopped)
}

// runOptions reads the flags.
func (a *app) runOptions(asking context.Context, stop <-chan struct{}, command []string, f *runFlags) (o headless.Options, err error) {
	switch {
	case f.acp < 0 || f.acp > acp.Version2:
		return o, a.badValue(fmt.Errorf("--acp-version %d: want 1 or 2", f.acp), "acp-version")
	case f.acp == acp.Version2 && (f.fs || f.terminal):
		return o, a.badValue(errors.New("--acp-version 2 has no --fs and no --terminal: they are version 1's"), "acp-version")
	}
	if o.Prompt, err = a.runPrompt(asking, stop, f); err != nil {
		return o, err
	}
	if o.Cwd, err = filepath.Abs(f.cwd); err == nil {
		var info os.FileInfo
		if info, err = os.Stat(o.Cwd); err == nil && !info.IsDir() {
			err = errors.New("not a directory")
		}
	}
	if err != nil {
		return o, a.badValue(fmt.Errorf("--cwd %s: %w", f.cwd, err), "cwd")
	}
	if o.Permissions, err = a.runPermissions(f); err != nil {
		return o, err
	}
	o.Command = command
	if strings.ContainsRune(command[0], filepath.Separator) { // as this shell means it, not as seen from --cwd
		path, err := filepath.Abs(command[0])
		if err != nil {
			return o, fmt.Errorf("run: %w", err)
		}
		o.Command = append([]string{path}, command[1:]...)
	}
	o.Version, o.FS, o.Terminal, o.ACP = version, f.fs, f.terminal, f.acp
	if stderr, ok := a.err.(*os.File); ok {
		o.Stderr = stderr
	}
	return o, nil
}

func (a *app) runPrompt(asking context.Context, stop <-chan struct{}, f *runFlags) (string, error) {
	if (f.prompt == "") == (f.promptFile == "") {
		return "", a.badValue(errors.New("what shall the agent be asked? give one of --prompt and --prompt-file"), "prompt", "prompt-file")
	}
	if f.prompt != "" && utf8.ValidString(f.prompt) {
		return f.prompt, nil
	}
	if f.prompt != "" {
		return "", a.badValue(errors.New("--prompt: not UTF-8"), "prompt")
	}
	from := a.in
	if f.promptFile != "-" {
		file, err := os.Open(f.promptFile)
		if err != nil {
			return "", a.badValue(fmt.Errorf("--prompt-file: %w", err), "prompt-file")
		}
		defer func() { _ = file.Close() }() // it was only read
		from = file
	}
	text, err := readUnlessStopped(asking, stop, io.LimitReader(from, maxPrompt+1))
	switch {
	case errors.Is(err, headless.ErrStopped):
		return "", fmt.Errorf("run: %w: nothing was asked yet", err)
	case err != nil:
		err = fmt.Errorf("--prompt-file: %w", err)
	case len(text) > maxPrompt:
		err = fmt.Errorf("--prompt-file: longer than %d bytes", maxPrompt)
	case len(text) == 0:
		err = errors.New("--prompt-file: empty")
	case !utf8.Valid(text):
		err = errors.New("--prompt-file: not UTF-8")
	}
	if err != nil {
		return "", a.badValue(err, "prompt-file")
	}
	return string(text), nil
}

// readUnlessStopped reads all, unless the run is asked to stop meanwhile. The read itself cannot be ended
// then: it ends with the process, which is what follows.
func readUnlessStopped(asking context.Context, stop <-chan struct{}, from io.Reader) (text []byte, err error) {
	read := make(chan struct{})
	var all []byte
	var failed error
	go func() {
		defer close(read)
		all, failed = io.ReadAll(from)
	}()
	select {
	case <-read:
		return all, failed
	case <-stop:
	case <-asking.Done():
	}
	return nil, headless.ErrStopped
}

func (a *app) runPermissions(f *runFlags) (p headless.Permissions, err error) {
	if f.permissions == "" {
		return p, usage("may the agent do what it asks permission for? give --permissions deny, allow-once, allow-always or ask")
	}
	if p.Policy, err = headless.ParsePolicy(f.permissions); err != nil {
		return p, a.badValue(fmt.Errorf("--permissions: %w", err), "permissions")
	}
	if p.Policy != headless.Ask {
		if f.fallback != "" {
			return p, a.badValue(errors.New("--ask-fallback is for --permissions ask"), "ask-fallback")
		}
		return p, nil
	}
	if f.fallback == "" {
		return p, usage("what decides where nobody answers? give --ask-fallback deny, allow-once or allow-always")
	}
	if p.Fallback, err = headless.ParsePolicy(f.fallback); err == nil && p.Fallback == headless.Ask {
		err = errors.New("ask cannot stand in for itself")
	}
	if err != nil {
		return p, a.badValue(fmt.Errorf("--ask-fallback: %w", err), "ask-fallback")
	}
	if p.Deadline = f.deadline; p.Deadline <= 0 {
		return p, a.badValue(fmt.Errorf("--ask-deadline %s: want more than 0", f.deadline), "ask-deadline")
	}
	return p, nil
}

// runEnded prints the result, and gives the command's end.
func (a *app) runEnded(r headless.Result, err error, w *journal.Writer) error {
	printed := runResult{Text: r.Text, FinalMessage: r.FinalMessage, StopReason: r.StopReason, SessionID: r.SessionID}
	if w != nil {
		printed.Transcript = schema.Transcript{Identity: w.Head().Identity, Session: r.Session}.String()
	}
	if err != nil {
		printed.Error = err.Error()
	}
	failed := a.runPrinted(printed)
	switch {
	case errors.Is(err, tap.ErrStart):
		return errors.Join(&exitError{exitUnavailable, fmt.Errorf("run: %w", visible{err})}, failed)
	case err != nil:
		return errors.Join(&exitError{exitRuntime, fmt.Errorf("run: %w", visible{err})}, failed)
	case !r.Completed():
		return errors.Join(&exitError{exitRuntime, fmt.Errorf("run: the turn ended with %s", r.StopReason)}, failed)
	}
	return failed
}

// runPrinted prints the result. What a terminal would obey, or nobody would see, stands as JSON escapes it
// there; elsewhere it is left as it is.
func (a *app) runPrinted(r runResult) error {
	if !a.isTerminal(a.stdio.out) {
		return a.out.json(r)
	}
	var line bytes.Buffer
	if err := (&output{to: &line}).json(r); err != nil {
		return err
	}
	_, err := a.out.Write(escaped(line.Bytes()))
	return err
}

// overtime is how long a run may go on behind its timeout, until its context ends: an agent that is
// cancelled, and is then ended by force, takes less.
const overtime = 30 * time.Second

// untilTwoSignals gives what the first signal that asks a command to stop closes, or a timeout that is
// above 0, or whoever closes cancelled, and a context that the second signal ends, or the timeout with
// overtime. What others, or the clock, have stopped is stopped already: the first signal then changes nothing, and
// the second one is the user's second.
func untilTwoSignals(ctx context.Context, timeout time.Duration, cancelled <-chan struct{}) (_ context.Context, stop <-chan struct{}, done func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals()...)
	ctx, stop, ended := untilTwo(ctx, signals, timeout, cancelled)
	return ctx, stop, func() { signal.Stop(signals); ended() }
}

// untilTwo is untilTwoSignals with the signals that come.
func untilTwo(ctx context.Context, signals <-chan os.Signal, timeout time.Duration, cancelled <-chan struct{}) (_ context.Context, stop <-chan struct{}, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	first, ended := make(chan struct{}), make(chan struct{})
	end := sync.OnceFunc(func() { close(first) })
	go func() {
		defer close(ended)
		var late, over <-chan time.Time
		if timeout > 0 {
			late, over = time.After(timeout), time.After(timeout+overtime)
		}
		for asked := false; ; {
			select {
			case <-signals:
				if asked {
					cancel(errors.New("a second signal"))
					return
				}
				asked = true
			case <-late:
			case <-cancelled:
				cancelled = nil
			case <-over:
				cancel(errors.New("--timeout"))
				return
			case <-ctx.Done():
				return
			}
			end()
		}
	}()
	return ctx, first, func() { cancel(nil); <-ended }
}
