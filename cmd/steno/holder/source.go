package holder

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/steno-io/steno/ingest/filing"
	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// failingAfter is how long a journal's publisher fails, storing nothing, before that is said and
// waited for no longer.
const failingAfter = 5 * time.Second

// source is a journal that is being published.
type source struct {
	ended chan struct{} // closed when no more of it will be stored by this holder

	mu        sync.Mutex
	publisher Publisher // of the present try; nil before the first
	since     time.Time // of the first failure since something was stored
	head      uint64    // what was stored then
	said      string    // the failure that was said last
	failing   error     // set when it has failed for long, or for good
}

// now is the present try's publisher, or nil; and the error of a source that is waited for in vain.
func (s *source) now() (Publisher, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing != nil && s.stored() != s.head && !s.hopeless() {
		s.failing, s.since = nil, time.Time{} // it goes on
	}
	return s.publisher, s.failing
}

func (s *source) begin(p Publisher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.publisher = p
}

// stored grows with every frame that this try stores; s.mu is held.
func (s *source) stored() (frames uint64) {
	if s.publisher == nil {
		return 0
	}
	for _, head := range s.publisher.Captures() {
		frames += head
	}
	return frames
}

// hopeless reports whether it failed for good; s.mu is held.
func (s *source) hopeless() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// failed notes a failure that is tried again, and says it once when it lasts.
func (s *source) failed(err error, log zerolog.Logger) {
	s.mu.Lock()
	defer s.mu.Unlock()
	log.Debug().Err(err).Msg("publish journal; trying again")
	now := time.Now()
	if head := s.stored(); s.since.IsZero() || head > s.head {
		s.since, s.head, s.failing = now, head, nil
		return
	}
	if now.Sub(s.since) < failingAfter {
		return
	}
	s.failing = err
	if text := err.Error(); text != s.said {
		s.said = text
		log.Warn().Err(err).Dur("for", now.Sub(s.since)).Msg("journal does not get stored; trying on")
	}
}

// gaveUp notes a failure that no other try mends.
func (s *source) gaveUp(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing = err
	close(s.ended)
}

// publish stores one journal to its end, however often it takes. What can never be stored is reported
// and left to the operator; all before it is stored.
func (j *journals) publish(ctx context.Context, info journal.Info, mark journal.Mark, s *source) error {
	log := j.o.Log.With().Str("journal", info.ID).Logger()
	for wait := retryAfter; ; wait = min(2*wait, 30*time.Second) {
		err := j.once(ctx, info, mark, s)
		gone := journal.Gone(info.Path, err)
		switch {
		case err == nil, gone && j.mark(info.ID).Done: // another process has stored it, and it was deleted for want of room
			j.mu.Lock()
			defer j.mu.Unlock()
			close(s.ended)
			delete(j.active, info.ID)
			j.done[info.ID] = false
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case publish.Hopeless(err), gone:
			log.Error().Err(err).Msg("journal cannot be stored to its end; what stands before is stored")
			s.gaveUp(err) // it stays active: this holder does not take it up again
			return nil
		}
		s.failed(err, log)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

func (j *journals) once(ctx context.Context, info journal.Info, mark journal.Mark, s *source) (err error) {
	release, err := Claim(j.o.Dir, info.Head)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	reader, err := j.watch.Open(info.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	reader.Report(func(n journal.Notice) { j.o.Log.Error().Str("journal", info.ID).Msg(n.String()) })
	o := j.to
	if info.Head.Destination != "" {
		disconnect, err := j.elsewhere(ctx, info.Head.Destination, &o)
		if err != nil {
			return err
		}
		defer disconnect()
	}
	o.Source, o.Mark = reader, mark
	o.SaveMark = func(m journal.Mark) error { return journal.WriteMark(j.o.Dir.Journals(), info.ID, m) }
	log := j.o.Log.With().Str("journal", info.ID).Logger()
	o.Retry = func(err error) { s.failed(fmt.Errorf("publish journal %s: %w", info.ID, err), log) }
	o.Identified = func(final, asked schema.Identity) {
		if final != asked {
			j.o.Log.Warn().Stringer("capture", final).Stringer("asked", asked).Msg("attempt is taken; recording as the next one")
		}
	}
	o.Failed = func(id schema.Identity, err error) {
		log.Error().Err(err).Stringer("capture", id).Msg("capture takes no more frames; the others go on")
	}
	p := NewPublisher(o)
	s.begin(p)
	return p.Run(ctx)
}

// elsewhere connects to the NATS that a dead tap's journal goes to.
func (j *journals) elsewhere(ctx context.Context, destination string, o *filing.Options) (func(), error) {
	conn, err := j.o.Dial(destination)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", withoutSecrets(destination), err)
	}
	js, err := jetstream.New(conn)
	if err == nil {
		var info topology.Info
		if info, err = topology.Check(ctx, js); err == nil {
			o.JS, o.Partitions = js, info.Partitions
			o.Blobs, err = topology.OpenBlobs(ctx, js)
		}
		if err == nil {
			o.Filed, err = topology.OpenFiled(ctx, js)
		}
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn.Close, nil
}

func withoutSecrets(destination string) string {
	u, err := url.Parse(destination)
	if err != nil {
		return "NATS"
	}
	return u.Redacted()
}
