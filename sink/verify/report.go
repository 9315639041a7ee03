package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/steno-io/steno/schema"
)

// Report is what a run found.
type Report struct {
	Captures    int       `json:"captures"`
	Transcripts int       `json:"transcripts"` // sessions with a stored or folded event
	Frames      uint64    `json:"frames"`      // read
	Events      uint64    `json:"events"`      // compared and equal
	Unaccounted int64     `json:"unaccounted"` // covered frames that neither an event nor an open message names
	Open        uint64    `json:"open"`        // frames in messages that are still open, at the ledger's last events
	Gaps        int       `json:"gaps"`        // gap frames
	Heads       []Heads   `json:"heads"`       // of each capture, in the order of their keys
	Findings    []Finding `json:"findings"`    // by capture, then by frame
	More        int       `json:"more"`        // findings that were counted and not kept
	// Unrepeated are the captures of which all else was checked.
	Unrepeated []Unrepeated `json:"unrepeated"`
}

// Heads says how far a capture has come at each stage.
type Heads struct {
	Capture string   `json:"capture"`
	Raw     uint64   `json:"raw"`    // last frame
	Folded  uint64   `json:"folded"` // last frame that was folded again
	Stored  string   `json:"stored"` // origin of the ledger's last event
	Gaps    []uint64 `json:"gaps,omitempty"`
}

// Finding is one thing that does not agree.
type Finding struct {
	Problem Problem `json:"problem"`
	Capture string  `json:"capture"`
	Frame   uint64  `json:"frame"`
	Session uint32  `json:"session"`
	Seq     uint64  `json:"store_seq,omitempty"`
	EventID string  `json:"event_id,omitempty"`
	File    string  `json:"file,omitempty"` // of an archive
	Detail  string  `json:"detail"`
}

// Problem is the kind of a finding.
type Problem string

// Problems.
const (
	Changed     Problem = "changed"     // a stored event differs from the fold's
	Missing     Problem = "missing"     // the fold gives an event that is not stored
	Added       Problem = "added"       // something is stored that the frames do not give
	Numbers     Problem = "numbers"     // the frames are not 1, 2, 3 …
	BrokenChain Problem = "chain"       // a frame's chain is not that of its bytes, headers and predecessor
	Unreadable  Problem = "unreadable"  // the frame is stored, and its bytes or headers are not to be had
	Unfoldable  Problem = "unfoldable"  // no fold can take the frame
	Unaccounted Problem = "unaccounted" // no event names the frame, and no open message holds it
	Parked      Problem = "parked"      // the sink stopped at a record that does not fit
)

// Problems of an archive.
const (
	BadFile      Problem = "file"      // an object is missing, or is another one, or is named by no seal
	BadSeal      Problem = "seal"      // a seal does not fit what it seals, or the seal before it
	BadLog       Problem = "log"       // the log of seals and the seals do not agree
	BadSignature Problem = "signature" // a note is not signed by the key that it must be
)

// String writes the finding in one line.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", f.Problem)
	if f.File != "" {
		return b.String() + f.File + ": " + f.Detail
	}
	fmt.Fprintf(&b, "%s frame %d", f.Capture, f.Frame)
	if f.Seq > 0 {
		fmt.Fprintf(&b, " session %d store_seq %d", f.Session, f.Seq)
	}
	if f.EventID != "" {
		fmt.Fprintf(&b, " event %s", f.EventID)
	}
	return b.String() + ": " + f.Detail
}

// ExitCode is 0 when all agrees, 12 when a signature is not good, 10 when anything was changed, is missing
// or was added, 1 when the translation of a capture could not be repeated, and 11 when all agrees but frames
// were lost before they were stored.
func (r *Report) ExitCode() int {
	switch {
	case slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Problem == BadSignature }):
		return 12
	case len(r.Findings) > 0:
		return 10
	case len(r.Unrepeated) > 0:
		return 1
	case r.Gaps > 0:
		return 11
	}
	return 0
}

// First is the first of each that is wrong, in the order of the findings; what is absent is not known to be
// wrong by itself.
type First struct {
	File       string `json:"file,omitempty"` // of an archive
	Capture    string `json:"capture,omitempty"`
	Frame      uint64 `json:"frame,omitempty"`
	Transcript string `json:"transcript,omitempty"`
	Seq        uint64 `json:"store_seq,omitempty"`
}

// First gives the first wrong file, frame and event; nil: there is no finding.
func (r *Report) First() *First {
	if len(r.Findings) == 0 {
		return nil
	}
	var out First
	for _, f := range r.Findings {
		if out.File == "" {
			out.File = f.File
		}
		if out.Capture == "" && f.Frame > 0 {
			out.Capture, out.Frame = f.Capture, f.Frame
		}
		if out.Transcript == "" && f.Seq > 0 {
			out.Transcript, out.Seq = fmt.Sprintf("%s/%d", f.Capture, f.Session), f.Seq
		}
	}
	return &out
}

// String says it in one line.
func (f *First) String() string {
	var all []string
	if f.File != "" {
		all = append(all, "file "+f.File)
	}
	if f.Capture != "" {
		all = append(all, fmt.Sprintf("frame %d of %s", f.Frame, f.Capture))
	}
	if f.Transcript != "" {
		all = append(all, fmt.Sprintf("event %d of %s", f.Seq, f.Transcript))
	}
	return strings.Join(all, ", ")
}

// result is what came of one capture.
type result struct {
	heads       Heads
	transcripts int
	frames      uint64
	events      uint64
	unaccounted int64
	open        uint64
	findings    []Finding
	more        int
	unrepeated  *Unrepeated
}

func (r *result) find(max int, f Finding) {
	if len(r.findings) >= max {
		r.more++
		return
	}
	f.Capture = r.heads.Capture
	r.findings = append(r.findings, f)
}

func summarise(results []result) Report {
	out := Report{Captures: len(results), Heads: []Heads{}, Findings: []Finding{}, Unrepeated: []Unrepeated{}}
	for i := range results {
		r := &results[i]
		out.Transcripts += r.transcripts
		out.Frames += r.frames
		out.Events += r.events
		out.Unaccounted += r.unaccounted
		out.Open += r.open
		out.Gaps += len(r.heads.Gaps)
		out.Heads = append(out.Heads, r.heads)
		out.More += r.more
		if r.unrepeated != nil {
			out.Unrepeated = append(out.Unrepeated, *r.unrepeated)
		}
		slices.SortStableFunc(r.findings, func(a, b Finding) int { return cmp.Compare(a.Frame, b.Frame) })
		out.Findings = append(out.Findings, r.findings...)
	}
	return out
}

// eventFinding names an event of the fold.
func eventFinding(p Problem, e *schema.Event, seq uint64, detail string) Finding {
	return Finding{Problem: p, Frame: e.WorkerSeq, Session: e.Session, Seq: seq, EventID: e.EventID.String(), Detail: detail}
}
