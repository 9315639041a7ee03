package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
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
	t, err := s.o.Ledger.Transcript(ctx, key)
	if err != nil {
		return t, err
	}
	marked := []sink.Summary{t}
	err = s.markParked(ctx, marked)
	return marked[0], err
}

// markParked gives transcripts of captures that the translators have parked that status.
func (s *Server) markParked(ctx context.Context, list []sink.Summary) error {
	if len(list) == 0 {
		return nil
	}
	parked, err := s.o.Parked(ctx)
	if err != nil {
		return fmt.Errorf("list parked captures: %w", err)
	}
	for i := range list {
		if t := &list[i]; slices.Contains(parked, t.Transcript.Identity) {
			t.Status, t.IdleSince = schema.StatusParked, time.Time{}
		}
	}
	return nil
}
