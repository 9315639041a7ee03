package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/ingest/proxy"
	"github.com/steno-io/steno/schema"
)

// recorder gives the proxy the journal of each exchange. Where exchanges may pass unrecorded it counts
// those that do, and says so once, and once more when it records again.
type recorder struct {
	app    *app
	series *journal.Series
	pass   bool

	mu     sync.Mutex
	cause  error  // why there is no journal; nil: there is one
	passed uint64 // exchanges since then
}

// Begin implements proxy.Journals.
func (r *recorder) Begin(ctx context.Context) (proxy.Journal, func(), error) {
	w, end, err := r.begin(ctx)
	if err != nil {
		return nil, nil, err
	}
	if w == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.passed++
		return nil, nil, nil
	}
	return w, end, nil
}

// begin gives no journal and no error where the exchange may pass.
func (r *recorder) begin(ctx context.Context) (*journal.Writer, func(), error) {
	w, end, err := r.series.Begin(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.resume(ctx, w)
		return w, end, nil
	case !r.pass || ctx.Err() != nil || errors.Is(err, journal.ErrClosed):
		return nil, nil, err
	case r.cause == nil:
		fmt.Fprintln(r.app.err, "steno proxy: NOT RECORDING:", err)
	}
	r.cause = err
	return nil, nil, nil
}

// resume leaves word in a journal of what passed before there was one; r.mu is held. No exchange is
// named: it may concern any conversation.
func (r *recorder) resume(ctx context.Context, w *journal.Writer) {
	if r.cause == nil {
		return
	}
	if r.passed > 0 {
		gap := schema.GapInfo{Reason: r.cause.Error(), Chunks: r.passed}
		if err := w.Control(context.WithoutCancel(ctx), schema.TypeGap, time.Now(), gap); err != nil {
			return // the next one tries
		}
	}
	fmt.Fprintf(r.app.err, "steno proxy: recording again; %s passed unrecorded\n", plural(r.passed, "exchange"))
	r.cause, r.passed = nil, 0
}

// try finds out at the start whether anything can be recorded.
func (r *recorder) try(ctx context.Context) error {
	_, end, err := r.begin(ctx)
	if end != nil {
		end()
	}
	return err
}

// settle leaves word at the end of what passed unrecorded, in a journal if there is one to be had.
func (r *recorder) settle(ctx context.Context) {
	if r.passed == 0 {
		return
	}
	if err := r.try(ctx); err != nil || r.cause != nil {
		fmt.Fprintf(r.app.err, "steno proxy: %s passed unrecorded, and no journal says so\n", plural(r.passed, "exchange"))
	}
}
