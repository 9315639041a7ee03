package render

import (
	"encoding/base64"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

const (
	updatePrefix  = acp.MethodSessionUpdate + "/"
	refusedPrefix = "refused/"
)

// raw writes what only a Raw says; what another event shows as well is counted.
func (r *Renderer) raw(e *schema.Event, k *schema.Raw) {
	if r.o.Raw {
		r.rawWhole(e, k)
		return
	}
	if e.Source.Protocol == schema.A2A {
		r.rawA2A(e, k)
		return
	}
	source := k.Source
	tap, last, _ := strings.Cut(source, "/")
	if schema.Protocol(tap) != schema.ACP {
		last = ""
	}
	switch {
	case r.shownElsewhere(e, source):
		r.hidden++
		if c, edits := r.edited(e, k); c != nil && !r.whole {
			r.drawEdits(e, c, edits)
		}
	case source == updatePrefix+acp.Plan, source == updatePrefix+acp.PlanUpdate:
		r.plan(e, k)
	case source == acp.MethodRequestPermission:
		r.permission(e, k)
	case source == acp.MethodRequestPermission+"/decision":
		r.decision(e, k)
	case strings.HasPrefix(source, refusedPrefix):
		reason, _ := parse(k.Value).Get("reason").Text()
		r.line(bad, markBad, "refused "+oneLine(source[len(refusedPrefix):]), oneLine(reason), e)
	case source == "stderr", last == "noise":
		r.noise(e, k)
	case last == string(schema.TypeOpen), last == string(schema.TypeClose), last == string(schema.TypeGap):
		r.control(e, last, k.Value)
	default:
		r.record(e, source, k.Value)
	}
}

// shownElsewhere reports whether the frame's other events say what the Raw says.
func (r *Renderer) shownElsewhere(e *schema.Event, source string) bool {
	switch source {
	case acp.MethodSessionPrompt + "/request":
		return r.asked.Frame == e.WorkerSeq
	case acp.MethodSessionPrompt, updatePrefix + acp.ToolCall, updatePrefix + acp.ToolCallUpdate,
		updatePrefix + acp.UserMessageChunk, updatePrefix + acp.AgentMessageChunk, updatePrefix + acp.AgentThoughtChunk:
		return true
	}
	return false
}

// record writes a payload on one line.
func (r *Renderer) record(e *schema.Event, source string, value schema.JSON) {
	if r.typing != nil {
		r.later = append(r.later, e)
		return
	}
	if of, ok := strings.CutSuffix(source, "/response"); ok {
		source = of + " answered"
	}
	r.line(dim, markNote, oneLine(strings.TrimPrefix(source, updatePrefix)), oneLine(brief(value)), e)
}

// brief is what a record says, without the envelope that its source names already.
func brief(value schema.JSON) string {
	if text, ok := unbase64(value); ok {
		return text
	}
	v := parse(value)
	if v.Get("jsonrpc").Present() {
		for _, member := range []string{"params", "result", "error"} {
			if inner := v.Get(member); inner.Present() {
				v = inner
				break
			}
		}
	}
	if v.Kind() == jsontree.Object {
		var words []string
		for m := range v.Children() {
			if name := nameOf(m); name != "sessionId" {
				words = append(words, name+" "+scalar(m))
			}
		}
		return strings.Join(words, ", ")
	}
	if !v.Present() {
		return string(value)
	}
	return scalar(v)
}

func (r *Renderer) rawWhole(e *schema.Event, k *schema.Raw) {
	r.lines()
	r.page.put(dim, markNote+" "+oneLine(k.Source))
	r.edge(e)
	defer r.page.inside(PartBody)()
	text := string(k.Value)
	if decoded, ok := unbase64(k.Value); ok {
		text = decoded
	}
	r.page.block(rail, dim, dim, strings.TrimRight(text, "\n"))
}

// noise writes what stood between the frames, as text.
func (r *Renderer) noise(e *schema.Event, k *schema.Raw) {
	text, ok := unbase64(k.Value)
	if !ok {
		r.record(e, k.Source, k.Value)
		return
	}
	what := "noise"
	if k.Source == "stderr" {
		what = "stderr"
	}
	r.head(dim, what, e)
	defer r.page.inside(PartBody)()
	r.excerpt(rail, dim, text)
}

func unbase64(value schema.JSON) (string, bool) {
	encoded, ok := parse(value).Get("base64").Text()
	if !ok {
		return "", false
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	return string(data), err == nil
}

// control writes how the capture began and ended, and what was not kept.
func (r *Renderer) control(e *schema.Event, what string, value schema.JSON) {
	s, words := dim, map[string]string{"open": "recording began", "close": "recording ended", "gap": "not everything was kept"}[what]
	if what == string(schema.TypeGap) {
		s = bad
	}
	r.line(s, markStop, words, oneLine(brief(value)), e)
}

var planMarks = map[string]string{"completed": markGood, "in_progress": markRunning}

// plan writes the agent's plan as a list.
func (r *Renderer) plan(e *schema.Event, k *schema.Raw) {
	v := parse(k.Value)
	entries := v.Get("entries")
	if !entries.Present() {
		entries = v.Get("plan").Get("entries")
	}
	if entries.Kind() != jsontree.Array {
		r.record(e, k.Source, k.Value)
		return
	}
	r.head(dim, "plan", e)
	if len(entries.Raw()) == len("[]") {
		r.page.block(body, dim, dim, "(nothing)")
	}
	for entry := range entries.Children() {
		status, _ := entry.Get("status").Text()
		text, ok := entry.Get("content").Text()
		if !ok {
			text = scalar(entry)
		}
		mark, s := planMarks[status], plain
		if mark == "" {
			mark = markCalled
		}
		if status == "completed" {
			s = dim
		}
		r.page.block(body+mark+" ", s, s, oneLine(text))
	}
}
