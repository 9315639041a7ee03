package typing_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/typing"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/a2a"
	"github.com/steno-io/steno/translate/acp"
	"github.com/steno-io/steno/translate/translatetest"
)

var start = time.Date(2026, 11, 29, 20, 0, 0, 0, time.UTC)

func event(after time.Duration, kind schema.Kind) *schema.Event {
	e := &schema.Event{Transcript: schema.Transcript{Session: 1}, EmittedAt: start.Add(after), Kind: kind}
	switch k := kind.(type) {
	case *schema.Delta:
		e.Ephemeral = true
	case *schema.Progress:
		_, e.Ephemeral = k.Detail.(*schema.Thinking)
	default:
		e.StoreSeq = 7
	}
	return e
}

func delta(after time.Duration, text string) *schema.Event {
	return event(after, &schema.Delta{MessageID: "m", TextFragment: text})
}

func answer(after time.Duration, text string) *schema.Event {
	return event(after, &schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: "m", Text: text})
}

func first() *schema.Event { return event(0, &schema.Raw{Source: "acp/open"}) }

func TestMessagesHaveTheirPieces(t *testing.T) {
	const ms = time.Millisecond
	again := func(e *schema.Event) *schema.Event {
		e.Kind.(*schema.Delta).Reset = true
		return e
	}
	revised := func(e *schema.Event) *schema.Event {
		e.Kind.(*schema.Message).Revision = 2
		return e
	}
	for name, c := range map[string]struct {
		events []*schema.Event
		want   string
	}{
		"answer": {[]*schema.Event{first(), delta(12*ms, "There "), delta(30*ms+999*time.Microsecond, "are"), answer(time.Second, "There are")},
			`{"store_seq":7,"message_id":"m","channel":"answer","pieces":[[12,6],[30,9]]}`},
		"thought": {[]*schema.Event{
			first(),
			event(ms, &schema.Progress{Detail: &schema.Thinking{MessageID: "m", Text: "Hm"}}),
			delta(2*ms, "another"),
			event(3*ms, &schema.Message{Role: schema.Assistant, Channel: schema.Thought, MessageID: "m", Text: "Hm"}),
		}, `{"store_seq":7,"message_id":"m","channel":"thought","pieces":[[1,2]]}`},
		"beyond 16 bits": {[]*schema.Event{first(), delta(ms, "🌾é"), delta(2*ms, "!"), answer(3*ms, "🌾é!")},
			`{"store_seq":7,"message_id":"m","channel":"answer","pieces":[[1,3],[2,4]]}`},
		"before the first event": {[]*schema.Event{delta(-1500*time.Microsecond, "a"), first(), answer(ms, "a")},
			`{"store_seq":7,"message_id":"m","channel":"answer","pieces":[[-2,1]]}`},
		"typed anew": {[]*schema.Event{first(), delta(ms, "Fourteen"), again(delta(2*ms, "Fif")), delta(3*ms, "teen"), answer(4*ms, "Fifteen")},
			`{"store_seq":7,"message_id":"m","channel":"answer","pieces":[[2,3],[3,7]]}`},
		"replaced at its end":    {[]*schema.Event{first(), delta(ms, "Four"), delta(2*ms, "teen "), answer(4*ms, "Fourteen.")}, `{"store_seq":7,"message_id":"m","channel":"answer","pieces":[[1,4]]}`},
		"replaced wholly":        {[]*schema.Event{first(), delta(ms, "Fourteen"), answer(4*ms, "None")}, ""},
		"behind what was stored": {[]*schema.Event{first(), delta(ms, " and "), delta(2*ms, "rye"), revised(answer(4*ms, "oats and rye"))}, `{"store_seq":7,"message_id":"m","channel":"answer","pieces":[[1,9],[2,12]]}`},
		"came whole":             {[]*schema.Event{first(), answer(4*ms, "oats")}, ""},
		"a user's of the same id": {[]*schema.Event{first(), delta(ms, "oats"), event(2*ms, &schema.Message{Role: schema.User, Channel: schema.Answer, MessageID: "m", Text: "oats"}),
			answer(3*ms, "oats")}, `{"store_seq":7,"message_id":"m","channel":"answer","pieces":[[1,4]]}`},
	} {
		t.Run(name, func(t *testing.T) {
			typist := typing.New(1)
			var got []string
			for _, e := range c.events {
				if m := typist.Add(e); m != nil {
					got = append(got, string(m.AppendJSON(nil)))
				}
				other := *e
				other.Session = 2
				require.Nil(t, typist.Add(&other), "of another session")
			}
			require.Equal(t, c.want, strings.Join(got, "\n"))
		})
	}
}

