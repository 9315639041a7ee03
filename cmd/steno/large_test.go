package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink/verify"
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
	defer startUp(t, data).kill(t)
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

// The bytes of one frame are gone from the bucket: verify names the capture, the frame and the blob, says
// it on stdout, and proves what else there is.
func TestVerifyNamesALostBlob(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	path := filepath.Join(t.TempDir(), "large.jsonl")
	require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, "%s\n%s\n",
		`> {"jsonrpc":"2.0","id":0,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}`,
		`< {"jsonrpc":"2.0","method":"x","params":"`+strings.Repeat("a", schema.MaxInline)+`"}`), 0o600))
	ok(t, "import", "--data", data, path)
	ok(t, "import", "--data", data, "testdata/sacks.jsonl")
	a := &app{data: data, sync: "always", stdio: stdio{err: t.Output()}}
	sn, ctx, err := a.open(minute(t), "test")
	require.NoError(t, err)
	bucket, err := sn.js.ObjectStore(ctx, topology.Blob)
	require.NoError(t, err)
	listed, err := bucket.List(ctx)
	require.NoError(t, err)
	require.NotEmpty(t, listed)
	var frame string
	for m, err := range topology.ReadHeaders(ctx, sn.js, topology.Raw, schema.RawSubjects) {
		require.NoError(t, err)
		if sha := m.Header.Get(schema.HeaderBlob); sha != "" {
			frame = sha
		}
	}
	for _, one := range listed {
		if strings.HasSuffix(one.Name, "/"+frame) {
			require.NoError(t, bucket.Delete(ctx, one.Name))
		}
	}
	require.NoError(t, sn.close())
	stdout, stderr, code := steno(t, "verify", "--data", data, "--json")
	require.Equal(t, exitChanged, code, stderr)
	var report verify.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	require.Len(t, report.Findings, 1)
	require.Equal(t, verify.Unreadable, report.Findings[0].Problem)
	require.EqualValues(t, 3, report.Findings[0].Frame)
	require.Contains(t, report.Findings[0].Capture, "default/import/")
	require.Contains(t, report.Findings[0].Detail, frame)
	require.Equal(t, 2, report.Captures)
	require.NotZero(t, report.Events)
}
