package consoletest

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Object is a JSON object of a frame.
type Object map[string]any

// Talk is a conversation of ACP: one session, whose transcript is Key. What is said is stored when its
// method returns, and told soon after.
type Talk struct {
	*Tap
	Key     schema.Transcript
	Session string // its id
	prompts int
	asked   int

	held *[]schema.Frame // what is said is kept back here
}

// Talk opens a conversation up to the answer to session/new.
func (p *Pipeline) Talk(namespace, run string) *Talk {
	p.t.Helper()
	return p.TalkOn(p.Tap(schema.Identity{Namespace: namespace, Workflow: "w", Run: run, Attempt: 1}), Object{"run": run})
}

// TalkOn is Talk on a tap, with labels.
func (p *Pipeline) TalkOn(tap *Tap, labels Object) *Talk {
	p.t.Helper()
	c := &Talk{Tap: tap, Session: "s", Key: tap.Transcript(1)}
	c.control(schema.TypeOpen, Object{"protocol": "acp", "tap": "record", "command": []string{"mill", "--acp"}, "labels": labels})
	c.Client(Object{"id": 0, "method": "initialize", "params": Object{"protocolVersion": 1}})
	c.Agent(Object{"id": 0, "result": Object{"protocolVersion": 1, "agentInfo": Object{"name": "mill", "version": "1.0"}}})
	c.Client(Object{"id": 1, "method": "session/new", "params": Object{"cwd": "/w", "mcpServers": []any{}}})
	c.Agent(Object{"id": 1, "result": Object{"sessionId": c.Session}})
	return c
}

// Together keeps back what is said meanwhile, then stores all of it at once.
func (c *Talk) Together(say func()) {
	c.p.t.Helper()
	var held []schema.Frame
	c.held = &held
	say()
	c.held = nil
	c.Store(held...)
}

func (c *Talk) say(f schema.Frame) {
	c.p.t.Helper()
	if c.held != nil {
		*c.held = append(*c.held, f)
		return
	}
	c.Store(f)
}

// Line stores a line of one side, as it is.
func (c *Talk) Line(from schema.From, line string) {
	c.p.t.Helper()
	c.say(schema.Frame{From: from, Type: schema.TypeData, End: schema.EndLF, Data: []byte(line)})
}

func (c *Talk) control(kind schema.FrameType, o Object) {
	c.p.t.Helper()
	c.say(schema.Frame{From: schema.FromControl, Type: kind, End: schema.EndNone, Data: c.text(o)})
}

// text writes an object as agents do: < and > stay.
func (c *Talk) text(o Object) []byte {
	c.p.t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(c.p.t, e.Encode(o))
	return bytes.TrimSpace(b.Bytes())
}

// Client sends a JSON-RPC object of the client's.
func (c *Talk) Client(o Object) { c.p.t.Helper(); c.rpc(schema.FromClient, o) }

// Agent sends a JSON-RPC object of the agent's.
func (c *Talk) Agent(o Object) { c.p.t.Helper(); c.rpc(schema.FromAgent, o) }

func (c *Talk) rpc(from schema.From, o Object) {
	c.p.t.Helper()
	o["jsonrpc"] = "2.0"
	c.Line(from, string(c.text(o)))
}

// Prompt asks the agent for something. A Stop answers it.
func (c *Talk) Prompt(text string) {
	c.p.t.Helper()
	c.prompts++
	c.Client(Object{"id": c.LastPrompt(), "method": "session/prompt",
		"params": Object{"sessionId": c.Session, "prompt": []any{Text(text)}}})
}

// LastPrompt is the id of the prompt that Stop would answer.
func (c *Talk) LastPrompt() int { return 100 + c.prompts }

// Text is a piece of content.
func Text(text string) Object { return Object{"type": "text", "text": text} }

// Update sends a session/update of a variant; what it is goes into the object.
func (c *Talk) Update(variant string, o Object) {
	c.p.t.Helper()
	o["sessionUpdate"] = variant
	c.Agent(Object{"method": "session/update", "params": Object{"sessionId": c.Session, "update": o}})
}

