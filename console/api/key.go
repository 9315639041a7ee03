package api

import (
	"context"
	"net/http"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// find reads the transcript that a request's path names. Whatever keeps it from being there, or from
// being seen, is errNoTranscript. What is not served is looked for in a namespace that nothing is in: the
// answer takes as long as for what is nowhere.
func (s *Server) find(ctx context.Context, r *http.Request, from sink.Reader) (sink.Summary, error) {
	text := r.PathValue("namespace")
	for _, name := range []string{"workflow", "run", "activity", "attempt", "session"} {
		text += "/" + r.PathValue(name)
	}
	key, err := schema.ParseTranscript(text)
	if err != nil {
		return sink.Summary{}, errNoTranscript
	}
	served := s.serves(key.Namespace)
	if !served {
		key.Namespace = "" // which no key has
	}
	t, err := from.Transcript(ctx, key)
	if err == nil && !served {
		err = errNoTranscript
	}
	return t, err
}

// findSoon finds the transcript of a path within a page's time, for an answer that may take longer than one.
func (s *Server) findSoon(ctx context.Context, r *http.Request) (sink.Summary, error) {
	ctx, cancel := context.WithTimeout(ctx, pageWithin)
	defer cancel()
	return s.find(ctx, r, s.o.Ledger)
}
