package main

import (
	"context"
	"iter"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/verify"
)

// library is where captures stand with their events and their frames: a ledger and the streams, or an archive.
type library struct {
	verify.Ledger
	// frames gives a capture's frames from number first on, with their bytes.
	frames func(ctx context.Context, id schema.Identity, first uint64) iter.Seq2[schema.Frame, error]
}

// library is the session's.
func (s *session) library(ctx context.Context) (*library, error) {
	stored, err := s.stored(ctx)
	if err != nil {
		return nil, err
	}
	return &library{s.ledger, stored.Frames}, nil
}

// archiveLibrary is what an archive's seals say that is in it.
func archiveLibrary(ctx context.Context, store archive.Store) (*library, func(), error) {
	c, err := archive.Open(ctx, store, nil)
	if err != nil {
		return nil, nil, err
	}
	return &library{c, c.FramesOf}, c.Close, nil
}

// captures gives all captures of the library, in the order of their keys.
func (s *library) captures(ctx context.Context) iter.Seq2[sink.CaptureInfo, error] {
	return func(yield func(sink.CaptureInfo, error) bool) {
		const page = 1000
		for after := ""; ; {
			infos, err := s.Captures(ctx, after, page)
			if err != nil {
				yield(sink.CaptureInfo{}, err)
				return
			}
			for _, c := range infos {
				if !yield(c, nil) {
					return
				}
				after = c.Capture.Capture.String()
			}
			if len(infos) < page {
				return
			}
		}
	}
}
