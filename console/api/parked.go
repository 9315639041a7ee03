package api

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/steno-io/steno/schema"
)

const (
	// parkedFor is how long a list of parked captures is good for.
	parkedFor = time.Second
	// parkedWithin bounds how long one takes to be read.
	parkedWithin = 2 * time.Second
)

var errNotConnected = errors.New("NATS is not connected")

// parkedList keeps the list of parked captures for a moment: many may ask at once. Where it cannot be read
// the last one that was known goes on: lists come from the ledger, which answers without NATS.
type parkedList struct {
	connected func() bool
	list      func(context.Context) ([]schema.Identity, error)
	log       zerolog.Logger

	mu      sync.Mutex
	known   map[schema.Identity]bool // the last list; nil = none was read yet
	at      time.Time                // when it was asked for last
	reading *reading                 // by one of those who ask
}

// reading is a list that is being read. Its error may be read once done is closed.
type reading struct {
	done chan struct{}
	err  error
}

// now gives the captures that are parked. It waits for a list that somebody else reads only where none is
// known.
func (p *parkedList) now(ctx context.Context) (map[schema.Identity]bool, error) {
	p.mu.Lock()
	known, other := p.known, p.reading
	if known != nil && (other != nil || time.Since(p.at) < parkedFor) {
		p.mu.Unlock()
		return known, nil
	}
	if other != nil {
		p.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-other.done:
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.known, other.err
	}
	own := &reading{done: make(chan struct{})}
	p.reading = own
	p.mu.Unlock()

	read, err := p.read(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading, p.at = nil, time.Now()
	switch {
	case err == nil:
		p.known = read
	case p.known != nil:
		p.log.Warn().Err(err).Msg("go on with the last list of parked captures")
	default:
		own.err = err
	}
	close(own.done)
	return p.known, own.err
}

// read goes on without the client that asked first: others may wait for it.
func (p *parkedList) read(ctx context.Context) (map[schema.Identity]bool, error) {
	if !p.connected() {
		return nil, fmt.Errorf("list parked captures: %w", errNotConnected)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), parkedWithin)
	defer cancel()
	list, err := p.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("list parked captures: %w", err)
	}
	known := make(map[schema.Identity]bool, len(list))
	for _, id := range list {
		known[id] = true
	}
	return known, nil
}
