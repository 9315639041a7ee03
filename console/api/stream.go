package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// maxStreams bounds the streams that are open at a time. Each holds a connection, and what its client
// has not taken yet, within follow's bounds.
const maxStreams = 8192

// lastEventID is the header by which a browser says which event it had last.
const lastEventID = "Last-Event-ID"

// stream follows a transcript. Its end is told and does not end the stream, since later frames go on
// with it; with until=end it does.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) error {
	err := s.streamed(w, r)
	if err == nil || !isEventSource(r) {
		return err
	}
	known := s.refused(r, err)
	if known.status != http.StatusServiceUnavailable {
		return known
	}
	// A browser comes again after a stream that ended, and stays away for good after any other answer.
	begin(w)
	_, _ = w.Write(appendRetry(nil)) // its fault is the connection's
	return nil
}

// isEventSource reports whether a request is a browser's EventSource, or asks like one.
func isEventSource(r *http.Request) bool {
	return r.Header.Get(lastEventID) != "" || strings.Contains(strings.Join(r.Header.Values("Accept"), ","), eventStream)
}

const eventStream = "text/event-stream"

// begin begins an answer that is a stream.
func begin(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
}

// streamed is stream, whose error is told to clients of any kind; nothing is written then.
func (s *Server) streamed(w http.ResponseWriter, r *http.Request) error {
	q, err := readQuery(r, []string{"after", "last", "until"})
	if err != nil {
		return err
	}
	t, err := s.findSoon(r.Context(), r)
	if err != nil {
		return err
	}
	after := q.from(t.Head)
	if id := r.Header.Get(lastEventID); id != "" {
		after = q.parse(codeCursor, lastEventID, id)
	}
	until := q.text("until")
	if until != "" && until != "end" {
		q.refuse(codeParameter, "until %q: want end", until)
	}
	if err := q.err(); err != nil {
		return err
	}
	if until != "" && hasEnded(t) && after >= t.Head {
		w.WriteHeader(http.StatusNoContent) // a browser does not come again
		return nil
	}
	if s.streams.Add(1) > maxStreams {
		s.streams.Add(-1)
		return errStreams
	}
	defer s.streams.Add(-1)
	begin(w)
	if r.Method == http.MethodHead {
		return nil
	}
	s.run(r, newEventWriter(w, s.o.Stall), t.Transcript, after, until != "")
	return nil
}

func hasEnded(t sink.Summary) bool {
	return t.Status == schema.StatusEnded || t.Status == schema.StatusAbandoned
}

// run writes what a follower tells until the client goes, the server stops, or, with untilEnd, the
// transcript has ended. Whatever else ends it is logged: the client comes again with its cursor.
// Streams of one transcript share what they hear, ask and read.
func (s *Server) run(r *http.Request, w *eventWriter, key schema.Transcript, after uint64, untilEnd bool) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.stopped, cancel)()
	f, err := follow.New(follow.Options{Hub: s.hub, Transcript: key, After: after, Poll: s.o.Poll})
	if err == nil {
		written := make(chan error, 1)
		go func() {
			defer cancel()
			written <- w.run(ctx, s.o.Heartbeat)
		}()
		err = f.Run(ctx, func(i follow.Item) error {
			if err := w.item(i); err != nil {
				return err
			}
			if _, over := i.(*follow.End); over && untilEnd {
				return follow.ErrStop
			}
			return nil
		})
		cancel()
		if gone := <-written; gone != nil { // the client's fault, and follow's error then, too
			s.o.Log.Debug().Err(gone).Stringer("transcript", key).Msg("write a stream")
			return
		}
	}
	if err != nil {
		s.o.Log.Warn().Err(err).Stringer("transcript", key).Msg("stream a transcript")
	}
}
