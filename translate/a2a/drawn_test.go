package a2a

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/translatetest"
)

// drawn draws conversations of few words, so that ids and texts meet often.
type drawn struct {
	*rapid.T
	frames []schema.Frame
}

func (d *drawn) pick(words ...string) string { return rapid.SampledFrom(words).Draw(d.T, "word") }

func (d *drawn) texts() string {
	return d.pick(`{"text":"a"}`, `{"text":"a "}`, `{"text":"ab"}`, `{"text":""}`, `{"kind":"text","text":"b"}`, ``, `null`,
		`{"text":"t","metadata":{"adk_thought":true}}`, `{"text":"a"},{"text":"t","metadata":{"adk_thought":true}}`,
		`{"text":"a"},{"url":"u"}`, `{"data":{"n":1}}`, `{"metadata":{}}`,
		`{"data":{"id":"k","name":"f","args":{}},"metadata":{"adk_type":"function_call"}}`,
		`{"data":{"id":"k","response":{}},"metadata":{"adk_type":"function_response"}}`)
}

func (d *drawn) message() string {
	return `{"messageId":"` + d.pick("m1", "m2", "") + `","role":"` + d.pick("agent", "ROLE_AGENT", "user") + `","parts":[` + d.texts() + `]}`
}

func (d *drawn) task() string {
	return `"taskId":"` + d.pick("t1", "t2", "") + `","contextId":"` + d.pick("c", "d", "") + `"`
}

func (d *drawn) status() string {
	state := d.pick("working", "working", "TASK_STATE_WORKING", "submitted", "input-required", "completed", "failed", "canceled", "paused", "")
	if rapid.Bool().Draw(d.T, "silent") {
		return `{"state":"` + state + `"}`
	}
	return `{"state":"` + state + `","message":` + d.message() + `}`
}

func (d *drawn) artifact() string {
	return `{"artifactId":"` + d.pick("a1", "a1", "a2", "") + `","parts":[` + d.texts() + `]}`
}

func (d *drawn) object() string {
	switch d.pick("artifact", "artifact", "artifact", "status", "status", "task", "message", "error", "noise") {
	case "artifact":
		return `{"artifactUpdate":{` + d.task() + `,"artifact":` + d.artifact() + `,"append":` + d.pick("true", "false") + `,"lastChunk":` + d.pick("false", "false", "true") + `}}`
	case "status":
		return `{"statusUpdate":{` + d.task() + `,"status":` + d.status() + `}}`
	case "task":
		return `{"task":{"id":"` + d.pick("t1", "t2") + `","contextId":"c","status":` + d.status() + `,"history":[` + d.message() + `],"artifacts":[` + d.artifact() + `,` + d.artifact() + `]}}`
	case "message":
		return `{"message":` + d.message() + `}`
	case "error":
		return `{"error":{"code":1,"message":"e"}}`
	}
	return d.pick(`{`, `x`, `[]`, `{"hello":1}`, `[{"message":`+d.message()+`}]`, `{"task":{"id":"t1"},"message":`+d.message()+`}`)
}

func (d *drawn) frame() {
	f := schema.Frame{
		Seq: uint64(len(d.frames)) + 1, From: schema.FromAgent, Type: schema.TypeData, Protocol: schema.A2A, End: schema.EndNone,
		Exchange: d.pick("e1", "e2", "e3"),
	}
	f.At = time.UnixMilli(int64(f.Seq)).UTC()
	if n := len(d.frames); n > 0 && d.pick("no", "no", "copy") == "copy" {
		d.copy(&d.frames[n-1])
		return
	}
	switch d.pick("stream", "stream", "stream", "stream", "events", "events", "response", "push", "request", "close", "evidence", "card", "end") {
	case "stream":
		f.Chan, f.Data = schema.ChanStream, []byte(d.object())
	case "events":
		f.Chan = schema.ChanStream
		f.Data = []byte(d.pick(": c\n\n", "", "\n") + "data: " + d.object() + d.pick("\n\n", "\n\n", "\r\n\r\n", "", "\n\ndata: "+d.object()+"\n\n", "\n\n: c\n\n"))
	case "response":
		f.Chan, f.Data = schema.ChanResponse, []byte(d.object()+d.pick("", "", "\n"+d.object()))
	case "push":
		f.Chan, f.Exchange, f.Data = schema.ChanPush, fmt.Sprintf("p%d", f.Seq), []byte(d.object())
	case "request":
		f.From, f.Chan = schema.FromClient, schema.ChanRequest
		f.Data = []byte(`{"jsonrpc":"2.0","id":1,"method":"` + d.pick("SendMessage", "message/stream", "GetTask") + `","params":` +
			d.pick(`{"message":`+d.message()+`}`, `{"id":"t1"}`, `{}`) + `}`)
	case "close":
		f.From, f.Type = schema.FromControl, schema.TypeClose
		f.Data = []byte(`{"reason":"` + d.pick("eof", "writer died") + `","exchange":"` + f.Exchange + `"` + d.pick("", `,"error":"lost"`) + `}`)
	case "evidence":
		f.From, f.Type = schema.FromControl, schema.TypeHTTP
		f.Data = []byte(d.pick(`{"status":200}`, `{"status":500}`, `{"served":"0.3"}`))
	case "card":
		f.Chan, f.Data = schema.ChanCard, []byte(`{"name":"a"}`)
	default:
		f.From, f.Type, f.Exchange = schema.FromControl, schema.TypeClose, ""
		f.Data = []byte(`{"reason":"eof"}`)
	}
	d.frames = append(d.frames, f)
}

// copy is a copy of the frame before it, or one of nothing.
func (d *drawn) copy(of *schema.Frame) {
	f := schema.Frame{
		Seq: of.Seq + 1, At: of.At, From: of.From, Type: schema.TypeData, Protocol: schema.A2A, End: schema.EndNone,
		Exchange: of.Exchange, Chan: of.Chan, HTTP: []byte(`{"status":200,"served":"` + d.pick("0.3", "1.0", "2.7") + `"}`), Data: of.Data,
	}
	if of.Type != schema.TypeData {
		f.From, f.Chan, f.Data = schema.FromAgent, schema.ChanStream, []byte("data: "+d.object()+"\n\n")
	}
	d.frames = append(d.frames, f)
}

func TestDrawnConversationsHaveTheProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := &drawn{T: r}
		defer func() {
			if t.Failed() { // what was drawn is not shrunk: the suite ends the test itself
				for i := range d.frames {
					f := &d.frames[i]
					t.Logf("%d %s %s %s %q", f.Seq, f.Type, f.Chan, f.Exchange, f.Data)
				}
			}
		}()
		if profile := d.pick("", "", `{"status_text":"answer","artifact_chunks":"cumulative","join_fresh_ids":true}`); profile != "" {
			d.frames = append(d.frames, schema.Frame{
				Seq: 1, At: time.UnixMilli(1).UTC(), From: schema.FromControl, Type: schema.TypeOpen, Protocol: schema.A2A, End: schema.EndNone,
				Data: append(schema.AppendString([]byte(`{"protocol":"a2a","peer":"p","profile":`), profile), '}'),
			})
		}
		for range rapid.IntRange(1, 14).Draw(r, "frames") {
			d.frame()
		}
		translatetest.Properties(t, Translator{}, d.frames)
		events := translatetest.Fold(Translator{}, d.frames)
		statuses(t, d.frames)
		oneStopEach(t, events)
		copiesAddNothing(t, d.frames)
		if err := oneRawEach(d.frames, events); err != nil {
			r.Fatal(err)
		}
	})
}
