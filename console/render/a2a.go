package render

import (
	"encoding/base64"
	"strings"

	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// label is the source of a frame's Raw, taken apart: a2a/<version>/<binding>/<method>/<last>. A method
// may have a slash.
type label struct {
	method string
	last   string
}

func labelOf(source string) label {
	parts := strings.SplitN(source, "/", 4)
	if len(parts) < 4 {
		return label{last: parts[len(parts)-1]}
	}
	method, last := "", parts[3]
	if i := strings.LastIndexByte(last, '/'); i >= 0 {
		method, last = last[:i], last[i+1:]
	}
	if method == "unknown" {
		method = ""
	}
	return label{method, last}
}

// sends reports whether the method is one that sends the user's words.
func (l label) sends() bool {
	call, _ := wire.ReadMethod(l.method)
	return call.Sends()
}

// called is what the frame was about.
func (l label) called() string {
	if l.method == "" {
		return "call"
	}
	return oneLine(l.method)
}

// rawA2A writes what only a Raw of A2A says: most frames are said by their other events.
func (r *Renderer) rawA2A(e *schema.Event, k *schema.Raw) {
	l := labelOf(k.Source)
	what := l.called()
	switch {
	case strings.Contains(k.Source, "/part/"):
		r.part(e, k)
	case l.last == "served", l.last == string(schema.TypeHTTP), l.last == "noise" && onlyComments(k.Value):
		r.hidden++
	case l.last == "noise":
		r.noise(e, k)
	case l.last == string(schema.TypeClose):
		r.closedA2A(e, k)
	case l.last == string(schema.TypeOpen):
		r.beganA2A(e, k)
	case l.last == string(schema.TypeGap):
		r.control(e, l.last, k.Value)
	case l.last == "card":
		r.minor(e, "agent card", cardWords(parse(k.Value)))
	case l.last == "request" && (r.asked.Frame == e.WorkerSeq || l.sends() || l.method == ""):
		r.hidden++
	case l.last == "request":
		r.minor(e, what, briefOf(k.Value))
	case l.last == "error" && l.sends():
		r.fault = e // its Stop or its note says it
	case l.last == "error":
		r.failedCall(e, what, k.Value)
	case l.last == string(wire.Task) && !l.sends() && l.method != "" && l.method != "PushNotification":
		state := wire.ReadState(wire.StatusOf(taskOf(parse(k.Value))))
		r.minor(e, what+" answered", string(state))
	case l.last == string(wire.Task), l.last == string(wire.Message), l.last == string(wire.StatusUpdate), l.last == string(wire.ArtifactUpdate),
		l.last == "result" && l.method == "PushNotification":
		r.hidden++
	case l.last == "result", l.last == "tasks":
		r.minor(e, what+" answered", briefOf(k.Value))
	case l.method == "":
		r.minor(e, l.last, briefOf(k.Value))
	default:
		r.minor(e, what+": "+l.last, briefOf(k.Value))
	}
}

// minor writes one line that waits for the end of what is being typed.
func (r *Renderer) minor(e *schema.Event, what, more string) {
	if r.typing != nil {
		r.later = append(r.later, e)
		return
	}
	r.line(dim, markNote, what, oneLine(more), e)
}

// briefOf is what a record says; nothing where it has no bytes.
func briefOf(value schema.JSON) string {
	if text, ok := unbase64(value); ok && text == "" {
		return ""
	}
	return brief(value)
}

// taskOf finds the task in an answer.
func taskOf(v jsontree.Value) jsontree.Value {
	for _, a := range wire.AppendArms(nil, wire.ReadEnvelope(v).Result) {
		if a.Kind == wire.Task {
			return a.Value
		}
	}
	return jsontree.Value{}
}

// faultShown reports whether the event says the error that waits, and takes it.
func (r *Renderer) faultShown(e *schema.Event) bool {
	said := false
	switch k := e.Kind.(type) {
	case *schema.Stop:
		said = true
	case *schema.Progress:
		_, said = k.Detail.(*schema.Note)
	}
	return said && e.WorkerSeq == r.fault.WorkerSeq
}

// settleFault writes the error that waits, which nothing else said.
func (r *Renderer) settleFault() {
	if e := r.fault; e != nil {
		r.fault = nil
		k := e.Kind.(*schema.Raw)
		r.failedCall(e, labelOf(k.Source).called(), k.Value)
	}
}

func (r *Renderer) failedCall(e *schema.Event, what string, value schema.JSON) {
	text := ""
	if envelope := wire.ReadEnvelope(parse(value)); envelope.Error.Present() {
		text = wire.FaultText(envelope.Error)
	}
	if text == "" {
		text = briefOf(value)
	}
	r.line(bad, markBad, what+" failed", oneLine(text), e)
}

// closedA2A writes how a recording ended. The end of an exchange is nothing to read, unless it broke off
// and nothing else says so.
func (r *Renderer) closedA2A(e *schema.Event, k *schema.Raw) {
	v := parse(k.Value)
	exchange, _ := v.Get("exchange").Text()
	reason, _ := v.Get("reason").Text()
	failure, _ := v.Get("error").Text()
	switch {
	case exchange == "":
		r.control(e, string(schema.TypeClose), k.Value)
	case failure == "" && reason == schema.ReasonEOF, failure != "" && r.told == e.WorkerSeq:
		r.hidden++
	case failure != "":
		r.line(warn, markAlarm, "exchange broke off", oneLine(failure), e)
	default:
		r.line(warn, markAlarm, "exchange not seen to its end", oneLine(reason), e)
	}
}

// onlyComments reports whether noise is heartbeats alone.
func onlyComments(value schema.JSON) bool {
	text, ok := unbase64(value)
	if !ok {
		return false
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); line != "" && line[0] != ':' {
			return false
		}
	}
	return true
}

