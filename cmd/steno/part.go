package main

import (
	"context"
	"fmt"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/verify"
)

// part is some of the captures of a ledger and its streams. The nil part is all of them.
type part struct {
	name     string // for people
	captures map[schema.Identity]bool
}

func (p *part) has(id schema.Identity) bool { return p == nil || p.captures[id] }

// one is the capture that a part consists of; zero: there are others, or none.
func (p *part) one() schema.Identity {
	if p != nil && len(p.captures) == 1 {
		for id := range p.captures {
			return id
		}
	}
	return schema.Identity{}
}

// part gives the capture that KEY names, or the captures with something since a time.
func (s *session) part(ctx context.Context, key []string, since time.Time) (*part, error) {
	if len(key) > 0 {
		id, err := s.captureOf(ctx, key)
		if err != nil {
			return nil, err
		}
		return &part{"capture " + id.String(), map[schema.Identity]bool{id: true}}, nil
	}
	p := &part{captures: map[schema.Identity]bool{}}
	frames := verify.Stream{JS: s.js, Partitions: s.info.Partitions}
	all := 0
	if err := s.patient(ctx, func() error {
		all = 0
		return s.lasts(ctx, frames, func(id schema.Identity, f *schema.Frame) {
			all++
			if f == nil || !f.At.Before(since) { // when it was said is not known, or late enough
				p.captures[id] = true
			}
		})
	}); err != nil {
		return nil, err
	}
	for t, err := range sink.Each(ctx, s.ledger, sink.Query{Filter: sink.Filter{Since: since}}) { // also of what has no frames any more
		if err != nil {
			return nil, err
		}
		p.captures[t.Transcript.Identity] = true
	}
	p.name = fmt.Sprintf("%d of %s: since %s", len(p.captures), plural(max(all, len(p.captures)), "capture"), since.Format(time.RFC3339))
	return p, nil
}

// captureOf is the capture of the transcript that KEY names. The ledger may have nothing of it, if it is written out.
func (s *session) captureOf(ctx context.Context, key []string) (schema.Identity, error) {
	t, err := find(ctx, s.ledger, key)
	if err == nil {
		return t.Transcript.Identity, nil
	}
	id, parsed := schema.ParseIdentity(key[0])
	if parsed != nil {
		var whole schema.Transcript
		if whole, parsed = schema.ParseTranscript(key[0]); parsed != nil {
			return id, err
		}
		id = whole.Identity
	}
	_, there, lastErr := topology.Last(ctx, s.js, topology.Raw, schema.RawSubject(id, s.info.Partitions))
	if lastErr != nil {
		return id, lastErr
	}
	if !there {
		return id, err
	}
	return id, nil
}
