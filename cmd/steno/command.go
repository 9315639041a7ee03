package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/sink"
)

// inSession opens what a command works with, does its work, and gives all back.
func (a *app) inSession(ctx context.Context, name string, do func(context.Context, *session) error) error {
	s, ctx, err := a.open(ctx, name)
	if err != nil {
		return err
	}
	return errors.Join(why(ctx, do(ctx, s)), s.close())
}

// withTranscript is inSession for commands that work on one transcript, which args name.
func (a *app) withTranscript(ctx context.Context, name string, args []string, do func(context.Context, *session, sink.Summary) error) error {
	return a.inSession(ctx, name, func(ctx context.Context, s *session) error {
		parked, err := s.parked(ctx)
		if err != nil {
			return err
		}
		t, err := find(ctx, s.view(parked), args)
		if err != nil {
			return err
		}
		return do(ctx, s, t)
	})
}

// atLeastOne refuses a command without arguments, saying what is missing.
func atLeastOne(missing string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return errors.New(missing)
		}
		return nil
	}
}

// onlyOne refuses a command without exactly one argument, saying what is missing.
func onlyOne(missing string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return errors.New(missing)
		}
		return cobra.ExactArgs(1)(cmd, args)
	}
}

// plural writes a number with its noun.
func plural[N ~int | ~int64 | ~uint32 | ~uint64](n N, noun string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// pluralIs is plural with its verb.
func pluralIs[N ~int | ~int64 | ~uint32 | ~uint64](n N, noun string) string {
	if n == 1 {
		return plural(n, noun) + " is"
	}
	return plural(n, noun) + " are"
}

// wrapped breaks a text at its spaces so that no line but one of a single long word passes the width
// in characters, indent not counted, with which the lines behind the first begin.
func wrapped(text string, width int, indent string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case column+1+n > width:
			b.WriteString("\n" + indent)
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
