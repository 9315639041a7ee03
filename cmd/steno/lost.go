package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
)

// lostFrames is a capture of which STENO_RAW has fewer frames than the ledger covers.
type lostFrames struct {
	capture schema.Identity
	ledger  uint64 // frame up to which the ledger has it
	last    uint64 // the last one that is left; 0: none is
}

// lost finds the captures of which the ledger has something that STENO_RAW does not have: the last frame of a
// capture is never taken away, so the streams were wiped, or an older copy of them was put back. Of one that is parked at
// its first record the ledger covers no frame, and there is one all the same. It also gives those that are parked in the
// ledger.
func (s *session) lost(ctx context.Context) (lost []lostFrames, parked []sink.Parked, err error) {
	fail := func(err error) ([]lostFrames, []sink.Parked, error) {
		return nil, nil, fmt.Errorf("look for the frames of what the ledger has: %w", err)
	}
	var known []lostFrames // read before the streams, which are ahead
	for after := ""; ; {
		page, err := s.ledger.Captures(ctx, after, sink.MaxPage)
		if err != nil {
			return fail(err)
		}
		for _, c := range page {
			known = append(known, lostFrames{capture: c.Capture.Capture, ledger: c.Last.Frame})
			after = c.Capture.Capture.String()
			if c.Parked != nil {
				parked = append(parked, *c.Parked)
			}
		}
		if len(page) < sink.MaxPage {
			break
		}
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
	for _, c := range known {
		messages := there[schema.RawSubject(c.capture, s.info.Partitions)]
		if messages > 0 && messages >= c.ledger {
			continue // frames stand there once, and without gaps
		}
		if messages > 0 { // some were given back, or some are lost
			if c.last, err = s.lastFrame(ctx, c.capture); err != nil {
				return fail(err)
			}
		}
		if c.last < max(c.ledger, 1) {
			lost = append(lost, c)
		}
	}
	return lost, parked, nil
}

// lastFrame is the number of a capture's last frame; where it cannot be told it is the highest there is: verify says
// what is wrong with it.
func (s *session) lastFrame(ctx context.Context, id schema.Identity) (uint64, error) {
	var m topology.Message
	var there bool
	err := s.patient(ctx, func() (err error) {
		m, there, err = topology.Last(ctx, s.js, topology.Raw, schema.RawSubject(id, s.info.Partitions))
		return err
	})
	if err != nil || !there {
		return 0, err
	}
	f, err := schema.FrameFromHeader(m.Header, nil)
	if err != nil {
		return math.MaxUint64, nil
	}
	return f.Seq, nil
}

// mostNamed is how many of several are named.
const mostNamed = 3

// parked says which captures the sink has parked.
func (h *health) parked(all []sink.Parked) {
	var which []string
	for _, p := range all {
		where := fmt.Sprintf("event %d of session %d", p.Ordinal, p.Session)
		if p.Reason == sink.ReasonRefused {
			where = fmt.Sprintf("record %d", p.Seq)
		}
		which = append(which, fmt.Sprintf("%s at %s: %s", p.Capture, where, p.Reason))
	}
	if n := len(which); n > 0 {
		h.problem("%s parked in the ledger (%s%s); steno verify KEY says what does not fit, steno redrive KEY has it stored again",
			pluralIs(n, "capture"), strings.Join(which[:min(n, mostNamed)], "; "), andMore(max(0, n-mostNamed)))
	}
}

// lost says what the streams have lost.
func (h *health) lost(all []lostFrames) {
	var gone, tails []string
	for _, c := range all {
		if c.last == 0 {
			gone = append(gone, c.capture.String())
		} else {
			tails = append(tails, fmt.Sprintf("%s: the last is frame %d, the ledger goes up to frame %d", c.capture, c.last, c.ledger))
		}
	}
	if n := len(gone); n > 0 {
		h.problem("%s has no frame of %s that the ledger has (%s%s): the streams were wiped, or are an older copy; what is numbered stays, and cannot be proved",
			topology.Raw, plural(n, "capture"), gone[0], andMore(n-1))
	}
	if n := len(tails); n > 0 {
		h.problem("%s has lost the last frames of %s (%s%s): the streams are an older copy; what is numbered stays, and its end cannot be proved",
			topology.Raw, plural(n, "capture"), strings.Join(tails[:min(n, mostNamed)], "; "), andMore(max(0, n-mostNamed)))
	}
}
