package api

import (
	"context"
	"net/http"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/schema/wire/capturefile"
)

// frames reads captures' frames from STENO_RAW.
type frames struct {
	js         jetstream.JetStream
	blobs      *topology.Blobs
	partitions uint32
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
	subject := schema.RawSubject(t.Transcript.Identity, s.frames.partitions)
	last, stored, err := topology.Last(ctx, s.frames.js, topology.Raw, subject)
	if err != nil {
		return nil, err
	}
	head := uint64(0)
	if stored {
		f, err := schema.FrameFromHeader(last.Header, nil)
		if err != nil {
			return nil, err
		}
		head = f.Seq
	}
	page := newEntries("frames", q.from(head), q.limit(usualEntries, maxEntries))
	if err := q.err(); err != nil {
		return nil, err
	}
	if page.after < head {
		err = s.frames.read(ctx, subject, t.Protocol, page)
	}
	return page.close(head), err
}

// read fills the page with the frames behind its beginning.
func (f *frames) read(ctx context.Context, subject string, protocol schema.Protocol, page *entries) error {
	from, ok, err := f.find(ctx, subject, page.after+1)
	if err != nil || !ok {
		return err
	}
	var line []byte
	for m, err := range topology.Read(ctx, f.js, topology.Raw, subject, from) {
		if err != nil {
			return err
		}
		frame, _, err := f.blobs.Frame(ctx, m)
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

// find gives the stream sequence of the first frame with that number or a higher one.
func (f *frames) find(ctx context.Context, subject string, number uint64) (seq uint64, ok bool, err error) {
	if number == 1 {
		return 1, true, nil
	}
	return topology.Seek(ctx, f.js, topology.Raw, subject, func(m topology.Message) (bool, error) {
		frame, err := schema.FrameFromHeader(m.Header, nil)
		return frame.Seq >= number, err
	})
}
