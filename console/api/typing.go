package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/steno-io/steno/console/refold"
	"github.com/steno-io/steno/console/typing"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/translate"
)

// maxFolds bounds how many captures are folded at a time.
const maxFolds = 2

// Folder folds a capture's stored frames again; refold.Source has the promise.
type Folder interface {
	Fold(ctx context.Context, id schema.Identity, each func(e *schema.Event) bool) (*translate.Capture, error)
}

// typing tells when the pieces of a transcript's messages came: a line for each message as its end is
// met in the frames, then one for each that is open, then the end.
func (s *Server) typing(w http.ResponseWriter, r *http.Request) error {
	q, err := readQuery(r, []string{"after"})
	if err != nil {
		return err
	}
	after, _ := q.number(codeCursor, "after")
	if err := q.err(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.stopped, cancel)()
	t, err := s.findSoon(ctx, r)
	if err != nil {
		return err
	}
	if r.Method != http.MethodHead {
		select {
		case s.folds <- struct{}{}:
			defer func() { <-s.folds }()
		default:
			return errFolds
		}
	}
	h := w.Header()
	h.Set("Content-Type", "application/x-ndjson")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	lines := &lineWriter{w: w, control: http.NewResponseController(w), left: s.o.Stall}
	if err := s.typed(ctx, lines, t.Transcript, after); err != nil && lines.err == nil {
		known := s.unfoldable(r, err)
		lines.line(appendError(nil, known))
	}
	lines.flush()
	if lines.err != nil {
		s.o.Log.Debug().Err(lines.err).Str("path", r.URL.Path).Msg("write lines")
	}
	return nil
}

// typed writes the lines of a transcript, and the last one.
func (s *Server) typed(ctx context.Context, w *lineWriter, key schema.Transcript, after uint64) error {
	typist := typing.New(key.Session)
	var line []byte
	put := func(m *typing.Message) { line = m.AppendJSON(line[:0]); w.line(line) }
	capture, err := s.o.Folder.Fold(ctx, key.Identity, func(e *schema.Event) bool {
		if m := typist.Add(e); m != nil && m.StoreSeq > after {
			put(m)
		}
		return w.err == nil
	})
	if err != nil {
		return err
	}
	for _, m := range typist.Open(capture.Open()) {
		put(&m)
	}
	w.line(append(strconv.AppendUint([]byte(`{"end":{"frames":`), capture.Frame(), 10), "}}"...))
	return w.err
}

// unfoldable is what a client is told where frames cannot be folded: which one it is, if it stays so.
func (s *Server) unfoldable(r *http.Request, err error) *refusal {
	switch {
	case errors.Is(err, refold.ErrSealed):
		return &refusal{http.StatusOK, codeSealed, fmt.Sprint(err)}
	case errors.Is(err, refold.ErrLost), errors.Is(err, translate.ErrFrame), errors.Is(err, topology.ErrBlob):
		return &refusal{http.StatusOK, codeDamaged, fmt.Sprint(err)}
	case errors.Is(err, sink.ErrNotFound):
		return errUnavailable // it was there a moment ago
	}
	return s.refused(r, err)
}

const (
	// linesFrom is from how many bytes on lines are sent.
	linesFrom = 16 << 10
	// linesWithin is after how long the next line is sent at once, with those that wait.
	linesWithin = 100 * time.Millisecond
)

// errSlow ends an answer to a client that has let it wait for too long in all: others wait for its place.
var errSlow = errors.New("the client reads too slowly")

// lineWriter writes lines, several at a time. It remembers the connection's error.
type lineWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	left    time.Duration // for which the client may still let it wait, in all
	waiting []byte
	sent    time.Time
	err     error
}

// line writes a line, which may wait for flush or for others.
func (l *lineWriter) line(text []byte) {
	l.waiting = append(append(l.waiting, text...), '\n')
	if len(l.waiting) >= linesFrom || time.Since(l.sent) >= linesWithin {
		l.flush()
	}
}

// flush sends what waits.
func (l *lineWriter) flush() {
	for left := l.waiting; len(left) > 0 && l.err == nil; {
		n := min(len(left), sendAtOnce)
		began := time.Now()
		l.err = l.control.SetWriteDeadline(began.Add(l.left))
		if l.err == nil {
			_, l.err = l.w.Write(left[:n])
		}
		if l.err == nil {
			l.err = l.control.Flush()
		}
		if l.left -= time.Since(began); l.err == nil && l.left <= 0 {
			l.err = errSlow
		}
		left = left[n:]
	}
	l.waiting, l.sent = l.waiting[:0], time.Now()
}
