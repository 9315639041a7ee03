package a2atest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate/translatetest"
)

// fragment marks a case that is a piece of traffic to be decoded, no conversation.
const fragment = "Fragment"

// CaseFrame is a frame as the cases write it.
type CaseFrame struct {
	Chan     string
	Raw      string
	Exchange string
}

// casing turns a case into the frames of a capture: exchanges get ids, an exchange without a request
// gets one that says which call it is, and what the case says of ends becomes close frames.
type casing struct {
	c       translatetest.Case
	frames  []schema.Frame
	current map[string]*casedExchange // by label
	count   int
}

type casedExchange struct {
	id       string
	asked    bool
	ended    bool
	messages bool // only Messages came
	others   bool
}

// CaseFrames makes a capture of a case.
func CaseFrames(t *testing.T, c translatetest.Case) []schema.Frame {
	t.Helper()
	b := &casing{c: c, current: map[string]*casedExchange{}}
	lines := make([]CaseFrame, len(c.Frames))
	last := map[string]int{} // last frame of each label
	for i, raw := range c.Frames {
		require.NoError(t, json.Unmarshal(raw, &lines[i]))
		last[lines[i].Exchange] = i
		if lines[i].Exchange != "" && lines[i].Chan != "req" && b.current[lines[i].Exchange] == nil {
			b.ask(b.begin(lines[i].Exchange)) // concurrent streams began before what they carry
		}
	}
	for i, line := range lines {
		e := b.place(line)
		if line.Chan == "sse" && line.Raw == "" {
			b.close(e)
			continue
		}
		e.look(line.Raw)
		b.add(e, line)
		ends := i == last[line.Exchange] && e.messages && !e.others && line.Chan != "req" && !strings.Contains(c.Note, fragment)
		if ends && !e.ended {
			b.close(e)
		}
	}
	return b.frames
}

func (b *casing) begin(label string) *casedExchange {
	b.count++
	e := &casedExchange{id: "e" + string(rune('0'+b.count/10)) + string(rune('0'+b.count%10))}
	b.current[label] = e
	return e
}

// place finds the exchange of a line.
func (b *casing) place(line CaseFrame) *casedExchange {
	e := b.current[line.Exchange]
	switch line.Chan {
	case "push", "card":
		b.count++
		return &casedExchange{id: "p" + string(rune('0'+b.count/10)) + string(rune('0'+b.count%10)), asked: true}
	case "req":
		if e == nil || e.ended || e.asked || e.others || e.messages {
			e = b.begin(line.Exchange)
		}
		e.asked = true
		return e
	}
	if e == nil || e.ended {
		e = b.begin(line.Exchange)
	}
	if !e.asked {
		b.ask(e)
	}
	return e
}

// ask stands for the request that the case does not show.
func (b *casing) ask(e *casedExchange) {
	e.asked = true
	call := strings.Replace(b.c.Method, "Send*", "SendStreamingMessage", 1)
	f := schema.Frame{From: schema.FromClient, Chan: schema.ChanRequest}
	if strings.Contains(b.c.Dialect, "REST") {
		f.Data = []byte(`{}`)
		path := map[string]string{"SendStreamingMessage": "POST /message:stream", "GetTask": "GET /tasks/t", "CancelTask": "POST /tasks/t:cancel", "SubscribeToTask": "GET /tasks/t:subscribe", "ListTasks": "GET /tasks"}[call]
		verb, path, _ := strings.Cut(path, " ")
		if strings.HasPrefix(b.c.Dialect, "0.3") {
			path = "/v1" + path
		}
		f.HTTP = []byte(`{"method":"` + verb + `","path":"` + path + `"}`)
	} else {
		f.Data = []byte(`{"jsonrpc":"2.0","id":0,"method":"` + call + `","params":{}}`)
	}
	if version, _, _ := strings.Cut(b.c.Dialect, " "); f.HTTP == nil && (version == "0.3" || version == "1.0") {
		f.HTTP = []byte(`{"a2a_version":"` + version + `"}`)
	}
	b.append(e, f)
}

func (b *casing) add(e *casedExchange, line CaseFrame) {
	f := schema.Frame{From: schema.FromAgent, Data: []byte(line.Raw)}
	switch line.Chan {
	case "req":
		f.From, f.Chan = schema.FromClient, schema.ChanRequest
	case "resp":
		f.Chan, e.ended = schema.ChanResponse, true
	case "push":
		f.Chan = schema.ChanPush
	case "card":
		f.Chan = schema.ChanCard
	default:
		f.Chan = schema.ChanStream
	}
	b.append(e, f)
}

func (b *casing) close(e *casedExchange) {
	e.ended = true
	b.append(e, schema.Frame{From: schema.FromControl, Type: schema.TypeClose, Data: []byte(`{"reason":"eof","exchange":"` + e.id + `"}`)})
}

func (b *casing) append(e *casedExchange, f schema.Frame) {
	f.Seq = uint64(len(b.frames)) + 1
	f.At, f.Exchange, f.End, f.Protocol = time.UnixMilli(int64(f.Seq)).UTC(), e.id, schema.EndNone, schema.A2A
	if f.Type == "" {
		f.Type = schema.TypeData
	}
	b.frames = append(b.frames, f)
}

// look notes whether what came is a Message.
func (e *casedExchange) look(raw string) {
	texts := []string{raw}
	if !strings.HasPrefix(raw, "{") {
		texts = nil
		events, _ := wire.AppendEvents(nil, []byte(raw))
		for _, event := range events {
			texts = append(texts, string(event.Data))
		}
	}
	for _, text := range texts {
		r := jsontree.Reader{Depth: wire.Depth}
		if _, err := r.Read([]byte(text)); err != nil {
			e.others = true
			continue
		}
		envelope := wire.ReadEnvelope(r.Root())
		if envelope.Method != "" {
			continue
		}
		arms := wire.AppendArms(nil, envelope.Result)
		e.others = e.others || len(arms) == 0 || envelope.Error.Present()
		for _, a := range arms {
			if a.Kind == wire.Message {
				e.messages = true
			} else {
				e.others = true
			}
		}
	}
}
