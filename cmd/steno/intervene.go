package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/steno-io/steno/ingest/intervene"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Times of an intervention.
const (
	interveneWithin = intervene.MaxWait + 15*time.Second // for its answer: it, and the one before it, may take some seconds
	tapWithin       = 4 * time.Second                    // for the tap of what is open: one that has just found somebody to listen to
)

// interveneFlags are those of every intervention.
type interveneFlags struct {
	id      string
	session string
	json    bool
}

// intervention is what the commands print.
type intervention struct {
	ID         string `json:"id"`
	Transcript string `json:"transcript"`
	schema.Outcome
}

// interveneCommand makes the command of a primitive; kind reads its flags and what stands behind the key.
func (a *app) interveneCommand(cmd *cobra.Command, more int, missing string, kind func(args []string) (schema.InterventionKind, error)) *cobra.Command {
	var f interveneFlags
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) < 1+more {
			return errors.New(missing)
		}
		return cobra.ExactArgs(1+more)(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		k, err := kind(args[1:])
		if err != nil {
			return err
		}
		return a.intervene(cmd.Context(), cmd.Name(), args[:1], &f, k)
	}
	cmd.Long += `

KEY is a transcript's key, or a part that only one has. It goes to the process that
holds the conversation (steno record, run or proxy), now: nothing is kept for later.
That process must be reachable, over steno up on its data directory or over the NATS
that it records to; with --nats and no --ledger, KEY is the whole key.

It ends with 0 when it was applied, with 1 when the connection has no way to deliver
it, or it came too late or for what is not there, and with 69 when no answer came.
Then nobody knows: sent again under its id (--id), it is answered with the first
outcome, and done once. The record says who did it, and when.`
	cmd.Flags().StringVar(&f.id, "id", "", "id of the intervention (default: a new UUID)")
	cmd.Flags().StringVar(&f.session, "session", "", "the agent's id of the session it is meant for, for A2A of the task (default: that of KEY)")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	a.ledgerFlag(cmd)
	return cmd
}

func (a *app) cancelCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "cancel KEY",
		Short: "Cancel the turn that is in progress in a conversation",
		Long: `cancel asks an agent to end the turn in progress: of ACP by session/cancel, between two
lines of its client's; of A2A, through steno proxy, by CancelTask for each task of the
conversation that goes on, or for that of --session. How the turn then ends is the
agent's matter; the transcript shows both.`,
		Example: `  steno cancel 4f1c
  steno cancel 4f1c --reason "wrong branch" --json`,
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record; the agent does not get it")
	return a.interveneCommand(cmd, 0, "which transcript? such as: steno cancel KEY (steno ls lists them)", func([]string) (schema.InterventionKind, error) {
		return schema.InterventionKind{Kind: schema.PrimitiveCancel, Reason: reason}, nil
	})
}

func (a *app) injectCommand() *cobra.Command {
	var interrupt bool
	cmd := &cobra.Command{
		Use:   "inject KEY TEXT",
		Short: "Say something to an agent in a conversation that others hold",
		Long: `inject says TEXT to the agent as a message of the user: to an A2A task that goes on,
through steno proxy, by SendMessage. A connection of ACP has no way for it: what the
agent then answered would be the client's, which has not asked.`,
		Example: `  steno inject 4f1c "Use the other branch"
  steno inject 4f1c "Stop and read the log first" --interrupt`,
	}
	cmd.Flags().BoolVar(&interrupt, "interrupt", false, "now, whatever the agent is at")
	return a.interveneCommand(cmd, 1, "where, and what? such as: steno inject KEY TEXT", func(args []string) (schema.InterventionKind, error) {
		k := schema.InterventionKind{Kind: schema.PrimitiveInject, Text: args[0], Priority: &schema.Priority{Priority: schema.PriorityNormal}}
		if interrupt {
			k.Priority.Priority = schema.PriorityInterrupt
		}
		return k, nil
	})
}

func (a *app) pauseCommand() *cobra.Command {
	var resume bool
	cmd := &cobra.Command{
		Use:     "pause KEY",
		Short:   "Have an agent pause, or go on",
		Long:    `pause asks an agent to pause. Neither ACP nor A2A has a way for it so far.`,
		Example: "  steno pause 4f1c\n  steno pause 4f1c --resume",
	}
	cmd.Flags().BoolVar(&resume, "resume", false, "go on")
	return a.interveneCommand(cmd, 0, "which transcript? such as: steno pause KEY", func([]string) (schema.InterventionKind, error) {
		paused := !resume
		return schema.InterventionKind{Kind: schema.PrimitivePause, Paused: &paused}, nil
	})
}

