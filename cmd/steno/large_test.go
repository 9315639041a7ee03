package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// Frames above the inline bound go by the blob bucket, and come out whole: their events, too.
func TestLargeFramesComeThroughWhole(t *testing.T) {
	sizes := map[string]int{"a": 600 << 10, "b": 8 << 20, "c": 64 << 20}
	path := filepath.Join(t.TempDir(), "large.jsonl")
	file, err := os.Create(path)
	require.NoError(t, err)
	say := func(format string, args ...any) {
		_, err := fmt.Fprintf(file, format+"\n", args...)
		require.NoError(t, err)
	}
	say(`> {"jsonrpc":"2.0","id":0,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}`)
	for _, id := range []string{"a", "b", "c"} {
		say(`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","messageId":%q,"content":{"type":"text","text":%q}}}}`,
			id, strings.Repeat(id, sizes[id]))
	}
	say(`< {"jsonrpc":"2.0","id":0,"result":{"stopReason":"end_turn"}}`)
	require.NoError(t, file.Close())
	data := t.TempDir()
	ok(t, "import", "--data", data, path)
	got := map[string]int{}
	for _, e := range events(t, ok(t, "show", "--data", data, "--json")) {
		if m, isMessage := e.Kind.(*schema.Message); isMessage && m.Role == schema.Assistant {
			require.Equal(t, len(m.Text), strings.Count(m.Text, m.MessageID))
			got[m.MessageID] = len(m.Text)
		}
	}
	require.Equal(t, sizes, got)
	require.Contains(t, ok(t, "verify", "--data", data), " 0 unaccounted")
}
