package proof

import (
	"context"
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/verify"
	"github.com/steno-io/steno/translate"
)

// maxFindings is how many differences are kept; the others are counted.
const maxFindings = 20

// Source is where captures' frames and events are, and what folds them. It is safe for concurrent use. All of it is
// needed.
type Source struct {
	// Stream has the frames; Of is not looked at.
	Stream    verify.Stream
	Ledger    verify.Ledger
	Catalogue *translate.Catalogue
}

// Prove folds a capture's frames from the first one, and compares each event that the ledger has as of the call,
// byte for byte. It reads this capture alone, and ends when ctx does. What the ledger does not have yet is lag:
// then the report's head has more raw frames than folded ones. What does not agree is a finding, and so are frames that
// are missing, and an archive that is damaged; an error means that something could not be read.
func (s *Source) Prove(ctx context.Context, id schema.Identity) (verify.Report, error) {
	stream := s.Stream
	stream.Of = id
	back := &returned{js: stream.JS, read: stream.Returned}
	if stream.Returned != nil {
		stream.Returned = back.frames
	}
	report, err := verify.Run(ctx, verify.Options{
		Frames: stream, Ledger: one{s.Ledger, id}, NewFold: Folds(s.Catalogue), MaxFindings: maxFindings,
	})
	if err == nil && back.away != nil {
		return verify.Report{}, fmt.Errorf("prove %s: %w", id, back.away)
	}
	return report, err
}

// Stand is how far a capture has come: while it is the same one, nothing was added to the capture.
type Stand struct {
	Frame  uint64        // the last one there is
	Stored schema.Origin // of the ledger's last event
	Events uint64        // that the ledger has
	Parked bool          // in the ledger
}

// Stand tells how far a capture has come. It reads a few messages and rows.
func (s *Source) Stand(ctx context.Context, id schema.Identity) (at Stand, err error) {
	fail := func(err error) (Stand, error) { return Stand{}, fmt.Errorf("look how far %s is: %w", id, err) }
	info, err := s.Ledger.Capture(ctx, id)
	if err != nil && !errors.Is(err, sink.ErrNotFound) {
		return fail(err)
	}
	at.Stored, at.Parked = info.Last, info.Parked != nil
	for _, session := range info.Sessions {
		at.Events += session.Head
	}
	frames := topology.Frames{JS: s.Stream.JS, Blobs: s.Stream.Blobs, Partitions: s.Stream.Partitions}
	if at.Frame, err = frames.Head(ctx, id); err != nil {
		return fail(err)
	}
	return at, nil
}

// one is a ledger of which one capture is wanted: what is in the others need not be read.
type one struct {
	verify.Ledger
	id schema.Identity
}

// Captures implements verify.Ledger.
func (l one) Captures(ctx context.Context, after string, _ int) ([]sink.CaptureInfo, error) {
	if after != "" {
		return nil, nil
	}
	info, err := l.Capture(ctx, l.id)
	if errors.Is(err, sink.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []sink.CaptureInfo{info}, nil
}
