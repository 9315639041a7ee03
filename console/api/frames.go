package api

import (
	"context"
	"iter"
	"net/http"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/capturefile"
)

// Frames is where captures' frames are read from; see topology.Frames.
type Frames interface {
	// Frames gives a capture's frames from number first on, in order, each with its bytes.
	Frames(ctx context.Context, id schema.Identity, first uint64) iter.Seq2[schema.Frame, error]
	// Head is the number of the capture's last frame, 0 if there is none.
	Head(ctx context.Context, id schema.Identity) (uint64, error)
}

// framesOf gives frames of the transcript's capture, which are those of all its sessions.
func (s *Server) framesOf(ctx context.Context, r *http.Request) ([]byte, error) {
	q, err := readQuery(r, pageNames)
	if err != nil {
		return nil, err
	}
	t, err := s.find(ctx, r, s.o.Ledger)
	if err != nil {
		return nil, err
	}
	id := t.Transcript.Identity
	head, err := s.o.Frames.Head(ctx, id)
	if err != nil {
		return nil, err
	}
	page := newEntries("frames", q.from(head), q.limit(usualEntries, maxEntries))
	if err := q.err(); err != nil {
		return nil, err
	}
	if page.after < head {
		err = s.fill(ctx, id, t.Protocol, page)
	}
	return page.close(head), err
}

// fill fills the page with the frames behind its beginning.
func (s *Server) fill(ctx context.Context, id schema.Identity, protocol schema.Protocol, page *entries) error {
	var line []byte
	for frame, err := range s.o.Frames.Frames(ctx, id, page.after+1) {
		if err != nil {
			return err
		}
		frame.Protocol = protocol // a page stands by itself
		if line, err = capturefile.AppendLine(line[:0], &frame); err != nil {
			return err
		}
		if !page.add(frame.Seq, line[:len(line)-1]) {
			return nil
		}
	}
	return nil
}
