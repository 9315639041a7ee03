package main

import (
	"fmt"
	"io"
	"time"
)

// progress says on a terminal how long work goes on, on one line that it writes over.
type progress struct {
	out  io.Writer // nil: nobody watches
	last time.Time
	long bool // something stands on the line
}

// progressEvery keeps the line from flickering.
const progressEvery = 100 * time.Millisecond

func (a *app) progress() *progress {
	if a.isTerminal(a.err) {
		return &progress{out: a.err}
	}
	return &progress{}
}

func (p *progress) say(format string, args ...any) {
	if p.out == nil || time.Since(p.last) < progressEvery {
		return
	}
	p.last, p.long = time.Now(), true
	fmt.Fprintf(p.out, "\r\x1b[K"+format, args...)
}

func (p *progress) done() {
	if p.long {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.long = false
	}
}
