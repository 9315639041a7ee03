package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
)

// parkedPage is how many captures of the ledger are read at once.
const parkedPage = 500

// parkedInLedger lists the captures that the ledger has parked; none where the command reads no ledger.
func (s *session) parkedInLedger(ctx context.Context) (parked []schema.Identity, err error) {
	if s.ledger == nil {
		return nil, nil
	}
	for after := ""; ; {
		var page []sink.CaptureInfo
		err := s.patient(ctx, func() (err error) {
			page, err = s.ledger.Captures(ctx, after, parkedPage)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, c := range page {
			if c.Parked != nil {
				parked = append(parked, c.Capture.Capture)
			}
		}
		if len(page) < parkedPage {
			return parked, nil
		}
		after = page[len(page)-1].Capture.Capture.String()
	}
}

// redriveRows has captures stored again that the ledger had parked, one after the other: each has its
// partition read from the first message.
func (s *session) redriveRows(ctx context.Context, parked []schema.Identity, say func(redriven) error) error {
	for _, id := range parked {
		result := redriven{Capture: id.String(), By: byLedger, Outcome: cameThrough}
		again, err := s.redriveRow(ctx, id)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			result.Outcome, result.Error = stillWaiting, err.Error()
		case err != nil:
			return err
		case again != nil:
			result.Outcome, result.Reason = parkedAgain, string(again.Reason)
			result.Error = fmt.Sprintf("number %d of session %d", again.Ordinal, again.Session)
			if again.Reason == sink.ReasonRefused { // else it holds an event
				result.Error, _, _ = strings.Cut(string(again.Got), "\n")
			}
		}
		if err := say(result); err != nil {
			return err
		}
	}
	return nil
}

// redriveRow asks for one, and waits until the ledger is at what the partition holds now, or has parked
// the capture again.
func (s *session) redriveRow(ctx context.Context, id schema.Identity) (again *sink.Parked, err error) {
	var end topology.Message
	if err := s.patient(ctx, func() (err error) {
		end, _, err = topology.Last(ctx, s.js, topology.Events, schema.EventSubject(id, s.info.Partitions))
		return err
	}); err != nil {
		return nil, err
	}
	var refused error
	for asked := false; ; {
		if !asked { // a sink that has just taken the partition does not listen yet
			asking, done := context.WithTimeout(ctx, openWithin)
			_, refused = sink.Redrive(asking, s.conn, id, s.info.Partitions)
			done()
			asked = refused == nil
		}
		if asked {
			var c sink.CaptureInfo
			var stats sink.Stats
			err := s.patient(ctx, func() (err error) { // the position first: who is parked at it is seen then
				if stats, err = s.ledger.Stats(ctx); err == nil {
					c, err = s.ledger.Capture(ctx, id)
				}
				return err
			})
			if err != nil || c.Parked != nil || stats.Positions[id.Partition(s.info.Partitions)].Seq >= end.Seq {
				return c.Parked, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), refused)
		case <-time.After(settleEvery):
		}
	}
}
