package a2atest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// Recordings reads frames cut from real traffic, by the name of their recording.
func Recordings(t *testing.T, path string) map[string][]schema.Frame {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	frames := map[string][]schema.Frame{}
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var line struct{ Capture, Dir, Path, Version, Binding, Raw string }
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &line))
		name := line.Capture + line.Path
		f := schema.Frame{
			Seq: uint64(len(frames[name])) + 1, From: schema.FromAgent, Type: schema.TypeData, Protocol: schema.A2A,
			End: schema.EndNone, Exchange: "e", No: uint64(len(frames[name])), Data: []byte(line.Raw),
		}
		f.At = time.UnixMilli(int64(f.Seq)).UTC()
		switch line.Dir {
		case "request":
			f.From, f.Chan = schema.FromClient, schema.ChanRequest
			f.HTTP = requestEvidence(line.Version, line.Binding)
		case "response":
			f.Chan = schema.ChanResponse
		case "sse":
			f.Chan = schema.ChanStream
		case "push":
			f.Chan, f.Exchange = schema.ChanPush, fmt.Sprintf("p%d", f.Seq)
		case "card":
			f.Chan = schema.ChanCard
		default:
			t.Fatalf("recording %s: direction %q", name, line.Dir)
		}
		frames[name] = append(frames[name], f)
	}
	require.NoError(t, scanner.Err())
	require.NotEmpty(t, frames)
	return frames
}

func requestEvidence(version, binding string) []byte {
	switch {
	case version == "1.0" && binding == "rest":
		return []byte(`{"method":"POST","path":"/rest/message:stream","a2a_version":"1.0"}`)
	case version == "0.3" && binding == "rest":
		return []byte(`{"method":"POST","path":"/v1/message:stream"}`)
	case version == "1.0":
		return []byte(`{"method":"POST","path":"/rpc","a2a_version":"1.0"}`)
	}
	return []byte(`{"method":"POST","path":"/rpc"}`)
}

// Ending adds the close of the exchange.
func Ending(frames []schema.Frame) []schema.Frame {
	last := frames[len(frames)-1]
	return append(frames[:len(frames):len(frames)], schema.Frame{
		Seq: last.Seq + 1, At: last.At, From: schema.FromControl, Type: schema.TypeClose, Protocol: schema.A2A,
		End: schema.EndNone, Exchange: "e", Data: []byte(`{"reason":"eof","exchange":"e"}`),
	})
}
