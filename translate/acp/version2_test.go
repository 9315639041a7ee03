package acp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/translatetest"
)

// begun is a connection of version 2 with a session and a prompt that was taken, then the lines.
func begun(lines ...string) []schema.Frame {
	return frames(slices.Concat([]string{
		`> {"id":0,"method":"initialize","params":{"protocolVersion":2}}`, `{"id":0,"result":{"protocolVersion":2}}`,
		`> {"id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"go"}]}}`, `{"id":1,"result":{"messageId":"u1"}}`,
	}, lines)...)
}

const goes = 5 // number of the first of these lines

func foldBegun(lines ...string) (events []schema.Event) {
	for _, e := range translatetest.Fold(Translator{}, begun(lines...)) {
		if e.WorkerSeq >= goes {
			events = append(events, e)
		}
	}
	return events
}

func terminalBytesOf(data []byte) string {
	return update("terminal_output_chunk", `,"terminalId":"x","data":"`+base64.StdEncoding.EncodeToString(data)+`"`)
}

const idleEndTurn = `,"state":"idle","stopReason":"end_turn"`

// A terminal's output is text whole, wherever it is cut into chunks and into Raws.
func TestTerminalBytesAreJoinedBeforeTheyAreText(t *testing.T) {
	const line = "zähl ✓ 🌾\n"
	for size, lines := range map[int]int{1: 2, 7: 50, 4099: 5000, terminalBytes - 1: 5000, terminalBytes: 5000} {
		text := strings.Repeat(line, lines)
		var chunks []string
		for chunk := range slices.Chunk([]byte(text), size) {
			chunks = append(chunks, terminalBytesOf(chunk))
		}
		var got strings.Builder
		raws := 0
		for _, e := range foldBegun(append(chunks, update("state_update", idleEndTurn))...) {
			raw, ok := e.Kind.(*schema.Raw)
			if !ok || raw.Source != "session/update/terminal_output_chunk" {
				continue
			}
			raws++
			require.LessOrEqual(t, len(raw.Value), 64<<10)
			require.True(t, bytes.HasPrefix(raw.Value, []byte(`{"terminalId":"x","text":"`)), "%.60s", raw.Value)
			var value struct{ Text string }
			require.NoError(t, json.Unmarshal(raw.Value, &value))
			got.WriteString(value.Text)
		}
		require.Equal(t, text, got.String(), "chunks of %d", size)
		require.LessOrEqual(t, raws, 2+len(text)/(terminalBytes/2))
	}
}

// Pieces fill one Raw after another, none of them larger than a Raw may be.
func TestPiecesAreCutWhereARawIsFull(t *testing.T) {
	const pieces = 1500
	piece := update("compaction_summary_chunk", `,"compactionId":"k","content":{"type":"text","text":"`+strings.Repeat("x", 80)+`"}`)
	large := update("compaction_summary_chunk", `,"compactionId":"k","content":{"type":"text","text":"`+strings.Repeat("x", 70<<10)+`"}`)
	raws, named := 0, uint64(0)
	for _, e := range foldBegun(append(slices.Repeat([]string{piece}, pieces), large, piece, update("compaction_update", `,"compactionId":"k","status":"completed"`))...) {
		raw, ok := e.Kind.(*schema.Raw)
		if !ok || raw.Source != "session/update/compaction_summary_chunk" {
			continue
		}
		raws++
		named += translate.CountFrames(e.Frames)
		require.LessOrEqual(t, len(raw.Value), translate.MaxInlineValue)
	}
	require.EqualValues(t, pieces+2, named)
	require.InDelta(t, 1+pieces*130/translate.MaxInlineValue, raws, 1)
}

