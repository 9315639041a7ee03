package a2a

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/translatetest"
)

// served marks frames as copies, by their numbers.
func served(version string, frames []schema.Frame, numbers ...int) []schema.Frame {
	for _, n := range numbers {
		frames[n-1].HTTP = []byte(`{"status":200,"served":"` + version + `"}`)
	}
	return frames
}

// raws writes the durable events: Raws by the last element of their label, all with their frames.
func raws(events []schema.Event) (lines []string) {
	for i := range events {
		e := &events[i]
		if e.Ephemeral {
			continue
		}
		what := e.Kind.Tag()
		if raw, ok := e.Kind.(*schema.Raw); ok {
			what = raw.Source[strings.LastIndexByte(raw.Source, '/')+1:]
		}
		lines = append(lines, fmt.Sprint(what, " ", e.Frames))
	}
	return lines
}

func fullSources(events []schema.Event) (sources []string) {
	for i := range events {
		if raw, ok := events[i].Kind.(*schema.Raw); ok {
			sources = append(sources, raw.Source)
		}
	}
	return sources
}

func isCopy(f *schema.Frame) bool {
	return f.Type == schema.TypeData && bytes.Contains(f.HTTP, servedMark)
}

// copiesAddNothing checks that a copy has no event but a Raw, and that a conversation without its copies
// says the same.
func copiesAddNothing(t testing.TB, frames []schema.Frame) {
	t.Helper()
	fold, bare := Translator{}.Fold(testIdentity), Translator{}.Fold(testIdentity)
	for i := range frames {
		if frames[i].Type == schema.TypeHTTP && bytes.Contains(frames[i].Data, servedMark) {
			return // which frame it speaks of is not told here
		}
	}
	said := func(events []schema.Event) (lines []string) {
		for i := range events {
			if _, ok := events[i].Kind.(*schema.Raw); !ok {
				events[i].Frames = nil
				lines = append(lines, string(events[i].AppendJSON(nil)))
			}
		}
		return lines
	}
	var with, without []string
	for i := range frames {
		events := fold.Step(nil, &frames[i])
		if isCopy(&frames[i]) {
			require.LessOrEqual(t, len(events), 1, "frame %d", i+1)
			for _, e := range events {
				require.IsType(t, &schema.Raw{}, e.Kind, "frame %d", i+1)
			}
			continue
		}
		with = append(with, said(events)...)
		without = append(without, said(bare.Step(nil, &frames[i]))...)
	}
	require.Equal(t, without, with)
}

func TestACopyOfAChunkIsTheTextsToo(t *testing.T) {
	frames := served("0.3", talk("> e "+sends, "> e "+sends,
		"~ e "+chunk("a", "Rain ", ""), "~ e data: "+chunk("a", "Rain ", "")+"\n\n",
		"~ e "+chunk("a", "at noon", `,"append":true`), "~ e "+chunk("a", "at noon", `,"append":true`),
		"~ e "+chunk("a", ".", `,"append":true,"lastChunk":true`), "~ e "+chunk("a", ".", `,"append":true,"lastChunk":true`),
		"~ e "+standing("completed", ""), "~ e "+standing("completed", ""), "x e"), 4, 6, 8, 10)
	served("1.0", frames, 2)
	translatetest.Properties(t, Translator{}, frames)
	copiesAddNothing(t, frames)
	events := translatetest.Fold(Translator{}, frames)
	require.Equal(t, []string{
		"request [[1 1]]", "served [[2 2]]", "Message [[3 7]]", "served [[8 8]]", "Stop [[9 9]]", "statusUpdate [[9 9]]", "served [[10 10]]", "close [[11 11]]",
	}, raws(events))
	require.Equal(t, []string{`Assistant answer "Rain at noon." revision 0`, `stop EndTurn ""`}, durable(events))
	require.Equal(t, []string{
		"a2a/1.0/jsonrpc/SendStreamingMessage/request", "a2a/1.0/jsonrpc/SendStreamingMessage/served", "a2a/0.3/jsonrpc/SendStreamingMessage/served",
		"a2a/1.0/jsonrpc/SendStreamingMessage/statusUpdate", "a2a/0.3/jsonrpc/SendStreamingMessage/served", "a2a/close",
	}, fullSources(events))
	for i := range events {
		if e := &events[i]; e.WorkerSeq == 10 {
			require.Equal(t, "t", e.Source.TaskID, "as its original")
		}
	}
}