func TestWhatIsOpenHasItsText(t *testing.T) {
	typist := typing.New(1)
	for _, e := range []*schema.Event{delta(5*time.Millisecond, "Once "), delta(8*time.Millisecond, `upon "a"`)} {
		require.Nil(t, typist.Add(e))
	}
	open := translate.Open{Messages: []translate.OpenMessage{
		{Session: 2, MessageID: "m", Role: schema.Assistant, Channel: schema.Answer, Text: "of another session"},
		{Session: 1, MessageID: "m", Role: schema.User, Channel: schema.Answer, Text: "the user's"},
		{Session: 1, MessageID: "n", Role: schema.Assistant, Channel: schema.Answer, Text: "never typed"},
		{Session: 1, MessageID: "m", Role: schema.Assistant, Channel: schema.Answer, Text: `Once upon "a"`},
	}}
	got := typist.Open(open)
	require.Len(t, got, 1)
	require.Equal(t, `{"store_seq":null,"message_id":"m","channel":"answer","text":"Once upon \"a\"","pieces":[[0,5],[3,13]]}`,
		string(got[0].AppendJSON(nil)))
	require.Empty(t, typist.Open(translate.Open{}))
}

// Of all pinned captures: what pieces say is what was typed, by the ephemeral events alone.
func TestPiecesAreWhatWasTyped(t *testing.T) {
	typed := 0
	for dir, tr := range map[string]translate.Translator{
		"acp/testdata/acp-1": acp.First{}, "acp/testdata/acp-2": acp.Translator{}, "a2a/testdata/a2a-1": a2a.Translator{},
	} {
		files, err := filepath.Glob(filepath.Join("../../translate", dir, "*.golden"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			frames, _, _ := strings.Cut(string(data), "----------\n")
			events := translatetest.Fold(tr, translatetest.ReadFrames(t, file, strings.NewReader(frames)))
			for session := range uint32(4) {
				typed += check(t, fmt.Sprintf("%s, session %d", file, session), session, events)
			}
		}
	}
	require.Greater(t, typed, 20)
}

// check compares a session's lines with the text that each delta left, and counts the lines.
func check(t *testing.T, name string, session uint32, events []schema.Event) (lines int) {
	t.Helper()
	typist := typing.New(session)
	var began time.Time
	type moment struct {
		at   time.Time
		text string
	}
	shown := map[string][]moment{}
	show := func(channel schema.Channel, id string, at time.Time, text string, reset bool) {
		k := string(channel) + id
		before := ""
		if n := len(shown[k]); n > 0 && !reset {
			before = shown[k][n-1].text
		}
		shown[k] = append(shown[k], moment{at, before + text})
	}
	for i := range events {
		e := &events[i]
		line := typist.Add(e)
		if e.Session != session {
			require.Nil(t, line, name)
			continue
		}
		if began.IsZero() && !e.Ephemeral {
			began = e.EmittedAt
		}
		switch k := e.Kind.(type) {
		case *schema.Delta:
			show(schema.Answer, k.MessageID, e.EmittedAt, k.TextFragment, k.Reset)
		case *schema.Progress:
			if d, ok := k.Detail.(*schema.Thinking); ok {
				show(schema.Thought, d.MessageID, e.EmittedAt, d.Text, d.Reset)
			}
		case *schema.Message:
			moments := shown[string(k.Channel)+k.MessageID]
			if line == nil {
				require.True(t, len(moments) == 0 || k.Role == schema.User || !strings.HasPrefix(k.Text, moments[len(moments)-1].text), "%s: %s", name, k.Text)
				continue
			}
			lines++
			require.NotEmpty(t, moments, name)
			require.LessOrEqual(t, len(line.Pieces), len(moments), name)
			units := utf16.Encode([]rune(k.Text))
			last := moments[len(moments)-1].text
			require.True(t, strings.HasSuffix(k.Text, last) || strings.HasPrefix(k.Text, last), "%s: %s", name, k.Text)
			require.Equal(t, len(units), line.Pieces[len(line.Pieces)-1].Units, "%s: %s", name, k.Text)
			for i, p := range line.Pieces {
				m := moments[len(moments)-len(line.Pieces)+i]
				require.Equal(t, m.at.Sub(began).Milliseconds(), p.At, name)
				require.True(t, strings.HasSuffix(string(utf16.Decode(units[:p.Units])), m.text), "%s: %s", name, m.text)
			}
		}
	}
	return lines
}