// A chunk of a terminal's output that is too large for a Raw is the reference to its frame.
func TestALargeChunkOfATerminalIsReferredTo(t *testing.T) {
	lines := []string{terminalBytesOf([]byte("before")), terminalBytesOf(bytes.Repeat([]byte("x"), terminalBytes+1)), terminalBytesOf([]byte("behind"))}
	events := foldBegun(append(lines, update("terminal_update", `,"terminalId":"x","exitStatus":{}`))...)
	require.Len(t, events, 4)
	value := func(i int) string { return string(events[i].Kind.(*schema.Raw).Value) }
	require.Equal(t, `{"terminalId":"x","text":"before"}`, value(0))
	require.True(t, strings.HasPrefix(value(1), `{"terminalId":"x","ref":{"frame":6,"sha256":"`), value(1))
	require.Equal(t, `{"terminalId":"x","text":"behind"}`, value(2))
}

// What is escaped to more than a Raw holds stands as bytes.
func TestATerminalFullOfEscapes(t *testing.T) {
	data := bytes.Repeat([]byte{0x1b}, terminalBytes)
	events := foldBegun(terminalBytesOf(data), update("state_update", idleEndTurn))
	require.Equal(t, `{"terminalId":"x","base64":"`+base64.StdEncoding.EncodeToString(data)+`"}`, string(events[0].Kind.(*schema.Raw).Value))
}

// A child that its parent told of has its title and place, in both versions.
func TestWhatAListShowsOfASubagent(t *testing.T) {
	for _, version := range []string{"1", "2"} {
		fold := Translator{}.Fold(testIdentity)
		fs := frames(`> {"id":0,"method":"initialize","params":{"protocolVersion":2}}`, `{"id":0,"result":{"protocolVersion":`+version+`}}`,
			`> {"id":1,"method":"session/new","params":{"cwd":"/w"}}`, `{"id":1,"result":{"sessionId":"s1"}}`,
			update("subagent_update", `,"sessionId":"c","title":"Helper"`), update("subagent_update", `,"sessionId":"d","title":"Other","cwd":"/o"`),
			update("subagent_update", `,"sessionId":"d","title":null`))
		for i := range fs {
			fold.Step(nil, &fs[i])
		}
		require.Equal(t, schema.About{Title: "Helper", Cwd: "/w", Status: schema.StatusOpen}, fold.About(2), version)
		require.Equal(t, schema.About{Cwd: "/o", Status: schema.StatusOpen}, fold.About(3), version)
	}
}

// What a child says, live and for good, is the subagent's from where its parent tells of it; what its
// parent says, of it too, is the parent's.
func TestASubagentHasAnAgentIDOfItsOwn(t *testing.T) {
	child := func(line string) string { return strings.Replace(line, `"sessionId":"s1"`, `"sessionId":"c"`, 1) }
	events := foldBegun(
		child(update("agent_message_chunk", `,"messageId":"m0","content":{"type":"text","text":"unknown yet"}`)),
		update("subagent_update", `,"sessionId":"s1"`), update("subagent_update", `,"sessionId":"c","title":"Helper","state":{"state":"running"}`),
		child(update("agent_message_chunk", `,"messageId":"m1","content":{"type":"text","text":"by pieces"}`)),
		child(update("agent_message", `,"messageId":"m2","content":[{"type":"text","text":"whole"}]`)),
		update("agent_message_chunk", `,"messageId":"m1","content":{"type":"text","text":"of the parent"}`),
		child(update("state_update", idleEndTurn)), update("state_update", idleEndTurn),
	)
	agent, own, parents := events[len(events)-4].AgentID, 0, 0
	require.Equal(t, uuid.Version(5), agent.Version())
	for i, e := range events {
		if e.Session == 2 && i > 0 {
			require.Equal(t, agent, e.AgentID, e.Kind)
			require.Equal(t, "subagent", e.AgentRole)
			own++
			continue
		}
		require.Equal(t, uuid.Nil, e.AgentID, e.Kind)
		require.Equal(t, "agent", e.AgentRole)
		parents++
	}
	require.Equal(t, 7, own, "three messages, two deltas, a state, a Stop")
	require.Equal(t, 7, parents)
}