func TestACopyFindsTheTextOfItsOriginal(t *testing.T) {
	say := func(text string) string { return standing("working", text) }
	frames := served("0.3", talk("~ e "+standing("working", "Look"), "~ e "+say("Look"), "~ e "+say("ing"), "~ e "+say("ing"), "~ f "+say("ing"), "~ f "+say("ing"), "x f", "~ e "+standing("completed", "")), 2, 4, 6)
	translatetest.Properties(t, Translator{}, frames)
	copiesAddNothing(t, frames)
	events := translatetest.Fold(Translator{}, frames)
	require.Equal(t, []string{"statusUpdate [[1 1]]", "served [[2 2]]", "close [[7 7]]", "Message [[3 6]]", "Stop [[8 8]]", "statusUpdate [[8 8]]"}, raws(events),
		"the second piece, that of another stream and both copies are the progress's; the frame that brought the state has its Raw, and its copy too")

	// What turns out to say nothing new stands in one Raw, copies included.
	frames = served("0.3", talk("~ e "+chunk("a", "Rain", `,"lastChunk":true`), "~ e "+chunk("b", "Ra", ""), "~ e "+chunk("b", "Ra", ""),
		"~ e "+chunk("b", "in", `,"append":true`), "~ e {", "~ e "+standing("completed", "")), 3, 5)
	translatetest.Properties(t, Translator{}, frames)
	events = translatetest.Fold(Translator{}, frames)
	require.Equal(t, []string{"Message [[1 1]]", "artifactUpdate [[2 5]]", "Stop [[6 6]]", "statusUpdate [[6 6]]"}, raws(events))
}

func TestACopyOpensNothing(t *testing.T) {
	frames := served("0.3", talk("> e "+asks("m", "x"), "< e "+standing("completed", "Done"), "< e "+standing("completed", "Done"), "x e",
		"< e "+standing("failed", "Late"), "~ new "+standing("working", ""), "# c {}", "# c {}", "< e {}"), 3, 5, 6, 8, 9)
	require.Equal(t, []schema.Status{"open", "open", "open", "ended", "ended", "ended", "ended", "ended", "ended"}, statuses(t, frames))
	translatetest.Properties(t, Translator{}, frames)
	copiesAddNothing(t, frames)
	require.Equal(t, []string{
		"Message [[1 1]]", "request [[1 1]]", "Message [[2 2]]", "Stop [[2 2]]", "statusUpdate [[2 2]]", "served [[3 3]]", "close [[4 4]]",
		"served [[5 5]]", "served [[6 6]]", "card [[7 7]]", "served [[8 8]]", "served [[9 9]]",
	}, raws(translatetest.Fold(Translator{}, frames)))
}

// The evidence of a copy may be too large for its frame.
func TestEvidenceBeforeACopySaysThatItIsOne(t *testing.T) {
	frames := talk("> e "+asks("m", "x"), "x e", "< e "+standing("completed", "Done"), "x e", "< e "+standing("completed", "Done"))
	frames[1].Type, frames[1].Data = schema.TypeHTTP, []byte(`{"status":200,"headers":{"x":"`+strings.Repeat("x", 17<<10)+`"}}`)
	frames[3].Type, frames[3].Data = schema.TypeHTTP, []byte(`{"served":"0.3","status":200,"headers":{"x":"`+strings.Repeat("x", 17<<10)+`"}}`)
	translatetest.Properties(t, Translator{}, frames)
	require.Equal(t, []string{
		"Message [[1 1]]", "request [[1 1]]", "http [[2 2]]", "Message [[3 3]]", "Stop [[3 3]]", "statusUpdate [[3 3]]", "http [[4 4]]", "served [[5 5]]",
	}, raws(translatetest.Fold(Translator{}, frames)))
}

func TestAMarkThatIsNoneIsNoCopy(t *testing.T) {
	for _, http := range []string{`{"served":""}`, `{"served":1}`, `{"headers":{"served":"0.3"}}`, `{"path":"/\"served\""}`} {
		frames := talk("> e "+asks("m", "x"), "~ e "+standing("completed", "Done"))
		frames[1].HTTP = []byte(http)
		require.Equal(t, []string{`User answer "x" revision 0`, `Assistant answer "Done" revision 0`, `stop EndTurn ""`}, durable(translatetest.Fold(Translator{}, frames)), http)
	}
}

func TestWhatAPushWasAnsweredIsNotTheAgents(t *testing.T) {
	for _, body := range []string{"", "{}", "OK", `{"message":{"messageId":"m","role":"agent","parts":[{"text":"no"}]}}`} {
		frames := talk("! p "+standing("working", ""), "< p "+body, "x p")
		frames[1].From, frames[1].HTTP = schema.FromClient, []byte(`{"status":200}`)
		translatetest.Properties(t, Translator{}, frames)
		events := translatetest.Fold(Translator{}, frames)
		require.Empty(t, durable(events), body)
		require.Equal(t, []string{"a2a/1.0/push/PushNotification/statusUpdate", "a2a/1.0/push/PushNotification/result", "a2a/close"}, fullSources(events), body)
		require.Empty(t, events[1].Flags, body)
		frames[1].HTTP = []byte(`{"status":401}`)
		require.Equal(t, "a2a/1.0/push/PushNotification/error", fullSources(translatetest.Fold(Translator{}, frames))[1])
	}
}
