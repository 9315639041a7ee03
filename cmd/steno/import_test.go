package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/files"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/acp"
	"github.com/steno-io/steno/translate/translatetest"
)

var recordings = []string{
	"goose-1.37.0.json", "zed-1.5.4-claude-code-0.43.0.json", "amp-acp-0.8.1.json", "codex-acp-0.16.0.json", "gemini-cli-0.46.0.json",
}

func TestGooseWithWebStorm(t *testing.T) {
	data := t.TempDir()
	ok(t, "import", "--data", data, recording("goose-1.37.0.json"))
	transcripts := list(t, data)
	require.Len(t, transcripts, 2, "the connection and one session")
	var frames uint64
	for _, s := range transcripts {
		frames += s.Frames
		require.Zero(t, s.Unaccounted)
		require.EqualValues(t, "ended", s.Status)
	}
	require.EqualValues(t, 571+2, frames, "data frames, open and close")

	session := transcripts[0]
	if session.Empty {
		session = transcripts[1]
	}
	require.Equal(t, "goose", session.Agent)
	var answer, prompts []string
	calls, results, contents := 0, 0, 0
	completed := map[string]bool{}
	for i, e := range events(t, ok(t, "show", "--data", data, "--json", session.Key)) {
		require.EqualValues(t, i+1, e.StoreSeq)
		switch k := e.Kind.(type) {
		case *schema.Message:
			switch {
			case k.Role == schema.User:
				prompts = append(prompts, k.Text)
			case k.Channel == schema.Answer:
				answer = append(answer, k.Text)
			}
		case *schema.ToolCall:
			calls++
		case *schema.ToolResult:
			results++
		case *schema.ToolState:
			if k.State.Phase == schema.Completed {
				completed[k.ToolID] = true
			}
		case *schema.Raw:
			if k.Source == "fs/read_text_file/response" {
				contents++
			}
		}
	}
	require.Len(t, prompts, 2)
	require.Equal(t, goosePrompts(t), prompts)
	require.Equal(t, 12, calls)
	require.Equal(t, 12, results)
	require.Len(t, completed, 12)
	require.Equal(t, 6, contents, "file contents that the client sent")
	require.Equal(t, gooseAnswer(t), strings.Join(answer, ""))
	require.Len(t, []rune(gooseAnswer(t)), 9774)
}

// gooseMessages reads the recording without any code of ours.
func gooseMessages(t *testing.T) (messages []map[string]any) {
	t.Helper()
	raw, err := os.ReadFile(recording("goose-1.37.0.json"))
	require.NoError(t, err)
	var export struct{ Messages []struct{ Raw string } }
	require.NoError(t, json.Unmarshal(raw, &export))
	for _, m := range export.Messages {
		var message map[string]any
		require.NoError(t, json.Unmarshal([]byte(m.Raw), &message))
		messages = append(messages, message)
	}
	return messages
}

func gooseAnswer(t *testing.T) string {
	var b strings.Builder
	for _, m := range gooseMessages(t) {
		params, _ := m["params"].(map[string]any)
		update, _ := params["update"].(map[string]any)
		if update["sessionUpdate"] == "agent_message_chunk" {
			b.WriteString(update["content"].(map[string]any)["text"].(string))
		}
	}
	return b.String()
}

func goosePrompts(t *testing.T) (prompts []string) {
	for _, m := range gooseMessages(t) {
		if m["method"] == "session/prompt" {
			text := ""
			for _, block := range m["params"].(map[string]any)["prompt"].([]any) {
				if block.(map[string]any)["type"] == "text" {
					text += block.(map[string]any)["text"].(string)
				}
			}
			prompts = append(prompts, text)
		}
	}
	return prompts
}

func TestEveryRecordingTranslatesAsItIsStored(t *testing.T) {
	data := t.TempDir()
	defer startUp(t, data).kill(t)
	for _, name := range recordings {
		t.Run(name, func(t *testing.T) {
			offline := ok(t, "translate", recording(name))
			require.Equal(t, offline, ok(t, "translate", recording(name)), "the same file gives the same bytes")

			var result imported
			require.NoError(t, json.Unmarshal([]byte(ok(t, "import", "--json", "--data", data, recording(name))), &result))
			sessions := durable(t, offline)
			require.NotEmpty(t, sessions)
			for session, lines := range sessions {
				key := fmt.Sprintf("%s/%d", result.Capture, session)
				require.Equal(t, numbered(t, lines), ok(t, "show", "--data", data, "--json", key))
			}
			file, err := files.Open(recording(name))
			require.NoError(t, err)
			var frames []schema.Frame
			for f, err := range file.Frames() {
				require.NoError(t, err)
				frames = append(frames, f)
			}
			translatetest.Properties(t, acp.Translator{}, frames)
		})
	}
	for _, s := range list(t, data) {
		require.Zero(t, s.Unaccounted, s.Key)
	}
	require.Contains(t, ok(t, "verify", "--data", data), " 0 unaccounted\n")
}

func TestImportAgainResumesComparesAndRefuses(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	original, err := os.ReadFile(recording("codex-acp-0.16.0.json"))
	require.NoError(t, err)
	first := ok(t, "import", "--data", data, "--json", "--run", "r", recording("codex-acp-0.16.0.json"))
	again := ok(t, "import", "--data", data, "--json", "--run", "r", recording("codex-acp-0.16.0.json"))
	require.Contains(t, first, `"frames":9,"added":9`)
	require.Contains(t, again, `"frames":9,"added":0`)

	changed := filepath.Join(dir, "changed.json")
	require.NoError(t, os.WriteFile(changed, []byte(strings.ReplaceAll(string(original), "Resource not found", "Resource was found")), 0o600))
	_, stderr, code := steno(t, "import", "--data", data, "--run", "r", changed)
	require.Equal(t, exitRuntime, code)
	require.Contains(t, stderr, "frame 6")
	require.Contains(t, stderr, "changed.json")
}

func TestABrokenFileKeepsWhatStandsBefore(t *testing.T) {
	data, path := t.TempDir(), filepath.Join(t.TempDir(), "broken.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
{"jsonrpc":"2.0","id":7,"result":{}}
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/"}}
`), 0o600))
	_, stderr, code := steno(t, "import", "--data", data, path)
	require.Equal(t, exitRuntime, code)
	require.Contains(t, stderr, "broken.jsonl:3")
	require.Contains(t, stderr, "what stands before it is kept: ")
	transcripts := list(t, data)
	require.Len(t, transcripts, 1)
	require.EqualValues(t, "open", transcripts[0].Status)
	require.EqualValues(t, 3, transcripts[0].Frames, "open and the two lines before the bad one")
	require.Contains(t, ok(t, "verify", "--data", data), " 0 unaccounted")
}

func TestAChangedByteInTheLedgerIsFound(t *testing.T) {
	data := t.TempDir()
	ok(t, "import", "--data", data, recording("gemini-cli-0.46.0.json"))
	path := filepath.Join(data, "ledger.db")
	ledger, err := os.ReadFile(path)
	require.NoError(t, err)
	at := strings.Index(string(ledger), "Log in with Google")
	require.Positive(t, at)
	ledger[at] ^= 1
	require.NoError(t, os.WriteFile(path, ledger, 0o600))
	stdout, _, code := steno(t, "verify", "--data", data)
	require.Equal(t, exitChanged, code)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Contains(t, lines[0], "changed")
	require.Regexp(t, `[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-`, lines[0], "the event is named")
	require.True(t, strings.HasPrefix(lines[len(lines)-1], "not verified:"), stdout)
}
