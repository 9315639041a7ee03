package main

import (
	"fmt"
	"io"
	"time"
)

// When a command says why it waits, and how often it says it again.
const (
	sayWaitAfter = 3 * time.Second
	sayWaitEvery = 30 * time.Second
)

// waiting says why a command waits, once that has taken a while.
type waiting struct {
	out         io.Writer
	since, said time.Time
}

func (w *waiting) on(format string, args ...any) {
	now := time.Now()
	if w.since.IsZero() {
		w.since = now
	}
	if now.Sub(w.since) < sayWaitAfter || now.Sub(w.said) < sayWaitEvery {
		return
	}
	w.said = now
	fmt.Fprintf(w.out, "steno: "+format+"\n", args...)
}

// over ends the wait.
func (w *waiting) over() { w.since, w.said = time.Time{}, time.Time{} }
