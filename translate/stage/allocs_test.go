package stage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/alloctest"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/acp"
)

// chained makes frames of one session of ACP, the first of which opens it.
func chained(t *testing.T, lines ...string) []schema.Frame {
	t.Helper()
	out := make([]schema.Frame, 0, len(lines)+1)
	chain := ""
	for i, line := range append([]string{`{"protocol":"acp"}`}, lines...) {
		f := schema.Frame{
			Seq: uint64(i) + 1, At: time.Unix(1700000000, int64(i)).UTC(), From: schema.FromAgent, Type: schema.TypeData, End: schema.EndLF,
			Salt: fmt.Sprintf("%032x", i), Data: []byte(line), Writer: schema.Writer{Journal: "j", Offset: uint64(i) + 1},
		}
		if i == 0 {
			f.From, f.Type, f.End = schema.FromControl, schema.TypeOpen, schema.EndNone
		}
		var err error
		f.Chain, err = schema.ChainHash(chain, &f)
		require.NoError(t, err)
		chain = f.Chain
		out = append(out, f)
	}
	return out
}

// What a worker does with a frame that it was given, but for the wire: check, fold, encode, and make the record.
func TestAllocations(t *testing.T) {
	const n = 500
	const update = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{%s}}}`
	var chunks, tools []string
	for i := range n {
		chunks = append(chunks, fmt.Sprintf(update, `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":" the whole answer"}`))
		tools = append(tools, fmt.Sprintf(update, fmt.Sprintf(`"sessionUpdate":"tool_call","toolCallId":"t%d","title":"grind","status":"completed","rawOutput":"flour"`, i)))
	}
	w, err := New(Options{
		JS:        struct{ jetstream.JetStream }{}, // nothing is sent
		Catalogue: translate.NewCatalogue(map[schema.Protocol]translate.Translator{schema.ACP: acp.Translator{}}),
	})
	require.NoError(t, err)
	c := &capture{id: schema.Identity{Namespace: "n", Workflow: "w", Run: "r", Attempt: 1}, part: &partition{worker: w}}
	var events []schema.Event
	var payload []byte
	fold := func(frames []schema.Frame, commit bool) func() {
		return func() {
			c.begin(w.opts.Catalogue, nil, 0)
			for i := range frames {
				var bad *failure
				if events, bad = c.step(events[:0], &frames[i], uint64(i)+1); bad != nil {
					panic(bad.err)
				}
				if commit {
					rec := cut(c.pending, c.fold.Version())
					payload = appendPayload(payload[:0], &rec)
					if _, err := rec.Header(); err != nil {
						panic(err)
					}
				}
				c.dropAll()
			}
		}
	}
	toolFrames := chained(t, tools...)
	alloctest.Check(t,
		alloctest.Row{What: "take a chunk frame", Most: 5.3, Each: n, Run: fold(chained(t, chunks...), false)},
		alloctest.Row{What: "take a tool's frame, and encode its four events", Most: 46.5, Each: n, Run: fold(toolFrames, false)},
		alloctest.Row{What: "the same, and a record of it", Most: 65.5, Each: n, Run: fold(toolFrames, true)},
	)
	require.Equal(t, 4, strings.Count(string(payload), "\n"))
}