// Chunk is a piece of the answer.
func (c *Talk) Chunk(text string) {
	c.p.t.Helper()
	c.Update("agent_message_chunk", Object{"content": Text(text)})
}

// Thought is a piece of a thought.
func (c *Talk) Thought(text string) {
	c.p.t.Helper()
	c.Update("agent_thought_chunk", Object{"content": Text(text)})
}

// Tool begins a tool call, with an input.
func (c *Talk) Tool(id, title string, input any) {
	c.p.t.Helper()
	c.Update("tool_call", Object{"toolCallId": id, "title": title, "kind": "execute", "status": "pending", "rawInput": input})
}

// ToolIs says how a tool call stands now, with more of what it says.
func (c *Talk) ToolIs(id, status string, more Object) {
	c.p.t.Helper()
	o := Object{"toolCallId": id, "status": status}
	for name, value := range more {
		o[name] = value
	}
	c.Update("tool_call_update", o)
}

// Diff is a tool's content: a file that was changed.
func Diff(path, before, after string) Object {
	return Object{"type": "diff", "path": path, "oldText": before, "newText": after}
}

// Ask asks the user whether a tool may go on: Allow (id y) or Reject (id n).
func (c *Talk) Ask(tool, title string) {
	c.p.t.Helper()
	c.asked++
	c.Agent(Object{"id": 200 + c.asked, "method": "session/request_permission", "params": Object{
		"sessionId": c.Session, "toolCall": Object{"toolCallId": tool, "title": title},
		"options": []Object{{"optionId": "y", "name": "Allow", "kind": "allow_once"}, {"optionId": "n", "name": "Reject", "kind": "reject_once"}},
	}})
}

// Choose answers what was last asked.
func (c *Talk) Choose(option string) {
	c.p.t.Helper()
	c.Client(Object{"id": 200 + c.asked, "result": Object{"outcome": Object{"outcome": "selected", "optionId": option}}})
}

// Plan says what the agent is going to do: pairs of an entry and its status.
func (c *Talk) Plan(pairs ...string) {
	c.p.t.Helper()
	var entries []Object
	for i := 0; i+1 < len(pairs); i += 2 {
		entries = append(entries, Object{"content": pairs[i], "priority": "medium", "status": pairs[i+1]})
	}
	c.Update("plan", Object{"entries": entries})
}

// Title names the session.
func (c *Talk) Title(text string) {
	c.p.t.Helper()
	c.Update("session_info_update", Object{"title": text})
}

// Stop ends the turn.
func (c *Talk) Stop(reason string) {
	c.p.t.Helper()
	c.Agent(Object{"id": c.LastPrompt(), "result": Object{"stopReason": reason}})
}

// Close ends the capture, and waits until its end is stored.
func (c *Talk) Close() {
	c.p.t.Helper()
	c.control(schema.TypeClose, Object{"reason": "eof", "exit_code": 0})
	if c.held == nil {
		c.p.Stored(c.Key, Ended)
	}
}

// Has waits until so many events of the transcript are stored.
func (c *Talk) Has(head uint64) {
	c.p.t.Helper()
	c.p.Stored(c.Key, func(s sink.Summary) bool { return s.Head >= head })
}

// Head is the number of the transcript's last event.
func (c *Talk) Head() uint64 {
	c.p.t.Helper()
	s, err := c.p.Ledger.Transcript(c.p.t.Context(), c.Key)
	require.NoError(c.p.t, err)
	return s.Head
}

// HasSaid waits until an event that holds a text, and everything before it, is stored, and gives the
// number of the transcript's last one.
func (c *Talk) HasSaid(text string) uint64 {
	c.p.t.Helper()
	after := uint64(0)
	require.Eventually(c.p.t, func() bool {
		for e, err := range c.p.Ledger.Events(c.p.t.Context(), c.Key, after, 0) {
			if err != nil {
				return false
			}
			if bytes.Contains(e.Bytes, []byte(text)) {
				return true
			}
			after = e.Seq
		}
		return false
	}, Within, 5*time.Millisecond, "%q is not stored", text)
	return c.Head()
}
