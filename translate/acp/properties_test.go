package acp

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/translatetest"
)

// frames makes a capture of lines: "> " from the client, "! " from stderr, "^close" a control frame of
// that type, else from the agent.
func frames(lines ...string) []schema.Frame {
	var out []schema.Frame
	for i, line := range lines {
		f := schema.Frame{
			Seq: uint64(i) + 1, At: time.UnixMilli(int64(i) + 1).UTC(), From: schema.FromAgent, Type: schema.TypeData,
			Protocol: schema.ACP, End: schema.EndLF, Data: []byte(line),
		}
		if rest, ok := strings.CutPrefix(line, "> "); ok {
			f.From, f.Data = schema.FromClient, []byte(rest)
		} else if rest, ok := strings.CutPrefix(line, "! "); ok {
			f.From, f.Data = schema.FromStderr, []byte(rest)
		} else if kind := schema.FrameType(strings.TrimPrefix(line, "^")); line != string(kind) && (kind == schema.TypeClose || kind == schema.TypeGap) {
			f.From, f.Type, f.Data = schema.FromControl, kind, []byte(`{"reason":"eof"}`)
		}
		out = append(out, f)
	}
	return out
}

func TestEveryCaseHasTheProperties(t *testing.T) {
	data, err := os.ReadFile("testdata/cases.jsonl")
	require.NoError(t, err)
	translatetest.Cases(t, "ACP-", "testdata/cases.jsonl", func(t *testing.T, c translatetest.Case) []schema.Event {
		fs := caseFrames(t, c)
		translatetest.Properties(t, Translator{}, fs)
		fold := Translator{}.Fold(testIdentity)
		var events []schema.Event
		for i := range fs {
			events = fold.Step(events, &fs[i])
		}
		return fold.End(events)
	})
	require.Contains(t, string(data), "ACP-E01")
}

func FuzzFold(f *testing.F) {
	f.Add([]byte("> {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s\",\"prompt\":[{\"type\":\"text\",\"text\":\"x\"}]}}\n" +
		"{\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"y\"}}}}\n" +
		"{\"id\":2,\"result\":{\"stopReason\":\"end_turn\"}}"))
	chunk := `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"z"}}}}`
	load := `> {"id":1,"method":"session/load","params":{"sessionId":"s"}}`
	two := `> {"id":0,"method":"initialize","params":{"protocolVersion":2}}` + "\n" + `{"id":0,"result":{"protocolVersion":2}}` + "\n" +
		`> {"id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"go"}]}}` + "\n" + `{"id":1,"result":{"messageId":"u"}}` + "\n"
	tool := `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t"}}}`
	for _, seed := range []string{
		chunk + "\n" + load + "\n" + chunk + "\n" + tool + "\n" + `{"id":1,"result":{}}` + "\n" + chunk + "\n^close\n" + chunk,
		"[" + chunk + "," + tool + "," + chunk + "]\nlog " + chunk + " more " + chunk + "\n" + chunk + chunk + "\n^gap",
		strings.Repeat(`{"a":`, 40) + "\n" + strings.Repeat(`{"id":1,"result":1}`, 20) + "x",
		two + update("agent_message_chunk", `,"messageId":"m","content":{"type":"text","text":"dr"}`) + "\n" +
			update("agent_message", `,"messageId":"m","content":[{"type":"text","text":"final"}]`) + "\n" + update("agent_message", `,"messageId":"m","content":null`) + "\n" +
			update("tool_call_update", `,"toolCallId":"t","status":"paused"`) + "\n" + update("tool_call_content_chunk", `,"toolCallId":"t","content":{"type":"content"}`) + "\n" +
			terminalBytesOf([]byte{0xe2, 0x9c}) + terminalBytesOf([]byte{0x93}) + "\n" + update("state_update", `,"state":"running"`) + "\n" +
			update("subagent_update", `,"sessionId":"s1","state":{"state":"idle"}`) + "\n" + update("state_update", idleEndTurn) + "\n^close",
		two + `> {"id":2,"method":"session/resume","params":{"sessionId":"s1"}}` + "\n" + update("user_message", `,"messageId":"u","content":[{"type":"text","text":"go"},{}]`) + "\n" +
			"[" + update("session_message_chunk", `,"messageId":"d","content":{}`) + "," + update("state_update", `,"state":"running"`) + "]\n" + `{"id":2,"result":{}}`,
	} {
		f.Add([]byte(seed))
	}
	data, err := os.ReadFile("testdata/cases.jsonl")
	require.NoError(f, err)
	for line := range bytes.Lines(data) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := strings.Split(string(data), "\n")
		if len(lines) > 60 {
			return
		}
		fs := frames(lines...)
		translatetest.Properties(t, Translator{}, fs)
	})
}

// chunks are frames of an answer, for ever; every 500th ends a message.
type chunks struct {
	chunk, end *schema.Frame
	fold       translate.Fold
	dst        []schema.Event
	n          uint64
}

func newChunks() *chunks {
	chunk := frames(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"20260612_3","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":" the whole answer"}}}}`)
	end := frames(`{"jsonrpc":"2.0","id":9,"result":{"stopReason":"end_turn"}}`)
	return &chunks{chunk: &chunk[0], end: &end[0], fold: Translator{}.Fold(testIdentity)}
}

func (c *chunks) step() {
	c.n++
	f := c.chunk
	if c.n%500 == 0 {
		f = c.end
	}
	f.Seq = c.n
	c.dst = c.fold.Step(c.dst[:0], f)
}

func BenchmarkChunk(b *testing.B) {
	c := newChunks()
	b.ReportAllocs()
	for b.Loop() {
		c.step()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}
