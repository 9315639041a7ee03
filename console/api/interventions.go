package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/steno-io/steno/ingest/intervene"
	"github.com/steno-io/steno/schema"
)

const (
	maxIntervention  = 64 << 10                           // bytes of a request's body
	interveneWithin  = intervene.MaxWait + 15*time.Second // for its answer: it, and the one before it, may take some seconds
	capableWithin    = 3 * time.Second
	interventionPath = transcriptPath + "/interventions"
)

// capable is what can be delivered in a conversation now; nothing where nobody takes interventions.
func (s *Server) capable(ctx context.Context, r *http.Request) ([]byte, error) {
	if _, err := readQuery(r, nil); err != nil {
		return nil, err
	}
	t, err := s.find(ctx, r, s.view)
	if err != nil {
		return nil, err
	}
	ctx, done := context.WithTimeout(ctx, capableWithin)
	defer done()
	can, err := intervene.Ask(ctx, s.o.Conn, t.Transcript.Identity, "console")
	if errors.Is(err, intervene.ErrNobody) {
		can, err = schema.NewCapabilities(nil), nil
	}
	if err != nil {
		return nil, err
	}
	return encode(can)
}

// intervention is the answer to one.
type intervention struct {
	ID string `json:"id"`
	schema.Outcome
}

// intervened takes an intervention, in the name that the request's token has, and answers with its outcome:
// whichever it is, the request was a good one.
func (s *Server) intervened(w http.ResponseWriter, r *http.Request) {
	if !s.answering.begin() {
		s.fail(w, r, errUnavailable)
		return
	}
	defer s.answering.done()
	w.Header().Set("Cache-Control", "no-store")
	body, err := s.intervene(w, r)
	if err == nil {
		err = write(w, http.StatusOK, body)
	}
	if err != nil {
		w.Header().Set("Connection", "close") // there may be a body that nobody has read
		s.fail(w, r, err)
	}
}

func (s *Server) intervene(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyWithin)) // where the connection has one
	by, err := s.o.Operators.of(r)
	if err != nil {
		return nil, err
	}
	if _, err := readQuery(r, nil); err != nil {
		return nil, err
	}
	ctx, done := context.WithTimeout(r.Context(), interveneWithin)
	defer done()
	t, err := s.find(ctx, r, s.view)
	if err != nil {
		return nil, err
	}
	i, err := readIntervention(w, r)
	if err != nil {
		return nil, err
	}
	if i.Session == "" && t.Protocol == schema.ACP {
		i.Session = t.SessionID
	}
	o, err := intervene.Send(ctx, s.o.Conn, t.Transcript.Identity, by, i)
	switch {
	case errors.Is(err, intervene.ErrNobody):
		o = schema.Stale("%v", intervene.ErrNobody)
	case errors.Is(err, intervene.ErrRefused):
		return nil, bad(codeParameter, "%v", err)
	case errors.Is(err, intervene.ErrBusy):
		return nil, &refusal{http.StatusServiceUnavailable, codeUnanswered,
			fmt.Sprintf("too many wait, so this one was not taken: sent again under its id, %s, it is done once", i.ID)}
	case errors.Is(err, intervene.ErrUnanswered):
		return nil, &refusal{http.StatusServiceUnavailable, codeUnanswered,
			fmt.Sprintf("no answer came, so what became of it is not known: sent again under its id, %s, it is done once", i.ID)}
	case err != nil:
		return nil, err
	}
	return encode(intervention{i.ID, o})
}

// readIntervention reads a request's body. What it leaves out is filled in.
func readIntervention(w http.ResponseWriter, r *http.Request) (i schema.Intervention, err error) {
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != "application/json" {
		return i, bad(codeParameter, "Content-Type %q: want application/json", kind)
	}
	body := http.MaxBytesReader(w, r.Body, maxIntervention)
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	if err = d.Decode(&i); err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more behind it")
		}
	}
	if err != nil {
		return i, bad(codeParameter, "the body is no intervention: %v", err)
	}
	if i.ID == "" {
		i.ID = uuid.NewString()
	}
	if i.IssuedAt.IsZero() {
		i.IssuedAt = time.Now().UTC()
	}
	if i.IssuedBy != "" {
		return i, bad(codeParameter, "issued_by: the token says it")
	}
	if err := i.Validate(); err != nil {
		return i, bad(codeParameter, "%v", err)
	}
	return i, nil
}
