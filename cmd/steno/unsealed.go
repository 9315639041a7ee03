package main

import (
	"context"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
)

// archiveHealth is how much of a ledger is sealed.
type archiveHealth struct {
	Place    string `json:"place"`
	Captures uint64 `json:"captures"`        // that have events
	Unsealed uint64 `json:"unsealed"`        // of which nothing is sealed
	Behind   uint64 `json:"behind"`          // of which the last events are not
	Frames   uint64 `json:"frames_unsealed"` // of both
}

// archived counts what of the ledger is sealed in an archive.
func (s *session) archived(ctx context.Context, place string) (*archiveHealth, error) {
	store, _, err := openArchive(ctx, place)
	if err != nil {
		return nil, err
	}
	h := &archiveHealth{Place: place}
	for after := ""; ; {
		infos, err := s.ledger.Captures(ctx, after, sink.MaxPage)
		if err != nil {
			return nil, err
		}
		for _, c := range infos {
			after = c.Capture.Capture.String()
			if c.Last.Frame == 0 {
				continue
			}
			h.Captures++
			last, err := (archive.Archived{Store: store}).Last(ctx, c.Capture.Capture)
			switch {
			case err != nil:
				return nil, err
			case last == nil:
				h.Unsealed++
				h.Frames += c.Last.Frame
			case last.Last < c.Last.Frame:
				h.Behind++
				h.Frames += c.Last.Frame - last.Last
			}
		}
		if len(infos) < sink.MaxPage {
			return h, nil
		}
	}
}

// sealedIn tells of a capture which frame is its last that is sealed, as api.Options wants it: in the archive of that
// name, or else in the one that the capture was given back to.
func (s *session) sealedIn(place string) func(ctx context.Context, id schema.Identity) (uint64, bool, error) {
	return func(ctx context.Context, id schema.Identity) (uint64, bool, error) {
		at := place
		if at == "" {
			returned, err := topology.ReadReturned(ctx, s.js, id)
			if err != nil || returned.Archive == "" {
				return 0, false, err
			}
			at = returned.Archive
		}
		store, err := s.archives.at(ctx, at)
		if err != nil {
			return 0, false, err
		}
		last, err := (archive.Archived{Store: store}).Last(ctx, id)
		if err != nil || last == nil {
			return 0, err == nil, err
		}
		return last.Last, true, nil
	}
}

// printArchive says it in a line.
func (h *health) printArchive(say func(label, format string, args ...any)) {
	a := h.Archive
	switch {
	case a == nil:
	case a.Frames == 0:
		say("archive", "%s: all of %s is sealed", a.Place, plural(a.Captures, "capture"))
	default:
		say("archive", "%s: of %s, %d not sealed and %d behind: %s", a.Place, plural(a.Captures, "capture"), a.Unsealed, a.Behind, plural(a.Frames, "frame"))
	}
}
