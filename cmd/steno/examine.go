package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/lease"
)

// examine implements site: who holds the directory, and what of its journals has not come through.
func (d *directory) examine(ctx context.Context, s *session, h *health) error {
	h.Data = string(d.dir)
	if address, err := d.dir.ReadAddress(); err == nil && d.holding() == nil {
		h.Holder = &address
	}
	for _, what := range s.unstored {
		h.problem("not come through: %s", what)
	}
	return h.journals(ctx, s, d.dir)
}

// examine implements site: which partitions nobody translates, in which frames wait, and of which the
// ledger is behind. A worker that just begins has a few seconds.
func (c *cluster) examine(ctx context.Context, _ *session, h *health) error {
	h.NATS, h.Database = c.nats, c.database
	for until := time.Now().Add(lagPatience); ; {
		var problems []string
		err := c.patient(ctx, func() (err error) {
			problems, err = c.problems(ctx)
			return err
		})
		if err != nil {
			return err
		}
		if len(problems) == 0 || time.Now().After(until) {
			h.Problems = append(h.Problems, problems...)
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (c *cluster) problems(ctx context.Context) (problems []string, err error) {
	owners, err := lease.Owners(ctx, c.streams.js)
	if err != nil {
		return nil, err
	}
	stats, err := c.ledger.Stats(ctx)
	if err != nil {
		return nil, err
	}
	var free, behind, waiting []uint32
	why := ""
	for p := range c.streams.info.Partitions {
		if owners[p] == "" {
			free = append(free, p)
		}
		last, ok, err := topology.Last(ctx, c.streams.js, topology.Events, schema.EventPartition(p))
		if err != nil {
			return nil, err
		}
		at := stats.Positions[p]
		if ok && (at.Seq < last.Seq || !at.Created.Equal(c.streams.info.Created[topology.Events])) {
			behind = append(behind, p)
		} else if owners[p] != "" {
			left, err := c.waiting(ctx, p)
			if err != nil {
				return nil, err
			}
			if left != "" {
				waiting, why = append(waiting, p), left
			}
		}
	}
	if len(free) > 0 {
		problems = append(problems, fmt.Sprintf("no translator has %s (%s): is a steno worker translate running?",
			plural(len(free), "partition"), ranges(free)))
	}
	if len(behind) > 0 {
		problems = append(problems, fmt.Sprintf("the ledger has not taken all records of %s (%s): is a steno worker sink running?",
			plural(len(behind), "partition"), ranges(behind)))
	}
	if len(waiting) > 0 {
		problems = append(problems, fmt.Sprintf("frames of %s (%s) wait: %s", plural(len(waiting), "partition"), ranges(waiting), why))
	}
	return problems, nil
}

// waiting says why the partition's last frame is not numbered; empty if it is, or is parked. A lease says
// who should translate it, not that anybody does.
func (c *cluster) waiting(ctx context.Context, partition uint32) (string, error) {
	m, ok, err := topology.Last(ctx, c.streams.js, topology.Raw, schema.RawPartition(partition))
	if err != nil || !ok {
		return "", err
	}
	_, id, err := schema.ParseSubject(m.Subject)
	if err != nil {
		return "", err
	}
	frame, err := strconv.ParseUint(m.Header.Get(schema.HeaderSeq), 10, 64)
	if err != nil {
		return "", nil // whoever folds it parks it
	}
	left, err := c.left(ctx, id, frame)
	if errors.Is(err, holder.ErrParked) { // those are listed
		return "", nil
	}
	return left, err
}

// ranges writes ascending numbers, those in a row as first-last.
func ranges(numbers []uint32) string {
	var parts []string
	for len(numbers) > 0 {
		n := 1
		for n < len(numbers) && numbers[n] == numbers[0]+uint32(n) {
			n++
		}
		text := strconv.FormatUint(uint64(numbers[0]), 10)
		if n > 1 {
			text += "-" + strconv.FormatUint(uint64(numbers[n-1]), 10)
		}
		parts, numbers = append(parts, text), numbers[n:]
	}
	return strings.Join(parts, ", ")
}
