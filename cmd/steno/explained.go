package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/trace"
)

// explanation is what explain --json prints.
type explanation struct {
	Event      json.RawMessage    `json:"event"`
	Rule       *translate.Rule    `json:"rule,omitempty"`
	Frames     []frameOfEvent     `json:"frames"`
	Translator string             `json:"translator"`      // by which the frames were folded again
	Follows    *bool              `json:"follows"`         // the frames give the event, byte for byte; null: this build does not have the translator
	Again      json.RawMessage    `json:"again,omitempty"` // what they give in its place, where that is something else
	Chain      string             `json:"chain"`           // of the event's frame
	Broken     string             `json:"broken,omitempty"`
	Sealing    *archive.Sealing   `json:"sealing,omitempty"`
	Inclusion  *archive.Inclusion `json:"inclusion,omitempty"`
	Unproved   string             `json:"unproved,omitempty"`
}

// frameOfEvent is a frame and where in its bytes what the event says stands.
type frameOfEvent struct {
	Frame  json.RawMessage `json:"frame"` // a line of an archive's frames
	Bytes  int             `json:"bytes"`
	Leaf   string          `json:"leaf"`
	Places []trace.Place   `json:"places"` // none: the event is of the frame as a whole
}

func (a *app) sayExplained(e *explaining, f *explainFlags) error {
	var err error
	if f.json {
		err = a.sayExplainedJSON(e)
	} else {
		err = a.sayExplainedText(e, f.full)
	}
	if code := e.code(); err == nil && code != exitOK {
		return &exitError{code: code}
	}
	return err
}

func (a *app) sayExplainedJSON(e *explaining) error {
	out := explanation{
		Event: e.stored.Bytes, Frames: []frameOfEvent{}, Translator: e.info.Translator, Chain: e.chain,
		Sealing: e.sealing, Inclusion: e.inclusion,
	}
	if rule, ok := ruleOf(&e.is); ok {
		out.Rule = &rule
	}
	if e.unfolded == nil {
		follows := e.follows()
		out.Follows = &follows
		if !follows {
			out.Again = e.again
		}
	}
	if e.broken != nil {
		out.Broken = e.broken.Error()
	}
	if e.unproved != nil {
		out.Unproved = e.unproved.Error()
	}
	for i := range e.frames {
		line, err := e.frames[i].line()
		if err != nil {
			return err
		}
		places := e.frames[i].places
		if places == nil {
			places = []trace.Place{}
		}
		out.Frames = append(out.Frames, frameOfEvent{line, len(e.frames[i].Data), fmt.Sprintf("%x", e.frames[i].leaf), places})
	}
	return a.out.json(out)
}

// Bounds of what explain shows without --full.
const (
	shownFrames = 12
	shownBytes  = 400 // of a frame, and of the event
)

func (a *app) sayExplainedText(e *explaining, full bool) error {
	p := &explainer{app: a, full: full}
	p.event(e)
	p.rule(&e.is)
	p.frames(&e.is, e.frames)
	p.proof(e)
	return a.out.first
}

// explainer prints an explanation.
type explainer struct {
	*app
	full bool
}

func (p *explainer) line(label, format string, args ...any) {
	p.out.line("%s", strings.TrimRight(fmt.Sprintf("%-9s "+format, append([]any{label}, args...)...), " "))
}

func (p *explainer) event(e *explaining) {
	is := &e.is
	p.line("event", "%s#%d", e.key, e.number)
	p.line("", "%s", titleOf(is))
	p.line("", "%s", p.cut(kindText(is)))
	p.line("", "origin %s, at %s, id %s", is.Origin(), is.EmittedAt.UTC().Format(time.RFC3339Nano), is.EventID)
	if len(is.Flags) > 0 {
		flags := make([]string, len(is.Flags))
		for i, flag := range is.Flags {
			flags[i] = string(flag)
		}
		p.line("", "flags %s", strings.Join(flags, ", "))
	}
}

func (p *explainer) rule(e *schema.Event) {
	rule, ok := ruleOf(e)
	if !ok {
		p.line("rule", "%s of %s, which this build cannot name", titleOf(e), e.Source.Translator)
		return
	}
	p.line("rule", "%s of %s, dialect %s", rule.Name, e.Source.Translator, e.Source.Dialect)
	p.line("", "%s", rule.Says)
	if rule.Ref != "" {
		p.line("", "in the design: %s", rule.Ref)
	}
	if rule.Spec != "" {
		p.line("", "in the protocol: %s", rule.Spec)
	}
}

// frames shows the event's frames; of many the first and the last.
func (p *explainer) frames(e *schema.Event, frames []explainedFrame) {
	for i := range frames {
		if !p.full && len(frames) > shownFrames && i >= shownFrames/2 && i < len(frames)-shownFrames/2 {
			if i == shownFrames/2 {
				p.line("", "… %d frames more (--full shows them)", len(frames)-shownFrames)
			}
			continue
		}
		p.frame(e, &frames[i])
	}
}

