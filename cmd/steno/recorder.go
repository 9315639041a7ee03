package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/ingest/proxy"
)

// recorder gives the proxy the journal of each exchange.
type recorder struct {
	app    *app
	series *journal.Series
	pass   bool
}

// Begin implements proxy.Journals.
func (r *recorder) Begin(ctx context.Context) (proxy.Journal, func(), error) {
	w, end, err := r.series.Begin(ctx)
	if err == nil {
		return w, end, nil
	}
	if r.pass && ctx.Err() == nil && !errors.Is(err, journal.ErrClosed) {
		fmt.Fprintln(r.app.err, "steno proxy: NOT RECORDING:", err)
		return nil, nil, nil
	}
	return nil, nil, err
}

// try finds out at the start whether anything can be recorded.
func (r *recorder) try(ctx context.Context) error {
	_, end, err := r.Begin(ctx)
	if end != nil {
		end()
	}
	return err
}
