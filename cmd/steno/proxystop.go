package main

import (
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/steno-io/steno/ingest/proxy"
)

// stopProxy waits for signals until over: the first one stops serving, and lets exchanges run on for the
// grace; the second one cuts them off.
func (a *app) stopProxy(signals chan os.Signal, over <-chan struct{}, p *proxy.Proxy, grace time.Duration, stop, cut func()) {
	select {
	case <-signals:
	case <-over:
		return
	}
	switch n := p.Running(); {
	case n > 0 && grace == 0:
		fmt.Fprintf(a.err, "steno proxy: stopping: %s cut off\n", pluralIs(n, "exchange"))
	case n == 1:
		fmt.Fprintf(a.err, "steno proxy: stopping: 1 exchange runs on, up to %s; a second signal stops at once\n", grace)
	case n > 1:
		fmt.Fprintf(a.err, "steno proxy: stopping: %d exchanges run on, up to %s; a second signal stops at once\n", n, grace)
	}
	stop()
	select {
	case <-signals:
		signal.Stop(signals) // the next one ends the process
		p.Hurry()
		cut()
	case <-over:
	}
}