func (a *app) budgetCommand() *cobra.Command {
	var tokens uint64
	var turns uint32
	cmd := &cobra.Command{
		Use:     "budget KEY --max-tokens N|--max-turns N",
		Short:   "Change how much an agent may use",
		Long:    `budget tells an agent how much it may use. Neither ACP nor A2A has a way for it so far.`,
		Example: "  steno budget 4f1c --max-tokens 200000\n  steno budget 4f1c --max-turns 20",
	}
	cmd.Flags().Uint64Var(&tokens, "max-tokens", 0, "tokens in all")
	cmd.Flags().Uint32Var(&turns, "max-turns", 0, "turns in all")
	return a.interveneCommand(cmd, 0, "which transcript? such as: steno budget KEY --max-turns 20", func([]string) (schema.InterventionKind, error) {
		k := schema.InterventionKind{Kind: schema.PrimitiveBudget}
		if cmd.Flags().Changed("max-tokens") {
			k.MaxTokens = &tokens
		}
		if cmd.Flags().Changed("max-turns") {
			k.MaxTurns = &turns
		}
		if k.MaxTokens == nil && k.MaxTurns == nil {
			return k, usage("how much? give --max-tokens or --max-turns")
		}
		return k, nil
	})
}

func (a *app) approveCommand() *cobra.Command {
	var call, request, note string
	var deny bool
	cmd := &cobra.Command{
		Use:   "approve KEY --call CALL [--deny]",
		Short: "Decide what an agent asks to be allowed",
		Long: `approve answers what the agent of a steno run --permissions ask waits to be allowed.
Approving is "allow once", and refused where the agent does not offer that; --deny is
"reject".

CALL is the agent's id of the tool call, or the id of its request, which steno show
--json has as approvalId: call ids such as c1#2 are the transcript's alone.
Where several questions would fit, --request APPROVALID or --session ID says which.`,
		Example: `  steno approve 4f1c --call t1
  steno approve 4f1c --call t1 --deny --note "not on a Friday"`,
	}
	cmd.Flags().StringVar(&call, "call", "", "the tool call")
	cmd.Flags().StringVar(&request, "request", "", "the permission request, by its id as JSON")
	cmd.Flags().StringVar(&note, "note", "", "why, for the record")
	cmd.Flags().BoolVar(&deny, "deny", false, "deny it")
	return a.interveneCommand(cmd, 0, "in which transcript? such as: steno approve KEY --call CALL", func([]string) (schema.InterventionKind, error) {
		k := schema.InterventionKind{
			Kind: schema.PrimitiveRespond, CallID: call, Request: request, Note: note, Decision: &schema.Decision{Decision: schema.DecisionApprove},
		}
		if deny {
			k.Decision.Decision = schema.DecisionDeny
		}
		if call == "" && request == "" {
			return k, usage("what shall be allowed? give --call or --request (steno show KEY --json has them, as toolId and approvalId)")
		}
		return k, nil
	})
}