func (p *explainer) frame(e *schema.Event, f *explainedFrame) {
	how := direction(f.From)
	if f.Chan != "" {
		how += fmt.Sprintf(", %s %d of exchange %s", f.Chan, f.No, f.Exchange)
	}
	if f.Type != schema.TypeData {
		how += ", " + string(f.Type)
	}
	p.line("frame "+strconv.FormatUint(f.Seq, 10), "%s, at %s, %d bytes, end %s", how, f.At.UTC().Format(time.RFC3339Nano), len(f.Data), f.End)
	if len(f.HTTP) > 0 {
		p.line("", "HTTP %s", p.cut(f.HTTP))
	}
	p.line("", "%s", p.cut(f.Data))
	switch {
	case !isOf(e, f.Seq):
		p.line("", "none of its bytes: it only made an end")
	case len(f.places) == 0:
		p.line("", "bytes 0 to %d: the frame as a whole", len(f.Data))
	}
	for _, place := range f.places {
		stretch := ""
		if place.End > 0 {
			stretch = fmt.Sprintf(" bytes %d to %d", place.At, place.End)
		}
		at := ""
		if place.Path != "" {
			at = " at " + place.Path
		}
		p.line("", "bytes %d to %d%s: %s%s: %s", place.From, place.To, at, place.Field, stretch, p.stands(f.Data[place.From:place.To]))
	}
}

// direction is who said it to whom.
func direction(from schema.From) string {
	switch from {
	case schema.FromClient:
		return "client → agent"
	case schema.FromAgent:
		return "agent → client"
	case schema.FromStderr:
		return "agent's stderr"
	}
	return "the tap's own"
}

func (p *explainer) proof(e *explaining) {
	frame := e.is.WorkerSeq
	switch {
	case e.unfolded != nil:
		p.line("proof", "translation: not repeated: this build does not have %s", e.info.Translator)
	case e.follows():
		p.line("proof", "translation: frames 1 to %d, folded by %s, give this event, byte for byte", frame, e.info.Translator)
	case e.again == nil:
		p.line("proof", "translation: frames 1 to %d, folded by %s, do not give an event %d", frame, e.info.Translator, e.number)
	default:
		at := partAt(e.stored.Bytes, e.again)
		from := max(0, at-shownBytes/4)
		p.line("proof", "translation: frames 1 to %d, folded by %s, give another event; from byte %d on they give", frame, e.info.Translator, from)
		p.line("", "%s", p.cut(e.again[from:]))
		p.line("", "and stored is")
		p.line("", "%s", p.cut(e.stored.Bytes[from:]))
	}
	if e.broken != nil {
		p.line("", "chain: broken: %v", e.broken)
	} else {
		p.line("", "chain: of frame %d %s: it follows from frame 1", frame, e.chain)
	}
	if e.sealing == nil {
		p.line("", "sealed: %s", "no seal is known here that covers it (--archive names an archive)")
		return
	}
	s, in := e.sealing, e.inclusion
	p.line("", "leaf: %s, hash %s", in.Leaf, in.Hash)
	if e.unproved != nil {
		p.line("", "path: %v", e.unproved)
	} else {
		p.line("", "path: leaf %d, from 0, of %d, %s (RFC 6962):", in.Index, in.Size, plural(len(in.Path), "hash step"))
		for _, hash := range in.Path {
			p.line("", "  %s", hash)
		}
		p.line("", "root: %s, as the path gives it", in.Root)
	}
	p.line("", "seal: %s, SHA-256 %s", s.Name, s.SHA256)
	by := "not checked against yours (--key)"
	if s.Trusted {
		by = "which is yours"
	}
	p.line("", "note: %s, by key %s, %s", s.Note, s.KeyHash, by)
	if s.Log != "" {
		p.line("", "log: %s names the seal", s.Log)
	}
}

// stands shows a stretch of bytes; one that ends in white space in quotation marks.
func (p *explainer) stands(data []byte) string {
	if len(bytes.TrimSpace(data)) == len(data) {
		return p.cut(data)
	}
	if !p.full && len(data) > shownBytes {
		return strconv.Quote(string(data[:shownBytes])) + fmt.Sprintf("… (%d bytes)", len(data))
	}
	return strconv.Quote(string(data))
}

// cut shows bytes on one line, those that are not printed as Go writes them.
func (p *explainer) cut(data []byte) string {
	text := data
	if !p.full && len(text) > shownBytes {
		text = text[:shownBytes]
		for len(text) > 0 && !utf8.RuneStart(data[len(text)]) {
			text = text[:len(text)-1]
		}
	}
	quoted := strconv.Quote(string(text))
	shown := string(text)
	if strings.ReplaceAll(strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`), `\\`, `\`) != shown {
		shown = quoted // with escapes, so that no byte of it is a terminal's
	}
	if len(text) < len(data) {
		shown += fmt.Sprintf("… (%d bytes)", len(data))
	}
	return shown
}
