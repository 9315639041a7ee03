// Package bench measures steno beside what cannot be left out: each row's figure stands next to a
// ceiling that a plain loop reaches in the same run, on the same bytes. The load are real recordings.
package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// Row is one measured figure. Absent values are null.
type Row struct {
	Row     string   `json:"row"`
	Figure  float64  `json:"figure"`
	Unit    string   `json:"unit"`
	Ceiling *float64 `json:"ceiling"`
	Ratio   *float64 `json:"ratio"` // figure to ceiling, where higher is better
	Goal    *float64 `json:"goal"`  // in the row's unit
}

// Met reports whether the figure is what was aimed at.
func (r Row) Met() bool {
	switch {
	case r.Goal == nil:
		return true
	case r.Ratio == nil:
		return r.Figure <= *r.Goal
	}
	return r.Figure >= *r.Goal
}

// Recording is a bundled recording: the frames of one capture.
type Recording struct {
	Name     string
	Protocol schema.Protocol
	Frames   []schema.Frame
}

// Options of a run.
type Options struct {
	Catalogue *translate.Catalogue
	// Recordings are the load; the first one of ACP is the one that is repeated.
	Recordings []Recording
	// Ledger is a PostgreSQL database without a ledger, for the sink; empty: that row is left out.
	Ledger string
	// Tiny measures next to nothing: whether the rows run, not how fast.
	Tiny bool
	// Say hears what goes on.
	Say func(format string, args ...any)
}

// bench is one run.
type bench struct {
	Options
	size size
	emit func(Row) error
}

// rows are the measurements by name, in the order in which all runs them.
var rows = []struct {
	name string
	run  func(*bench, context.Context) error
}{
	{"translate", (*bench).translate},
	{"ingest", (*bench).ingest},
	{"commit", (*bench).commit},
	{"sink", (*bench).sink},
	{"live", (*bench).live},
	{"follow", (*bench).follow},
	{"verify", (*bench).verify},
	{"replay", (*bench).replay},
}

// Names are what Run takes, in order.
func Names() []string {
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	return names
}

// Run measures what name says and gives the rows as they are there. When ctx ends it ends in order and
// returns the cause.
func Run(ctx context.Context, o Options, name string, emit func(Row) error) error {
	b := &bench{Options: o, size: whole, emit: emit}
	if o.Tiny {
		b.size = tiny
	}
	for _, r := range rows {
		if r.name != name {
			continue
		}
		err := r.run(b, ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil && !errors.Is(err, ctx.Err()): // what the end looked like from the inside
			return context.Cause(ctx)
		}
		return fmt.Errorf("bench %s: %w", name, err)
	}
	return fmt.Errorf("bench: no row %q", name)
}

// higher gives a row of which more is better.
func (b *bench) higher(name, unit string, figure, ceiling, goal float64) error {
	r := Row{Row: name, Figure: figure, Unit: unit, Ceiling: &ceiling}
	ratio := figure / ceiling
	r.Ratio = &ratio
	if goal > 0 {
		r.Goal = &goal
	}
	return b.emit(r)
}

// lower gives a row of which less is better.
func (b *bench) lower(name, unit string, figure, ceiling, goal float64) error {
	r := Row{Row: name, Figure: figure, Unit: unit, Ceiling: &ceiling}
	if goal > 0 {
		r.Goal = &goal
	}
	return b.emit(r)
}