// intervene sends an intervention and says what became of it.
func (a *app) intervene(ctx context.Context, command string, args []string, f *interveneFlags, kind schema.InterventionKind) error {
	i := schema.Intervention{ID: f.id, Session: f.session, Kind: kind, IssuedAt: time.Now().UTC()}
	if i.ID == "" {
		i.ID = uuid.NewString()
	}
	if err := i.Validate(); err != nil {
		return usage("%s: %w", command, err)
	}
	if !a.clustered() && (a.given("nats") || a.given("context")) {
		return a.interveneOn(ctx, command, args[0], f, i)
	}
	return a.withTranscript(ctx, command, args, func(ctx context.Context, s *session, t sink.Summary) error {
		if i.Session == "" && t.Protocol == schema.ACP {
			i.Session = t.SessionID
		}
		by, err := a.intervener(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
		return a.intervened(ctx, command, s.conn, t.Transcript, t.Status == schema.StatusOpen, by, f, i)
	})
}

// interveneOn does without a ledger, which would know transcripts by parts of their keys.
func (a *app) interveneOn(ctx context.Context, command, text string, f *interveneFlags, i schema.Intervention) error {
	key, err := schema.ParseTranscript(text)
	if err != nil {
		return usage("%s: without --ledger the whole key is needed: %w", command, err)
	}
	conn, err := dial(a.destination())
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	defer conn.Close()
	by, err := natsUser(ctx, conn)
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	return a.intervened(ctx, command, conn, key, true, by, f, i)
}

func (a *app) intervened(ctx context.Context, command string, conn *nats.Conn, key schema.Transcript, isOpen bool, by string, f *interveneFlags, i schema.Intervention) error {
	ctx, done := context.WithTimeout(ctx, interveneWithin)
	defer done()
	o, err := sendIntervention(ctx, conn, key.Identity, by, i, isOpen, f.id != "")
	switch {
	case errors.Is(err, intervene.ErrUnanswered), errors.Is(err, intervene.ErrBusy):
		return &exitError{exitUnavailable, fmt.Errorf("%s %s: %w (again: --id %s)", command, key, err, i.ID)}
	case err != nil:
		return fmt.Errorf("%s %s: %w", command, key, err)
	}
	if f.json {
		err = a.out.json(intervention{i.ID, key.String(), o})
	} else if o.Outcome == schema.OutcomeApplied {
		_, err = fmt.Fprintf(a.out, "applied: %s %s\n", i.Kind.Kind.Label(), key)
	}
	return errors.Join(err, notApplied(ctx, command, conn, key, by, o))
}

// sendIntervention sends it. Nobody may be there yet to take it, where a conversation is open. Where the connection is
// lost the answer is lost with it, as when a directory's holder changes: it is sent again under its id, which is done
// once.
//
// again: it may have come before under its id, to whoever is there no more: that nobody is there now says nothing of
// that.
func sendIntervention(ctx context.Context, conn *nats.Conn, id schema.Identity, by string, i schema.Intervention, isOpen, again bool) (schema.Outcome, error) {
	nobody := schema.Stale
	if again {
		nobody = func(format string, args ...any) schema.Outcome {
			return schema.Unsure(format+"; an earlier try under its id may have been applied", args...)
		}
	}
	sent := false // and perhaps taken
	for began := time.Now(); ; {
		o, lost, err := sendUntilLost(ctx, conn, id, by, i)
		switch {
		case lost:
			sent = true
		case isAny(err, nats.ErrReconnectBufExceeded, nats.ErrDisconnected): // it was not
		case !errors.Is(err, intervene.ErrNobody):
			return o, err
		case sent: // whoever took it may come back, and knows what became of it
		case !isOpen:
			return nobody("it has ended, and %v", intervene.ErrNobody), nil
		case time.Since(began) > tapWithin:
			return nobody("%v", intervene.ErrNobody), nil
		}
		select {
		case <-ctx.Done():
			return o, fmt.Errorf("%w: %w", intervene.ErrUnanswered, context.Cause(ctx))
		case <-time.After(raceEvery):
		}
	}
}

// sendUntilLost sends it once, and waits for the answer no longer than the connection lasts.
func sendUntilLost(ctx context.Context, conn *nats.Conn, id schema.Identity, by string, i schema.Intervention) (o schema.Outcome, lost bool, err error) {
	gone := conn.StatusChanged(nats.RECONNECTING)
	defer conn.RemoveStatusListener(gone)
	sending, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() { // RemoveStatusListener ends it
		if _, ok := <-gone; ok {
			stop(nats.ErrDisconnected)
		}
	}()
	o, err = intervene.Send(sending, conn, id, by, i)
	return o, err != nil && ctx.Err() == nil && sending.Err() != nil, err
}

// notApplied is why an intervention had no effect; nil if it had.
func notApplied(ctx context.Context, command string, conn *nats.Conn, key schema.Transcript, by string, o schema.Outcome) error {
	switch o.Outcome {
	case schema.OutcomeApplied:
		return nil
	case schema.OutcomeNotSupported:
		can := "this connection has no way to deliver it"
		if c, err := intervene.Ask(ctx, conn, key.Identity, by); err == nil {
			can += "; what it delivers now: " + c.Labels()
		}
		return &exitError{exitRuntime, fmt.Errorf("%s %s: not supported: %s", command, key, can)}
	}
	if o.Unknown {
		return &exitError{exitRuntime, fmt.Errorf("%s %s: unknown whether it was applied: %s (look at the transcript before you try anew: steno show %s)",
			command, key, o.Detail, key)}
	}
	return &exitError{exitRuntime, fmt.Errorf("%s %s: not applied: %s", command, key, o.Detail)}
}

// intervener is in whose name a session's command intervenes.
func (a *app) intervener(ctx context.Context, s *session) (string, error) {
	if a.clustered() {
		return natsUser(ctx, s.conn)
	}
	return systemUser(), nil
}

// systemUser is who runs this command, as a token: whoever reaches a data directory's server may read its
// files, so it is the directory's own user, or root.
func systemUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return schema.Token(u.Username)
	}
	return "uid-" + strconv.Itoa(os.Getuid())
}

// natsUser is who a connection belongs to, as its server says; where that knows no users, the system's user.
// It chooses the subject only: whether he may use that, the server decides. Whom the server does not tell, or
// a subject cannot name, intervenes in nobody's name, and so not at all.
func natsUser(ctx context.Context, conn *nats.Conn) (string, error) {
	ctx, done := context.WithTimeout(ctx, openWithin)
	defer done()
	var info struct {
		Data struct {
			User string `json:"user"`
		} `json:"data"`
	}
	m, err := conn.RequestWithContext(ctx, userInfo, nil)
	if err == nil {
		err = json.Unmarshal(m.Data, &info)
	}
	switch name := info.Data.User; {
	case err != nil:
		return "", &exitError{exitUnavailable, fmt.Errorf("ask NATS in whose name this is (its user must be allowed to publish to %s): %w", userInfo, err)}
	case name == "", name == noUser:
		return systemUser(), nil
	case schema.IsToken(name):
		return name, nil
	default:
		return "", &exitError{exitConfig, fmt.Errorf("NATS user %q cannot be named in the subject of an intervention: "+
			"connect as a user whose name is 1 to %d characters of [A-Za-z0-9_-]", name, schema.MaxToken)}
	}
}

const (
	userInfo = "$SYS.REQ.USER.INFO" // where a NATS server says who asks
	noUser   = "[REDACTED]"         // what it says of a connection that has shown a token, which is nobody's own
)
