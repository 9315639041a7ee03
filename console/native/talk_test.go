package main

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// talk is a capture of ACP with two sessions, s and t.
type talk struct {
	t        *testing.T
	r        *rig
	id       schema.Identity
	appender *publish.Appender
	frames   uint64
}

func (r *rig) begin(run string) *talk {
	r.t.Helper()
	k := &talk{t: r.t, r: r, id: schema.Identity{Namespace: "default", Workflow: "w", Run: run, Attempt: 1}}
	conn, _ := r.steno()
	js, err := jetstream.New(conn)
	require.NoError(r.t, err)
	blobs, err := topology.OpenBlobs(r.bounded(), js)
	require.NoError(r.t, err)
	k.appender, err = publish.NewAppender(publish.AppenderOptions{JS: js, Blobs: blobs, Identity: k.id, Partitions: schema.Partitions, Journal: "j"})
	require.NoError(r.t, err)
	k.store(schema.FromControl, schema.TypeOpen, `{"protocol":"acp"}`)
	k.client(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	k.agent(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`)
	for i, session := range []string{"s", "t"} {
		k.client(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{"cwd":"/w"}}`, i+1))
		k.agent(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"sessionId":%q}}`, i+1, session))
	}
	for i, session := range []string{"s", "t"} {
		k.client(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"Tell me"}]}}`, i+3, session))
	}
	return k
}

func (k *talk) store(from schema.From, kind schema.FrameType, data string) {
	k.t.Helper()
	k.frames++
	require.NoError(k.t, k.appender.Append(k.r.bounded(), []schema.Frame{{
		At: time.Unix(1700000000, int64(k.frames)).UTC(), From: from, Type: kind, End: schema.EndNone, Data: []byte(data),
		Writer: schema.Writer{Offset: k.frames},
	}}))
}

func (k *talk) client(line string) { k.t.Helper(); k.store(schema.FromClient, schema.TypeData, line) }
func (k *talk) agent(line string)  { k.t.Helper(); k.store(schema.FromAgent, schema.TypeData, line) }

func (k *talk) update(session string, update map[string]any) {
	k.t.Helper()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": "session/update", "params": map[string]any{"sessionId": session, "update": update}})
	require.NoError(k.t, err)
	k.agent(string(line))
}

func (k *talk) chunk(session, variant, text string) {
	k.t.Helper()
	k.update(session, map[string]any{"sessionUpdate": variant, "content": map[string]string{"type": "text", "text": text}})
}

// say says words of an answer in s, and of another in t beside it.
func (k *talk) say(variant string, from, to int) {
	k.t.Helper()
	for i := from; i < to; i++ {
		k.chunk("s", variant, fmt.Sprintf("w%d ", i))
		if i%3 == 0 {
			k.chunk("t", "agent_message_chunk", fmt.Sprintf("v%d ", i))
		}
	}
}

// tool calls a tool in s, which gives so many bytes.
func (k *talk) tool(id string, bytes int) {
	k.t.Helper()
	k.update("s", map[string]any{"sessionUpdate": "tool_call", "toolCallId": id, "title": "Count", "status": "in_progress"})
	k.update("s", map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed",
		"rawOutput": map[string]any{"out": string(make([]byte, bytes/6))}}) // a NUL takes six bytes of JSON
}

func (k *talk) end() {
	k.t.Helper()
	k.agent(`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`)
	k.agent(`{"jsonrpc":"2.0","id":4,"result":{"stopReason":"end_turn"}}`)
	k.store(schema.FromControl, schema.TypeClose, `{"reason":"eof"}`)
}
