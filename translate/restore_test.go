package translate_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/acp"
	"github.com/steno-io/steno/translate/translatetest"
)

var testIdentity = schema.Identity{Namespace: "default", Workflow: "test", Run: "run-1", Activity: 0, Attempt: 1}

// versioned is a translator under another version's name.
type versioned struct {
	acp.Translator
	version string
}

func (v versioned) Version() string { return v.version }

func current(t translate.Translator, kept ...translate.Translator) *translate.Catalogue {
	return translate.NewCatalogue(map[schema.Protocol]translate.Translator{schema.ACP: t}, kept...)
}

// conversation is an open frame, then lines of one session; the last message stays open.
func conversation() []schema.Frame {
	said := func(text string) string {
		return `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}}}`
	}
	lines := []string{
		`{"protocol":"acp","labels":{"a":"b"}}`,
		`{"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"one"}]}}`,
		said("1"), said(" 2"), `{"id":1,"result":{"stopReason":"end_turn"}}`,
		`{"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"two"}]}}`,
		said("3"), said(" 4"),
	}
	var frames []schema.Frame
	for i, line := range lines {
		f := schema.Frame{
			Seq: uint64(i) + 1, At: time.UnixMilli(int64(i) + 1).UTC(), From: schema.FromAgent, Type: schema.TypeData, End: schema.EndLF, Data: []byte(line),
		}
		switch i {
		case 0:
			f.From, f.Type, f.End = schema.FromControl, schema.TypeOpen, schema.EndNone
		case 1, 5:
			f.From = schema.FromClient
		}
		frames = append(frames, f)
	}
	return frames
}

func step(t *testing.T, c *translate.Capture, frames ...schema.Frame) string {
	t.Helper()
	var events []schema.Event
	var err error
	for i := range frames {
		events, err = c.Step(events, &frames[i])
		require.NoError(t, err)
	}
	return string(translatetest.Encode(events))
}

func TestARestoredCaptureGoesOn(t *testing.T) {
	frames, catalogue := conversation(), current(acp.Translator{})
	for cut := 1; cut <= len(frames); cut++ {
		whole := translate.NewCapture(testIdentity, catalogue, "")
		step(t, whole, frames[:cut]...)
		state := whole.AppendState([]byte("before"))
		require.Equal(t, "before", string(state[:6]))
		state = state[6:]
		other, err := translate.RestoreCapture(testIdentity, catalogue, slices.Clone(state))
		require.NoError(t, err)
		same := func() {
			require.Equal(t, whole.Frame(), other.Frame())
			require.Equal(t, whole.Last(), other.Last())
			require.Equal(t, whole.Version(), other.Version())
			require.Equal(t, whole.Open(), other.Open())
			for session := range uint32(3) {
				require.Equal(t, whole.Ordinal(session), other.Ordinal(session))
				require.Equal(t, whole.About(session), other.About(session))
			}
			require.Equal(t, whole.AppendState(nil), other.AppendState(nil))
		}
		same()
		require.Equal(t, step(t, whole, frames[cut:]...), step(t, other, frames[cut:]...), "behind frame %d", cut)
		same()
		_, err = other.Step(nil, &frames[0])
		require.ErrorIs(t, err, translate.ErrFrame)
		require.Equal(t, string(translatetest.Encode(whole.End(nil))), string(translatetest.Encode(other.End(nil))))
		same()
	}
}

// A capture keeps its translator version, whichever is the current one.
func TestARestoredCaptureKeepsItsVersion(t *testing.T) {
	old, frames := versioned{version: "acp/0"}, conversation()
	c := translate.NewCapture(testIdentity, current(acp.Translator{}, old), "acp/0")
	step(t, c, frames[:4]...)
	state := c.AppendState(nil)
	other, err := translate.RestoreCapture(testIdentity, current(acp.Translator{}, old), state)
	require.NoError(t, err)
	require.Equal(t, "acp/0", other.Version())
	require.Equal(t, step(t, c, frames[4:]...), step(t, other, frames[4:]...))

	catalogue := current(acp.Translator{})
	_, err = translate.RestoreCapture(testIdentity, catalogue, state)
	_, missing := catalogue.ByVersion("acp/0")
	require.ErrorContains(t, err, missing.Error())
	require.NotErrorIs(t, err, translate.ErrState)
}

func TestWhatIsNoStateOfTheCapture(t *testing.T) {
	catalogue := current(acp.Translator{})
	c := translate.NewCapture(testIdentity, catalogue, "")
	require.Empty(t, c.AppendState(nil), "there is no state before the first frame")
	step(t, c, conversation()...)
	state := c.AppendState(nil)

	refused := func(id schema.Identity, state []byte) {
		t.Helper()
		_, err := translate.RestoreCapture(id, catalogue, state)
		require.ErrorIs(t, err, translate.ErrState)
	}
	refused(testIdentity, nil)
	for n := range state {
		refused(testIdentity, state[:n])
	}
	refused(testIdentity, append(state[:len(state):len(state)], 0))
	another := testIdentity
	another.Attempt++
	refused(another, state)
	for n := range 16 { // the head's form
		state[n] ^= 1
		refused(testIdentity, state)
		state[n] ^= 1
	}
}
