package api

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// find gives the transcript that a request's path names. Whatever keeps it from being there, or from
// being seen, is errNoTranscript.
func (s *Server) find(ctx context.Context, r *http.Request) (sink.Summary, error) {
	text := r.PathValue("namespace")
	for _, name := range []string{"workflow", "run", "activity", "attempt", "session"} {
		text += "/" + r.PathValue(name)
	}
	key, err := schema.ParseTranscript(text)
	if err != nil || !s.serves(key.Namespace) {
		return sink.Summary{}, errNoTranscript
	}
	return s.o.Ledger.Transcript(ctx, key)
}

// markParked gives transcripts of captures that the translators have parked that status.
func (s *Server) markParked(ctx context.Context, list []sink.Summary) error {
	parked, err := s.parked.now(ctx)
	if err != nil {
		return err
	}
	for i := range list {
		if t := &list[i]; parked[t.Transcript.Identity] {
			t.Status, t.IdleSince = schema.StatusParked, time.Time{}
		}
	}
	return nil
}

// parkedFor is how long a list of parked captures is good for.
const parkedFor = time.Second

// parked keeps the list of parked captures for a moment: many may ask at once.
type parked struct {
	list func(context.Context) ([]schema.Identity, error)

	mu    sync.Mutex
	known map[schema.Identity]bool
	at    time.Time
}

func (p *parked) now(ctx context.Context) (map[schema.Identity]bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known != nil && time.Since(p.at) < parkedFor {
		return p.known, nil
	}
	at := time.Now()
	list, err := p.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("list parked captures: %w", err)
	}
	p.known, p.at = make(map[schema.Identity]bool, len(list)), at
	for _, id := range list {
		p.known[id] = true
	}
	return p.known, nil
}
