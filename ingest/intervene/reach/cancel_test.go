package reach

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/tap"
	"github.com/steno-io/steno/ingest/turns"
	"github.com/steno-io/steno/schema"
)

// journal keeps interventions, and fails when it is told to.
type journal struct {
	mu        sync.Mutex
	kept      []schema.InterventionInfo
	broken    error
	meanwhile func() // what happens while an intervention waits for its place; nil: nothing
}

func (j *journal) Append(context.Context, schema.From, time.Time, []byte) error { return nil }

func (j *journal) Control(_ context.Context, typ schema.FrameType, _ time.Time, info any) error {
	if typ != schema.TypeIntervention {
		return nil
	}
	if j.meanwhile != nil {
		j.meanwhile()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil {
		j.kept = append(j.kept, info.(schema.InterventionInfo))
	}
	return j.broken
}

const prompt = `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s\u002d1","prompt":[]}}`

func cancel(id, session string) schema.Intervention {
	return schema.Intervention{ID: id, Session: session, IssuedBy: "miller", Kind: schema.InterventionKind{Kind: schema.PrimitiveCancel}}
}

// The agent says what it hears.
func TestCancelOfATappedTurn(t *testing.T) {
	t.Parallel()
	j, seen, inlet := &journal{}, &turns.Turns{}, &tap.Inlet{}
	target := Tapped{Turns: seen, Inlet: inlet, Journal: j}
	require.Empty(t, target.Supported())
	require.Equal(t, schema.Stale("the agent takes no input"), target.Deliver(t.Context(), cancel("0", "")))

	theirIn, in, err := os.Pipe()
	require.NoError(t, err)
	out, theirOut, err := os.Pipe()
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := tap.Run(t.Context(), tap.Options{Command: []string{"cat"}, Stdin: theirIn, Stdout: theirOut, Journal: j, Watch: seen.Pass, Inlet: inlet})
		ended <- err
	}()
	require.Eventually(t, inlet.Open, 20*time.Second, time.Millisecond)
	require.Equal(t, []schema.Primitive{schema.PrimitiveCancel}, target.Supported())
	require.Equal(t, schema.Stale("no turn is in progress"), target.Deliver(t.Context(), cancel("1", "")))
	require.Equal(t, schema.NotSupported(schema.PrimitiveInject), target.Deliver(t.Context(), schema.Intervention{
		ID: "2", Kind: schema.InterventionKind{Kind: schema.PrimitiveInject, Text: "x"},
	}))

	lines := bufio.NewReader(out)
	next := func() string {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		return line
	}
	_, err = in.WriteString(prompt + "\n")
	require.NoError(t, err)
	require.Equal(t, prompt+"\n", next())
	require.Equal(t, schema.Applied(), target.Deliver(t.Context(), cancel("3", "")))
	const line = `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s\u002d1"}}`
	require.Equal(t, line+"\n", next(), "the session's id stands there as it was sent")
	require.Len(t, j.kept, 1)
	require.Equal(t, "s-1", j.kept[0].Session)
	require.Equal(t, "miller", j.kept[0].IssuedBy)
	require.Equal(t, line, j.kept[0].Line)
	require.Contains(t, target.Deliver(t.Context(), cancel("4", "s-2")).Detail, `session "s-2" was not seen`)

	j.mu.Lock()
	j.broken = errors.New("no space")
	j.mu.Unlock()
	require.Contains(t, target.Deliver(t.Context(), cancel("5", "s-1")).Detail, "no space")
	require.NoError(t, in.Close())
	require.NoError(t, <-ended)
	rest, err := lines.ReadString('\n')
	require.Error(t, err)
	require.Empty(t, rest, "what cannot be recorded is not said")
	require.Empty(t, target.Supported())
	require.NoError(t, out.Close())
}

// What stands in the record and was not written after all is said there, too.
func TestWhatWasNotWritten(t *testing.T) {
	t.Parallel()
	j := &journal{}
	info := schema.InterventionInfo{Intervention: cancel("1", "s-1"), Line: "x"}
	o := recordOutcome(t.Context(), j, info, schema.Stale("it was recorded, but not written"))
	require.Equal(t, schema.OutcomeStale, o.Outcome)
	require.Len(t, j.kept, 1)
	require.Equal(t, &o, j.kept[0].Outcome)
	require.Empty(t, j.kept[0].Line)
	text, err := json.Marshal(j.kept[0])
	require.NoError(t, err)
	back, err := schema.ReadIntervention(text)
	require.NoError(t, err)
	require.Equal(t, j.kept[0], back)

	j.broken = errors.New("no space")
	require.Contains(t, recordOutcome(t.Context(), j, info, o).Detail, "the record does not say so: no space")
}

func TestCancelOfOnesOwnTurn(t *testing.T) {
	t.Parallel()
	j, seen, cancelled := &journal{}, &turns.Turns{}, 0
	own := Own{Turns: seen, Journal: j, Cancel: func() { cancelled++ }}
	require.Equal(t, schema.Stale("no turn is in progress"), own.Deliver(t.Context(), cancel("1", "")))
	seen.Pass(schema.FromClient, []byte(prompt+"\n"))
	require.Equal(t, schema.Applied(), own.Deliver(t.Context(), cancel("2", "")))
	require.Equal(t, 1, cancelled)
	require.Len(t, j.kept, 1)
	require.Empty(t, j.kept[0].Line, "its own client says it")
	j.meanwhile = func() { seen.Pass(schema.FromAgent, []byte(`{"id":2,"result":{"stopReason":"end_turn"}}`+"\n")) }
	late := schema.Stale("no turn is in progress")
	require.Equal(t, late, own.Deliver(t.Context(), cancel("late", "")))
	require.Equal(t, 1, cancelled)
	require.Len(t, j.kept, 3)
	require.Equal(t, &late, j.kept[2].Outcome, "the record says so")
	j.meanwhile = nil
	seen.Pass(schema.FromClient, []byte(prompt+"\n"))
	j.broken = errors.New("no space")
	require.Contains(t, own.Deliver(t.Context(), cancel("3", "")).Detail, "no space")
	require.Equal(t, 1, cancelled)
	require.Equal(t, schema.NotSupported(schema.PrimitivePause), own.Deliver(t.Context(), schema.Intervention{Kind: schema.InterventionKind{Kind: schema.PrimitivePause}}))
}
