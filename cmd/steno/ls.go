package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/translate/stage"
)

func (a *app) lsCommand() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List transcripts, the newest first",
		Long: `ls lists the transcripts of the data directory. The readable list leaves out the
connections themselves (session 0 of ACP) and sessions without a message, unless
--all is given; --json has all of them, one object a line.`,
		Example: `  steno ls
  steno ls --json | jq -r 'select(.status=="open").key'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.ls(cmd.Context(), asJSON, all) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a transcript")
	cmd.Flags().BoolVar(&all, "all", false, "list connections and empty sessions too")
	return cmd
}

func (a *app) ls(ctx context.Context, asJSON, all bool) error {
	s, ctx, err := a.open(ctx, "ls")
	if err != nil {
		return err
	}
	parked, err := parkedCaptures(ctx, s)
	if err == nil {
		err = a.list(ctx, s.ledger, parked, asJSON, all)
	}
	return errors.Join(why(ctx, err), s.close())
}

// parkedCaptures are the captures that the stage has parked; the ledger knows only of its own.
func parkedCaptures(ctx context.Context, s *session) (map[schema.Identity]bool, error) {
	list, err := stage.ListParked(ctx, s.js)
	if err != nil {
		return nil, err
	}
	parked := map[schema.Identity]bool{}
	for _, p := range list {
		parked[p.Identity] = true
	}
	return parked, nil
}

func (a *app) list(ctx context.Context, r sink.Reader, parked map[schema.Identity]bool, asJSON, all bool) error {
	out := json.NewEncoder(a.out)
	out.SetEscapeHTML(false)
	var listed []sink.Summary
	left := 0
	for t, err := range sink.All(ctx, r) {
		if parked[t.Transcript.Identity] {
			t.Status = schema.StatusParked
		}
		switch {
		case err != nil:
			return err
		case asJSON:
			if err := out.Encode(t); err != nil {
				return err
			}
		case all || isListed(t):
			listed = append(listed, t)
		default:
			left++
		}
	}
	if asJSON {
		return nil
	}
	if err := render.List(a.out, render.Options{Colour: a.colour(), Width: a.width()}, time.Now(), listed); err != nil {
		return err
	}
	if left > 0 {
		fmt.Fprintf(a.err, "%d without a message left out (--all lists them)\n", left)
	}
	if len(parked) > 0 {
		fmt.Fprintf(a.err, "%d captures are parked (steno doctor says why)\n", len(parked))
	}
	return nil
}
