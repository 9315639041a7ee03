package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

func (a *app) closeCommand() *cobra.Command {
	var reason string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "close KEY",
		Short: "Say that a recording has ended whose end nobody saw",
		Long: `close appends a close frame to the capture of a transcript, in the operator's name:
what was open is finished, and lists show it as ended. Whatever is recorded behind
it opens it again. KEY is a transcript's key, or a part that only one has; all
sessions of its capture end.`,
		Example: `  steno close "stuck session" --reason "the machine was switched off"`,
		Args:    onlyOne("which transcript? such as: steno close KEY (steno ls lists them)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.close(cmd.Context(), args, reason, asJSON)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", schema.ReasonOperator, "why, for the record")
	a.ledgerFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// closed is what close says.
type closed struct {
	Capture string `json:"capture"`
	Frame   uint64 `json:"frame"` // the close frame's number
	Added   bool   `json:"added"` // false: it had ended already
}

func (a *app) close(ctx context.Context, args []string, reason string, asJSON bool) error {
	return a.withTranscript(ctx, "close", args, func(ctx context.Context, s *session, t sink.Summary) error {
		result := closed{Capture: t.Transcript.Identity.String()}
		if t.Status == schema.StatusOpen {
			frame, err := appendClose(ctx, s, t.Transcript.Identity, reason)
			if err != nil {
				return fmt.Errorf("close %s: %w", t.Transcript.Identity, err)
			}
			result.Frame, result.Added = frame, true
		}
		if asJSON {
			return a.out.json(result)
		}
		said := "closed %s\n"
		if !result.Added {
			said = "%s has ended already\n"
		}
		_, err := fmt.Fprintf(a.out, said, result.Capture)
		return err
	})
}

// appendClose stores a close frame as any other writer of the capture would, and waits until it is
// numbered.
func appendClose(ctx context.Context, s *session, id schema.Identity, reason string) (uint64, error) {
	target, err := s.target(ctx)
	if err != nil {
		return 0, err
	}
	payload, err := json.Marshal(schema.CloseInfo{Reason: reason})
	if err != nil {
		return 0, fmt.Errorf("write close frame: %w", err)
	}
	o := target.options
	o.Identity, o.Journal = id, "close-"+uuid.NewString()
	appender, err := publish.NewAppender(o)
	if err != nil {
		return 0, err
	}
	defer appender.Close()
	if err := appender.Append(ctx, []schema.Frame{{
		At: time.Now().UTC(), From: schema.FromControl, Type: schema.TypeClose, End: schema.EndNone, Data: payload,
		Writer: schema.Writer{Offset: 1},
	}}); err != nil {
		return 0, err
	}
	frame := appender.Head().Frames
	return frame, target.settled(ctx, id, frame, true)
}
