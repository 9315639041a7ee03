package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// kills is how often the holder is killed; STENO_KILLS asks for more than the short form.
func kills(t *testing.T) int {
	if s := os.Getenv("STENO_KILLS"); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		return n
	}
	return 4
}

// longRecording writes a conversation of about n frames as plain JSON-RPC lines.
func longRecording(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...); n-- }
	line(`> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	line(`< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"mill"}}}`)
	line(`> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/"}}`)
	line(`< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1"}}`)
	for turn := 2; n > 0; turn++ {
		line(`> {"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":"turn %d"}]}}`, turn, turn)
		for i := 0; i < 60 && n > 4; i++ {
			line(`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"grain %d of turn %d. "}}}}`, i, turn)
			if i%20 == 10 {
				line(`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"tool_call","toolCallId":"t%d-%d","title":"grind","status":"in_progress"}}}`, turn, i)
				line(`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"tool_call_update","toolCallId":"t%d-%d","status":"completed","rawOutput":"%s"}}}`, turn, i, strings.Repeat("flour ", 40))
			}
		}
		line(`< {"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}`, turn)
	}
	path := filepath.Join(t.TempDir(), "long.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

// TestKilledHolders kills steno up at random moments of one import and starts it again each time: the
// transcript is the offline translation, numbered 1 … n.
func TestKilledHolders(t *testing.T) {
	data, file := t.TempDir(), longRecording(t, 2500*kills(t))
	offline := durable(t, ok(t, "translate", file))
	up := startUp(t, data)
	importing := stenoCommand(t.Context(), "import", "--data", data, "--json", file)
	var out, errs strings.Builder
	importing.Stdout, importing.Stderr = &out, &errs
	require.NoError(t, importing.Start())
	done := make(chan error, 1)
	go func() { done <- importing.Wait() }()

	killed, finished := 0, false
	for killed < kills(t) && !finished {
		select {
		case err := <-done:
			require.NoError(t, err, errs.String())
			finished = true
		case <-time.After(time.Duration(50+rand.IntN(700)) * time.Millisecond):
			up.kill(t)
			killed++
			up = startUp(t, data)
		}
	}
	if !finished {
		require.NoError(t, <-done, errs.String())
	}
	t.Logf("killed %d times while the import ran", killed)
	var result imported
	require.NoError(t, json.Unmarshal([]byte(out.String()), &result))
	for killed < kills(t) { // the rest fall on what was stored
		up.kill(t)
		killed++
		up = startUp(t, data)
		time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
	}
	for session, lines := range offline {
		require.Equal(t, numbered(t, lines), ok(t, "show", "--data", data, "--json", fmt.Sprintf("%s/%d", result.Capture, session)))
	}
	require.Contains(t, ok(t, "verify", "--data", data), " 0 unaccounted\n")
	require.Zero(t, up.stop(t), up.errs.String())
}
