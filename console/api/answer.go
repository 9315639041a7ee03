package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
)

// Codes of errors. They stay; messages are for people.
const (
	codeParameter   = "bad_parameter"
	codeCursor      = "bad_cursor"
	codeNotFound    = "not_found"
	codeMethod      = "method_not_allowed"
	codeHost        = "host_not_allowed"
	codeStreams     = "too_many_streams"
	codeFolds       = "too_many_folds"
	codeProofs      = "too_many_proofs"
	codeLong        = "too_long"
	codeSealed      = "sealed"
	codeDamaged     = "damaged"
	codeUnavailable = "unavailable"
	codeOperators   = "no_interventions"
	codeToken       = "unauthorized"
	codeUnanswered  = "unanswered"
)

// refusal is an error that is told as it is.
type refusal struct {
	status  int
	code    string
	message string
}

func (r *refusal) Error() string { return r.message }

var (
	// errNoTranscript is the one answer for what is nowhere, what is in a namespace that is not served,
	// and what is no key.
	errNoTranscript = &refusal{http.StatusNotFound, codeNotFound, "no such transcript"}
	errNoPage       = &refusal{http.StatusNotFound, codeNotFound, "no such page: /v1/openapi.json says what there is"}
	errMethod       = &refusal{http.StatusMethodNotAllowed, codeMethod, "only GET and HEAD, and POST of interventions"}
	errHost         = &refusal{http.StatusForbidden, codeHost, "this server answers on localhost: the request is for another host (steno's --allow-host adds one)"}
	errStreams      = &refusal{http.StatusServiceUnavailable, codeStreams, fmt.Sprintf("%d streams are open, which is as many as there may be", maxStreams)}
	errFolds        = &refusal{http.StatusServiceUnavailable, codeFolds, fmt.Sprintf("%d transcripts are being folded again, which is as many as there may be at a time", maxFolds)}
	errProofs       = &refusal{http.StatusServiceUnavailable, codeProofs, fmt.Sprintf("%d recordings are being verified, which is as many as there may be at a time", maxProofs)}
	errLong         = &refusal{http.StatusServiceUnavailable, codeLong, fmt.Sprintf("it takes longer than %s, which is as long as it may here: steno verify has the time", proveWithin)}
	errReturned     = &refusal{http.StatusServiceUnavailable, codeSealed, "these frames are in an archive, which cannot be read here (steno's --archive names it)"}
	errNoOperators  = &refusal{http.StatusForbidden, codeOperators, "this server takes no interventions (steno's --operators names who may)"}
	errToken        = &refusal{http.StatusUnauthorized, codeToken, "who are you? Authorization: Bearer TOKEN, of one of this server's operators"}
	errDropped      = &refusal{http.StatusServiceUnavailable, codeSealed, "these events are in an archive, which cannot be read here (steno's --archive names it)"}
	errUnavailable  = &refusal{http.StatusServiceUnavailable, codeUnavailable, "it cannot be read at the moment: /readyz says what is missing"}
)

func bad(code, format string, args ...any) *refusal {
	return &refusal{http.StatusBadRequest, code, fmt.Sprintf(format, args...)}
}

// refused is what a client is told of an error. Causes may name hosts and files: they are logged.
func (s *Server) refused(r *http.Request, err error) *refusal {
	var known *refusal
	var dropped *sink.DroppedError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, sink.ErrNotFound):
		return errNoTranscript
	case errors.Is(err, sink.ErrCursor):
		return bad(codeCursor, "after is not a cursor that a page gave as next")
	case errors.Is(err, sink.ErrNoWords):
		return bad(codeParameter, "%v", sink.ErrNoWords)
	case errors.Is(err, sink.ErrManyWords):
		return bad(codeParameter, "%v", sink.ErrManyWords)
	case errors.Is(err, topology.ErrReturned):
		s.o.Log.Warn().Err(err).Str("path", r.URL.Path).Msg("answer a request")
		return errReturned
	case errors.As(err, &dropped):
		s.o.Log.Warn().Err(err).Str("path", r.URL.Path).Msg("answer a request")
		return errDropped
	case !errors.Is(err, context.Canceled):
		s.o.Log.Warn().Err(err).Str("path", r.URL.Path).Msg("answer a request")
	}
	return errUnavailable
}

// fail answers with an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	known := s.refused(r, err)
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	switch known.status {
	case http.StatusMethodNotAllowed:
		h.Set("Allow", allowed(r))
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "2")
	}
	if err := write(w, known.status, append(appendError(nil, known), '\n')); err != nil {
		s.o.Log.Debug().Err(err).Str("path", r.URL.Path).Msg("answer a request")
	}
}

// allowed are the methods that a request's path takes.
func allowed(r *http.Request) string {
	if strings.HasSuffix(r.URL.Path, "/interventions") {
		return "GET, HEAD, POST"
	}
	return "GET, HEAD"
}

// appendError appends {"error":{"code":"…","message":"…"}}.
func appendError(dst []byte, known *refusal) []byte {
	dst = schema.AppendString(append(dst, `{"error":{"code":`...), known.code)
	dst = schema.AppendString(append(dst, `,"message":`...), known.message)
	return append(dst, "}}"...)
}

// write sends an answer. Its error is the connection's: there is nobody to tell it to, so it is nil.
func write(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
	return nil
}

// encode writes a value as every command's --json does, with a line feed.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write answer: %w", err)
	}
	return b.Bytes(), nil
}
