package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/steno-io/steno/console/proof"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/verify"
)

// Prover proves captures; proof.Source has the promise.
type Prover interface {
	Prove(ctx context.Context, id schema.Identity) (verify.Report, error)
	Stand(ctx context.Context, id schema.Identity) (proof.Stand, error)
}

// proveWithin bounds a proof.
const proveWithin = 5 * time.Minute

// verdict is what a proof came to.
type verdict string

// Verdicts.
const (
	verified    verdict = "verified"
	withGaps    verdict = "gaps"         // all agrees, but frames were lost before they were stored
	notRepeated verdict = "not_repeated" // all else agrees; the translator that made it is not in this build
	notVerified verdict = "differs"
)

// proved is what came of a proof.
type proved struct {
	Verdict     verdict          `json:"verdict"`
	At          time.Time        `json:"at"` // when it began
	Capture     string           `json:"capture"`
	Frames      uint64           `json:"frames"`   // there are
	Verified    uint64           `json:"verified"` // of them, that were folded again and compared
	Events      uint64           `json:"events"`   // compared and equal
	Unaccounted int64            `json:"unaccounted"`
	Open        uint64           `json:"open"` // frames in open messages
	Gaps        int              `json:"gaps"`
	Translator  string           `json:"translator,omitempty"` // that is not in this build
	Findings    []verify.Finding `json:"findings"`
	More        int              `json:"more"`   // findings that were counted and not kept
	Sealed      *uint64          `json:"sealed"` // last frame that is; null: no archive is known
}

// verify folds the frames of the transcript's capture again, and compares, unless it did so since something was
// added.
func (s *Server) verify(w http.ResponseWriter, r *http.Request) error {
	if _, err := readQuery(r, nil); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), proveWithin)
	defer cancel()
	defer context.AfterFunc(s.stopped, cancel)()
	t, err := s.findSoon(ctx, r)
	if err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		return nil
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(proveWithin + answerWithin)) // where the connection has one
	id := t.Transcript.Identity
	p, err := s.proofs.of(ctx, id, s.o.Prover)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errLong
	}
	if err != nil {
		return err
	}
	p.Sealed = s.sealed(ctx, id)
	body, err := encode(&p)
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, body)
}

// sealed is the last frame of a capture that is sealed; nil if nobody knows. What is proved does not hang on it.
func (s *Server) sealed(ctx context.Context, id schema.Identity) *uint64 {
	if s.o.Sealed == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	frame, known, err := s.o.Sealed(ctx, id)
	if err != nil {
		s.o.Log.Warn().Err(err).Str("capture", id.String()).Msg("look what is sealed")
	}
	if err != nil || !known {
		return nil
	}
	return &frame
}

// conclude makes the answer of a report on one capture.
func conclude(r *verify.Report, at time.Time) proved {
	p := proved{
		At: at.UTC(), Verdict: notVerified, Events: r.Events, Unaccounted: r.Unaccounted, Open: r.Open, Gaps: r.Gaps,
		Findings: append([]verify.Finding{}, r.Findings...), More: r.More,
	}
	for _, h := range r.Heads {
		p.Capture, p.Frames, p.Verified = h.Capture, h.Raw, h.Folded
	}
	switch {
	case len(r.Findings) > 0:
	case len(r.Unrepeated) > 0:
		p.Verdict, p.Translator = notRepeated, r.Unrepeated[0].Translator
	case r.Gaps > 0:
		p.Verdict = withGaps
	default:
		p.Verdict = verified
	}
	return p
}
