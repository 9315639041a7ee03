package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSuspectedSecretsAreCounted hands over what holds two tokens, of which an agent said one in two pieces:
// the commands tell kinds and places, and not the tokens.
func TestSuspectedSecretsAreCounted(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	drawn := func(n int) string { // here, so that no scanner of source trees finds one
		b := make([]byte, n)
		for i := range b {
			b[i] = "abcdefghjkmnpqrstuvwxyzABCDEFGHJKMNPQRSTUVWXYZ23456789"[rand.IntN(54)]
		}
		return string(b)
	}
	asked, said := "gh"+"p_"+drawn(35)+"7", "AI"+"za"+drawn(34)+"7"
	file := filepath.Join(dir, "talk.jsonl")
	chunk := `< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}` + "\n"
	require.NoError(t, os.WriteFile(file, []byte(`> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/"}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1"}}
> {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":"use `+asked+`, please"}]}}
`+fmt.Sprintf(chunk, "I take "+said[:20])+fmt.Sprintf(chunk, said[20:]+" instead")+`< {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
`), 0o600))
	ok(t, "import", "--data", data, file, "--run", "r")
	bundle := filepath.Join(dir, "talk.tar")
	for _, tt := range []struct {
		args []string
		says []string
	}{
		{[]string{"seal", "--all", "--archive", filepath.Join(dir, "archive")}, []string{
			"default/import/r/0/1: 2 suspected secrets: 1 github_token, 1 google_api_key\n",
			"  github_token: event 1 of default/import/r/0/1/1, frame 6 of default/import/r/0/1\n",
			"  google_api_key: event 3 of default/import/r/0/1/1\n",
		}},
		{[]string{"seal", "--all", "--archive", filepath.Join(dir, "archive")}, nil}, // nothing was sealed
		{[]string{"seal", "s-1", "--archive", filepath.Join(dir, "archive"), "--out", bundle}, []string{
			": 2 suspected secrets: 1 github_token, 1 google_api_key\n", // what was sealed before is in it, too
		}},
		{[]string{"export", "s-1", "--out", filepath.Join(dir, "talk.jsonl.out")}, []string{
			", 2 suspected secrets: 1 github_token, 1 google_api_key\n", "  google_api_key: event 3 of default/import/r/0/1/1\n",
		}},
		{[]string{"export", "s-1", "--format", "html", "--out", filepath.Join(dir, "talk.html")}, []string{", 2 suspected secrets: "}},
		{[]string{"export", "s-1", "--frames", "--out", filepath.Join(dir, "frames.jsonl")}, []string{
			", 1 suspected secret: 1 github_token\n", "  github_token: frame 6 of default/import/r/0/1\n",
		}},
	} {
		stdout, stderr, code := steno(t, append(tt.args, "--data", data)...)
		require.Zero(t, code, stderr)
		for _, s := range tt.says {
			require.Contains(t, stderr, s, tt.args)
		}
		require.NotContains(t, stderr, "no suspected secret")
		require.NotContains(t, stdout+stderr, asked[4:])
		require.NotContains(t, stdout+stderr, said[4:])
	}
	var sealed sealedCapture
	require.NoError(t, json.Unmarshal([]byte(strings.TrimSpace(ok(t, "seal", "s-1", "--data", data, "--out", bundle, "--force", "--json"))), &sealed))
	require.Equal(t, uint64(2), sealed.Suspects.Secrets)
	require.Equal(t, uint64(1), sealed.Suspects.Frames)
	require.GreaterOrEqual(t, sealed.Suspects.Events, uint64(2), "the prompt is a message, and raw")
}
