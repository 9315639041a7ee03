package main

import (
	"context"
	"fmt"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// frameTimes tells when frames of a capture came. Most of them stand in events; the first one that does
// not makes it read the frames' headers, once.
type frameTimes struct {
	read  func() (map[uint64]time.Time, error)
	times map[uint64]time.Time
	err   error
}

func (s *session) frameTimes(ctx context.Context, id schema.Identity) *frameTimes {
	return &frameTimes{read: func() (map[uint64]time.Time, error) {
		times := map[uint64]time.Time{}
		first := uint64(0) // that the stream has
		for m, err := range topology.ReadHeaders(ctx, s.js, topology.Raw, schema.RawSubject(id, s.info.Partitions)) {
			if err != nil {
				return nil, err
			}
			f, err := schema.FrameFromHeader(m.Header, nil)
			if err != nil {
				return nil, fmt.Errorf("read frame of %s: %w", id, err)
			}
			if first == 0 {
				first = f.Seq
			}
			times[f.Seq] = f.At
		}
		if first <= 1 {
			return times, nil
		}
		stored, err := s.stored(ctx)
		if err != nil {
			return nil, err
		}
		for f, err := range stored.Between(ctx, id, 1, first-1) {
			if err != nil {
				return nil, err
			}
			times[f.Seq] = f.At
		}
		return times, nil
	}}
}

// at is the zero time for a frame that is not known.
func (f *frameTimes) at(frame uint64) time.Time {
	if f.times == nil && f.err == nil {
		f.times, f.err = f.read()
	}
	return f.times[frame]
}
