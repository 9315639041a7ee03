package acp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
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
