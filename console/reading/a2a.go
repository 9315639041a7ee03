package reading

import (
	"encoding/base64"
	"slices"
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
	return OneLine(l.method)
}

// saysA2A tells what only a Raw of A2A says: most frames are said by their other events.
func (r *Reader) saysA2A(e *schema.Event, k *schema.Raw) Said {
	l := labelOf(k.Source)
	what := l.called()
	switch {
	case strings.Contains(k.Source, "/part/"):
		return Said{As: APart, Tone: Quiet, Mark: MarkNote, What: partWords(k.Value)}
	case l.last == "served", l.last == string(schema.TypeHTTP), l.last == "noise" && onlyComments(k.Value):
		return Said{}
	case l.last == "noise":
		return noise(k)
	case l.last == string(schema.TypeClose):
		return r.closedA2A(e, k)
	case l.last == string(schema.TypeOpen):
		return r.beganA2A(e, k)
	case l.last == string(schema.TypeGap):
		return control(l.last, k.Value)
	case l.last == "card":
		return minor("agent card", cardWords(Parse(k.Value)))
	case l.last == "request" && (r.asked.Frame == e.WorkerSeq || l.sends() || l.method == ""):
		return Said{}
	case l.last == "request":
		return minor(what, briefOf(k.Value))
	case l.last == "error" && l.sends():
		return Said{As: AFault}
	case l.last == "error":
		return FaultOf(k)
	case l.last == string(wire.Task) && !l.sends() && l.method != "" && l.method != "PushNotification":
		state := wire.ReadState(wire.StatusOf(taskOf(Parse(k.Value))))
		return minor(what+" answered", string(state))
	case l.last == string(wire.Task), l.last == string(wire.Message), l.last == string(wire.StatusUpdate), l.last == string(wire.ArtifactUpdate),
		l.last == "result" && l.method == "PushNotification":
		return Said{}
	case l.last == "result", l.last == "tasks":
		return minor(what+" answered", briefOf(k.Value))
	case l.method == "":
		return minor(l.last, briefOf(k.Value))
	}
	return minor(what+": "+l.last, briefOf(k.Value))
}

// briefOf is what a record says; nothing where it has no bytes.
func briefOf(value schema.JSON) string {
	if text, ok := Unbase64(value); ok && text == "" {
		return ""
	}
	return Brief(value)
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

// SaysFault reports whether an event says what a call's fault, which came before it, says.
func SaysFault(e, fault *schema.Event) bool {
	said := false
	switch k := e.Kind.(type) {
	case *schema.Stop:
		said = true
	case *schema.Progress:
		_, said = k.Detail.(*schema.Note)
	}
	return said && e.WorkerSeq == fault.WorkerSeq
}

// FaultOf says how a call failed.
func FaultOf(k *schema.Raw) Said {
	text := ""
	if envelope := wire.ReadEnvelope(Parse(k.Value)); envelope.Error.Present() {
		text = wire.FaultText(envelope.Error)
	}
	if text == "" {
		text = briefOf(k.Value)
	}
	return line(Bad, MarkBad, labelOf(k.Source).called()+" failed", OneLine(text))
}

// closedA2A says how a recording ended. The end of an exchange is nothing to read, unless it broke off
// and nothing else says so.
func (r *Reader) closedA2A(e *schema.Event, k *schema.Raw) Said {
	v := Parse(k.Value)
	exchange, _ := v.Get("exchange").Text()
	reason, _ := v.Get("reason").Text()
	failure, _ := v.Get("error").Text()
	switch {
	case exchange == "":
		return control(string(schema.TypeClose), k.Value)
	case failure == "" && reason == schema.ReasonEOF, failure != "" && r.told == e.WorkerSeq:
		return Said{}
	case failure != "":
		return line(Warn, MarkAlarm, "exchange broke off", OneLine(failure))
	}
	return line(Warn, MarkAlarm, "exchange not seen to its end", OneLine(reason))
}

// beganA2A says what the beginning of a recording says that a reader wants: where the peer is, and the
// labels. It belongs to the heading; behind it, it stands where another proxy went on with other ones.
func (r *Reader) beganA2A(e *schema.Event, k *schema.Raw) Said {
	v := Parse(k.Value)
	if peer, _ := v.Get("peer").Text(); peer != "" {
		r.Peer = peer
	}
	words := strings.Join(originOf(v), " · ")
	before := r.origin
	r.origin = words
	switch {
	case slices.Contains(e.Flags, schema.FlagUnrecognised): // its profile was not
		return control(string(schema.TypeOpen), k.Value)
	case words == "" || words == before:
		return Said{}
	}
	return Said{As: ABeginning, Tone: Quiet, Mark: MarkStop, What: "recording began", More: words}
}

func originOf(open jsontree.Value) (words []string) {
	if upstream, _ := open.Get("upstream").Text(); upstream != "" {
		words = append(words, "upstream "+OneLine(upstream))
	}
	for label := range open.Get("labels").Children() {
		words = append(words, OneLine(NameOf(label))+"="+Scalar(label))
	}
	return words
}

// onlyComments reports whether noise is heartbeats alone.
func onlyComments(value schema.JSON) bool {
	text, ok := Unbase64(value)
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
		if text := OneLine(wire.Text(card, name)); text != "" {
			words = append(words, text)
		}
	}
	if n := lengthOf(wire.Field(card, "skills")); n > 0 {
		words = append(words, Count(n, "skill"))
	}
	return strings.Join(words, " · ")
}

func lengthOf(list jsontree.Value) (n int) {
	for range list.Children() {
		n++
	}
	return n
}

// partWords is a part that is not text, on one line.
func partWords(value schema.JSON) string {
	v := Parse(value)
	kind, inner := wire.ReadPart(v)
	words := []string{string(kind)}
	switch kind {
	case wire.DataPart:
		words = append(words, OneLine(membersOf(inner)))
	case wire.RawPart, wire.URLPart:
		words = append(words, fileWords(v, kind)...)
	default:
		words = append(words, OneLine(Brief(value)))
	}
	return strings.Join(words, " · ")
}

// membersOf is data on one line.
func membersOf(v jsontree.Value) string {
	if v.Kind() != jsontree.Object {
		return Scalar(v)
	}
	var words []string
	for m := range v.Children() {
		words = append(words, NameOf(m)+" "+Scalar(m))
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
			words = append(words, OneLine(text))
		}
	}
	if kind == wire.RawPart {
		encoded := strings.TrimRight(first("raw", "bytes", "fileWithBytes"), "=")
		words = append(words, BytesOf(base64.RawStdEncoding.DecodedLen(len(encoded))))
	}
	return words
}

// SeveralTasks reports whether a conversation has more than one task that says something.
func SeveralTasks(events []schema.Event) bool {
	first := ""
	for i := range events {
		e := &events[i]
		id := e.Source.TaskID
		if e.Source.Protocol != schema.A2A || id == "" || e.Kind.Tag() == schema.TagRaw {
			continue
		}
		if first != "" && first != id {
			return true
		}
		first = id
	}
	return false
}
