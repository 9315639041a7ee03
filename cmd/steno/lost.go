package main

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
)

// lost finds the captures of which the ledger has something and STENO_RAW has nothing: the last frame of a
// capture is never taken away, so the streams were wiped, or an older copy of them was put back.
func (s *session) lost(ctx context.Context) (lost []schema.Identity, err error) {
	fail := func(err error) ([]schema.Identity, error) {
		return nil, fmt.Errorf("look for the frames of what the ledger has: %w", err)
	}
	var known []schema.Identity // read before the streams, which are ahead
	for after := ""; ; {
		page, err := s.ledger.Captures(ctx, after, sink.MaxPage)
		if err != nil {
			return fail(err)
		}
		for _, c := range page {
			known = append(known, c.Capture.Capture)
		}
		if len(page) < sink.MaxPage {
			break
		}
		after = known[len(known)-1].String()
	}
	var there map[string]uint64 // messages, by subject
	err = s.patient(ctx, func() error {
		stream, err := s.js.Stream(ctx, topology.Raw)
		if err != nil {
			return err
		}
		info, err := stream.Info(ctx, jetstream.WithSubjectFilter(schema.RawSubjects))
		if err == nil {
			there = info.State.Subjects
		}
		return err
	})
	if err != nil {
		return fail(err)
	}
	for _, id := range known {
		if there[schema.RawSubject(id, s.info.Partitions)] == 0 {
			lost = append(lost, id)
		}
	}
	return lost, nil
}
