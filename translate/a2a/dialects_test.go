package a2a

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/translatetest"
)

// recordings reads frames cut from real traffic, by the name of their recording.
func recordings(t *testing.T) map[string][]schema.Frame {
	t.Helper()
	file, err := os.Open("testdata/a2a-go.jsonl")
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

// ending adds the close of the exchange.
func ending(frames []schema.Frame) []schema.Frame {
	last := frames[len(frames)-1]
	return append(frames[:len(frames):len(frames)], schema.Frame{
		Seq: last.Seq + 1, At: last.At, From: schema.FromControl, Type: schema.TypeClose, Protocol: schema.A2A,
		End: schema.EndNone, Exchange: "e", Data: []byte(`{"reason":"eof","exchange":"e"}`),
	})
}

// durable writes a transcript without what a dialect gives: ids, times, labels of frames, and how a
// frame was read.
func durable(events []schema.Event) (lines []string) {
	for i := range events {
		e := &events[i]
		if e.Ephemeral {
			continue
		}
		switch k := e.Kind.(type) {
		case *schema.Message:
			lines = append(lines, fmt.Sprintf("%s %s %q revision %d", k.Role, k.Channel, k.Text, k.Revision))
		case *schema.Progress:
			lines = append(lines, fmt.Sprintf("note %q", k.Detail.(*schema.Note).Text))
		case *schema.Stop:
			lines = append(lines, fmt.Sprintf("stop %s %q", k.Reason, k.Detail))
		case *schema.Raw:
			if path.Base(path.Dir(k.Source)) == "part" {
				lines = append(lines, "part "+path.Base(k.Source))
			}
		default:
			lines = append(lines, e.Kind.Tag())
		}
	}
	return lines
}

var forms = []string{"v03-jsonrpc-stream-", "v03-rest-stream-", "v10-jsonrpc-send-", "v10-jsonrpc-stream-", "v10-rest-stream-"}

// The same scenario gives one transcript, whatever its dialect and binding, sent or streamed.
func TestADialectLeavesNoTrace(t *testing.T) {
	all := recordings(t)
	for scenario, want := range map[string][]string{
		"happy": {
			`note "Looking at the order list"`, `Assistant answer "Seven <b>open</b> orders in Łódź." revision 0`,
			"part data", "part raw", "part url", `stop EndTurn ""`,
		},
		"auth":         {`note "Looking at the order list"`, `Assistant answer "Sign in first" revision 0`, `note "interrupted: auth-required"`},
		"input":        {`note "Looking at the order list"`, `Assistant answer "Which branch?" revision 0`, `note "interrupted: input-required"`},
		"reject":       {`note "Looking at the order list"`, `Assistant answer "Out of scope" revision 0`, `stop Other "rejected"`},
		"message-only": {`Assistant answer "Only a message." revision 0`, `stop EndTurn ""`},
		"fail":         {`note "Looking at the order list"`, `Assistant answer "Upstream said no" revision 0`, `stop Error "Upstream said no"`},
		"boom":         {`stop Error ""`},
		"slow":         nil,
	} {
		want = append([]string{fmt.Sprintf("User answer %q revision 0", "orders "+scenario)}, want...)
		for i, form := range forms {
			frames := all[form+scenario]
			require.NotEmpty(t, frames, form+scenario)
			frames = ending(frames)
			got := durable(translatetest.Fold(Translator{}, frames))
			if scenario == "slow" { // it is told by the others
				if i == 0 {
					want = got
				}
				require.Len(t, got, 7)
			}
			require.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"), form+scenario)
		}
	}
}

func TestEveryRecordingHasTheProperties(t *testing.T) {
	for name, frames := range recordings(t) {
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			translatetest.Properties(t, Translator{}, frames)
			translatetest.Properties(t, Translator{}, ending(frames))
		})
	}
}