// cardWords is an agent's card in a few words.
func cardWords(card jsontree.Value) string {
	var words []string
	for _, name := range []string{"name", "version", "description"} {
		if text := oneLine(wire.Text(card, name)); text != "" {
			words = append(words, text)
		}
	}
	if n := lengthOf(wire.Field(card, "skills")); n > 0 {
		words = append(words, count(n, "skill"))
	}
	return strings.Join(words, " · ")
}

func lengthOf(list jsontree.Value) (n int) {
	for range list.Children() {
		n++
	}
	return n
}

// part writes a part that is not text on one line: under the words that it came with, if it did.
func (r *Renderer) part(e *schema.Event, k *schema.Raw) {
	v := parse(k.Value)
	kind, value := wire.ReadPart(v)
	words := []string{string(kind)}
	switch kind {
	case wire.DataPart:
		words = append(words, oneLine(membersOf(value)))
	case wire.RawPart, wire.URLPart:
		words = append(words, fileWords(v, kind)...)
	default:
		words = append(words, oneLine(brief(k.Value)))
	}
	text := strings.Join(words, " · ")
	if !r.spoken {
		r.line(dim, markNote, "["+fit(text, r.page.room(6))+"]", "", e)
		return
	}
	r.page.put(plain, body)
	r.page.put(dim, "["+fit(text, r.page.room(2))+"]")
	r.page.newline()
}

// membersOf is data on one line.
func membersOf(v jsontree.Value) string {
	if v.Kind() != jsontree.Object {
		return scalar(v)
	}
	var words []string
	for m := range v.Children() {
		words = append(words, nameOf(m)+" "+scalar(m))
	}
	return strings.Join(words, ", ")
}

// fileWords names a file, of any dialect, and says where it is or how large.
func fileWords(part jsontree.Value, kind wire.PartKind) (words []string) {
	holders := []jsontree.Value{part, wire.Field(part, "file")}
	first := func(names ...string) string {
		for _, holder := range holders {
			for _, name := range names {
				if text := wire.Text(holder, name); text != "" {
					return text
				}
			}
		}
		return ""
	}
	for _, text := range []string{first("filename", "name"), first("url", "uri", "fileWithUri"), first("mediaType", "mimeType")} {
		if text != "" {
			words = append(words, oneLine(text))
		}
	}
	if kind == wire.RawPart {
		encoded := strings.TrimRight(first("raw", "bytes", "fileWithBytes"), "=")
		words = append(words, bytesOf(base64.RawStdEncoding.DecodedLen(len(encoded))))
	}
	return words
}

// task writes which task what follows belongs to, where a conversation has several.
func (r *Renderer) task(e *schema.Event) {
	id := e.Source.TaskID
	if e.Source.Protocol != schema.A2A || id == "" || id == r.shownTask {
		return
	}
	first := r.shownTask == ""
	r.shownTask = id
	if first && !r.several {
		return // perhaps it is the only one
	}
	r.page.gap()
	r.page.put(dim, fit("── task "+oneLine(id), r.page.room(0)))
	r.page.newline()
	r.current = textBlock
}
