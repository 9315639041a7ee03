package a2a

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/translatetest"
)

// talk makes a capture of lines, each "<how> <exchange> <text>": > request, < response, ~ item of a
// stream, ! push, # card, x close of the exchange, i intervention, o open, X close of the capture.
func talk(lines ...string) []schema.Frame {
	var frames []schema.Frame
	for i, line := range lines {
		how, rest, _ := strings.Cut(line, " ")
		exchange, text, _ := strings.Cut(rest, " ")
		f := schema.Frame{
			Seq: uint64(i) + 1, At: time.UnixMilli(int64(i) + 1).UTC(), From: schema.FromAgent, Type: schema.TypeData,
			Protocol: schema.A2A, End: schema.EndNone, Exchange: exchange, Data: []byte(text),
		}
		switch how {
		case ">":
			f.From, f.Chan = schema.FromClient, schema.ChanRequest
		case "<":
			f.Chan = schema.ChanResponse
		case "~":
			f.Chan = schema.ChanStream
		case "!":
			f.Chan = schema.ChanPush
		case "#":
			f.Chan = schema.ChanCard
		case "x":
			f.From, f.Type = schema.FromControl, schema.TypeClose
			f.Data = []byte(`{"reason":"eof","exchange":"` + exchange + `"}`)
		case "X":
			f.From, f.Type, f.Exchange, f.Data = schema.FromControl, schema.TypeClose, "", []byte(`{"reason":"eof"}`)
		case "i":
			f.From, f.Type = schema.FromControl, schema.TypeIntervention
		case "o":
			f.From, f.Type, f.Exchange = schema.FromControl, schema.TypeOpen, ""
		}
		frames = append(frames, f)
	}
	return frames
}

// What steno sent in somebody's name is told when the peer has taken it; a client's same words are its own.
func TestAnInjectedMessageIsKnownByItsExchange(t *testing.T) {
	const injects = `{"id":"i-1","session":"t","kind":{"kind":"InjectMessage","text":"Go on"},"issued_by":"miller"}`
	const send = `{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"t","message":{"role":"user","parts":[{"type":"text","text":"Go on"}]}}}`
	const taken = `{"jsonrpc":"2.0","id":1,"result":{"id":"t","status":{"state":"working"}}}`
	require.Equal(t, []string{`note "inject_message by miller"`, `User answer "Go on" revision 0`},
		told(t, "i e1 "+injects, "> e1 "+send, "< e1 "+taken, "x e1"))
	require.Equal(t, []string{`note "inject_message by miller"`, `User answer "Go on" revision 0`},
		told(t, "i e1 "+injects, "x e1", "> e2 "+send, "< e2 "+taken, "x e2"), "of which no request is there, and then the client's")
	sent := talk("i e1 "+injects, "> e1 "+send, "< e1 "+taken, "x e1")
	sent[2].HTTP = []byte(`{"status":302}`)
	require.Equal(t, []string{`note "inject_message by miller"`}, durable(translatetest.Fold(Translator{}, sent)), "sent elsewhere")
}

// told folds a talk, checks the properties, and writes the durable events but the frames' Raws.
func told(t *testing.T, lines ...string) []string {
	t.Helper()
	frames := talk(lines...)
	translatetest.Properties(t, Translator{}, frames)
	return durable(translatetest.Fold(Translator{}, frames))
}

const sends = `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{}}`

func standing(state, text string) string {
	message := ""
	if text != "" {
		message = `,"message":{"role":"agent","parts":[{"text":"` + text + `"}]}`
	}
	return `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"` + state + `"` + message + `}}}`
}

func chunk(id, text, flags string) string {
	return `{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"` + id + `","parts":[{"text":"` + text + `"}]}` + flags + `}}`
}

func asks(id, text string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"` + id + `","role":"user","taskId":"t","parts":[{"text":"` + text + `"}]}}}`
}

func TestTheUsersNewTurnIsNoRepetition(t *testing.T) {
	got := told(t,
		"> e1 "+asks("m1", "one"), "~ e1 "+standing("working", ""), "~ e1 "+standing("input-required", "Which?"), "x e1",
		"> e2 "+asks("m2", "two"), "~ e2 "+standing("working", ""), "~ e2 "+chunk("a", "ha", ""), "~ e2 "+standing("completed", ""), "x e2")
	require.Equal(t, []string{
		`User answer "one" revision 0`, `Assistant answer "Which?" revision 0`, `note "interrupted: input-required"`,
		`User answer "two" revision 0`, `note "resumed: working"`, `Assistant answer "ha" revision 0`, `stop EndTurn ""`,
	}, got)
}

func TestOccurrencesMatchOneToOne(t *testing.T) {
	ha := chunk("a", "ha", `,"append":true`)
	got := told(t, "~ e1 "+ha, "~ e2 "+ha, "~ e2 "+ha, "~ e1 "+ha, "~ e1 "+ha, "! p1 "+ha, "~ e2 "+ha, "~ e2 "+chunk("a", "!", `,"append":true,"lastChunk":true`))
	require.Equal(t, []string{`Assistant answer "hahaha!" revision 0`}, got)
}

func TestALatePushAfterAllStreamsSaysNothingNew(t *testing.T) {
	got := told(t, "~ e1 "+chunk("a", "Rain ", ""), "~ e1 "+chunk("a", "at noon", `,"append":true,"lastChunk":true`), "~ e1 "+standing("completed", ""), "x e1",
		"! p1 "+chunk("a", "at noon", `,"append":true,"lastChunk":true`), "! p2 "+chunk("a", " sharp", `,"append":true,"lastChunk":true`))
	require.Equal(t, []string{
		`Assistant answer "Rain at noon" revision 0`, `stop EndTurn ""`, `Assistant answer "Rain at noon sharp" revision 2`,
	}, got)
}

func TestAMessageBeforeATaskIsWhole(t *testing.T) {
	got := told(t, "> e1 "+sends, `~ e1 {"message":{"messageId":"m","role":"agent","parts":[{"text":"On it"}]}}`, "~ e1 "+standing("working", ""), "~ e1 "+standing("completed", ""), "x e1")
	require.Equal(t, []string{`Assistant answer "On it" revision 0`, `stop EndTurn ""`}, got, "and only the task stops")
}

func TestAnExchangeCutOffHasNoStop(t *testing.T) {
	frames := talk("> e1 "+sends, `~ e1 {"message":{"messageId":"m","role":"agent","parts":[{"text":"On "}]}}`)
	fold := Translator{}.Fold(testIdentity)
	for i := range frames {
		fold.Step(nil, &frames[i])
	}
	events := fold.End(nil)
	require.Equal(t, []string{`Assistant answer "On " revision 0`}, durable(events))
	require.True(t, events[0].Has(schema.FlagPartial))
}

func TestProgressThatAnArtifactRepeatsIsNotSaidTwice(t *testing.T) {
	got := told(t, "~ e1 "+standing("working", "The "), "~ e1 "+standing("working", "heron"), "~ e1 "+chunk("a", "The heron", `,"lastChunk":true`), "~ e1 "+standing("completed", ""))
	require.Equal(t, []string{`Assistant answer "The heron" revision 0`, `stop EndTurn ""`}, got)
}

func TestEventErrorIsAnError(t *testing.T) {
	got := told(t, "> e1 "+sends, "~ e1 event: error\ndata: {\"code\":-32603,\"message\":\"lost\"}\n\n")
	require.Equal(t, []string{`stop Error "-32603 lost"`}, got)
}

func TestAnHTTPErrorIsAnErrorWhateverItsBody(t *testing.T) {
	for body, want := range map[string]string{
		"<html>bad gateway</html>":            "502 <html>bad gateway</html>",
		`{"oops":1}`:                          "502",
		`{"message":"try later"}`:             "502 try later",
		strings.Repeat("x", maxFaultBody+1):   "502",
		`{"error":{"code":7,"message":"no"}}`: "7 no",
		"":                                    "502",
	} {
		frames := talk("> e1 "+sends, "< e1 "+body)
		frames[1].HTTP = []byte(`{"status":502}`)
		translatetest.Properties(t, Translator{}, frames)
		require.Equal(t, []string{fmt.Sprintf("stop Error %q", want)}, durable(translatetest.Fold(Translator{}, frames)), body)
	}
}

func TestLargeValuesGoByReference(t *testing.T) {
	large := strings.Repeat("A", 70<<10)
	frames := talk(`~ e1 {"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"a","parts":[{"raw":"`+large+`"},{"text":"`+large+`"}]},"lastChunk":true}}`,
		`~ e1 {"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"b","parts":[{"text":"`+large+`"}]}}}`,
		`~ e1 {"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"c","parts":[{"text":"`+large+`"}]},"lastChunk":true}}`, "X e1")
	translatetest.Properties(t, Translator{}, frames)
	var refs, texts int
	for _, e := range translatetest.Fold(Translator{}, frames) {
		switch k := e.Kind.(type) {
		case *schema.Raw:
			if strings.HasPrefix(string(k.Value), `{"ref":{"frame":`) {
				refs++
			}
			require.Less(t, len(k.Value), 64<<10)
		case *schema.Message:
			texts++
			require.Equal(t, large, k.Text, "text is whole")
		}
	}
	require.Equal(t, 3, refs, "the part, its frame, and the chunk that said nothing new")
	require.Equal(t, 2, texts)
}

func TestDataAndMetadataAreLeftAlone(t *testing.T) {
	part := `{"data":{"role":"ROLE_USER","state":"TASK_STATE_WORKING","kind":"task","n":1.0,"n":2},"metadata":{"task":{"id":"x","status":{"state":"completed"}}}}`
	frames := talk(`~ e1 {"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"a","parts":[`+part+`]},"lastChunk":true}}`, "X e1")
	events := translatetest.Fold(Translator{}, frames)
	require.Equal(t, &schema.Raw{Source: "a2a/1.0/part/data", Value: schema.JSON(part)}, events[0].Kind)
	for i := range events {
		require.NotEqual(t, "x", events[i].Source.TaskID)
	}
}

func TestAPeerHasOneAgentID(t *testing.T) {
	a := translatetest.Fold(Translator{}, talk(`o - {"protocol":"a2a","peer":"harbour","labels":{"k":"v"}}`, "~ e "+standing("working", "")))
	b := translatetest.Fold(Translator{}, talk(`o - {"protocol":"a2a","peer":"harbour"}`))
	other := translatetest.Fold(Translator{}, talk(`o - {"protocol":"a2a","peer":"mill"}`))
	require.NotEqual(t, uuid.Nil, a[0].AgentID)
	require.Equal(t, uuid.Version(5), a[0].AgentID.Version())
	require.Equal(t, a[0].AgentID, a[1].AgentID)
	require.Equal(t, a[0].AgentID, b[0].AgentID)
	require.NotEqual(t, a[0].AgentID, other[0].AgentID)
	require.Equal(t, "agent", a[0].AgentRole)
}

func TestAboutSaysThePeerAndHowItStands(t *testing.T) {
	frames := talk(`o - {"protocol":"a2a","peer":"harbour","labels":{"k":"v"}}`, "~ e "+standing("input-required", ""), "x e", "X -")
	fold := Translator{}.Fold(testIdentity)
	require.Equal(t, schema.About{}, fold.About(0))
	for i := range frames[:3] {
		fold.Step(nil, &frames[i])
	}
	require.Equal(t, schema.About{Agent: "harbour", Labels: map[string]string{"k": "v"}, Status: schema.StatusOpen}, fold.About(0), "an exchange's end is not the conversation's")
	fold.Step(nil, &frames[3])
	require.Equal(t, schema.StatusEnded, fold.About(0).Status)
	require.Equal(t, schema.About{}, fold.About(1))
}

func TestAProfileIsNamedOrGivenOrRefused(t *testing.T) {
	for text, want := range map[string]profile{
		"": {}, "default": {}, "adk": {Tools: "adk"}, "gemini-cli": {Tools: "gemini-cli", StatusText: "answer"},
		`{"status_text":"answer","lanes":{"r":"thought"}}`: {StatusText: "answer", Lanes: map[string]string{"r": "thought"}},
	} {
		p, ok := readProfile(text)
		require.True(t, ok, text)
		require.Equal(t, want, p, text)
	}
	for _, text := range []string{"nobody", `{"status_text":"shout"}`, `{"tool":"adk"}`, `{"lanes":{"a":"b"}}`, `[`} {
		_, ok := readProfile(text)
		require.False(t, ok, text)
		open := talk("o - " + string(schema.AppendString([]byte(`{"protocol":"a2a","profile":`), text)) + "}")
		require.True(t, translatetest.Fold(Translator{}, open)[0].Has(schema.FlagUnrecognised), text)
	}
}

func TestALateConsoleSeesTheWholeSentence(t *testing.T) {
	frames := talk("~ e1 "+chunk("a", "Rain ", `,"lastChunk":true`), "~ e1 "+chunk("a", "at noon", `,"append":true`))
	fold := Translator{}.Fold(testIdentity)
	for i := range frames {
		fold.Step(nil, &frames[i])
	}
	open := fold.Open()
	require.Len(t, open.Messages, 1)
	require.Equal(t, "Rain at noon", open.Messages[0].Text)
	require.EqualValues(t, 1, open.Messages[0].Next)
	require.Equal(t, map[uint32]uint64{0: 1}, open.Frames)
}

func TestAnUnknownStateIsNotedOnce(t *testing.T) {
	got := told(t, "~ e1 "+standing("TASK_STATE_PAUSED", ""), "~ e1 "+standing("paused", ""), "~ e1 "+standing("unknown", ""), "~ e1 "+standing("rejected", ""))
	require.Equal(t, []string{`note "state: paused"`, `stop Other "rejected"`}, got)
}

func TestAToolOfAnEndedTaskIsInterrupted(t *testing.T) {
	frames := talk(`~ e1 {"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"a","parts":[{"data":{"id":"k","name":"f","args":{}},"metadata":{"adk_type":"function_call"}}]}}}`,
		"~ e1 "+standing("completed", ""),
		`~ e1 {"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"a","parts":[{"data":{"id":"k","response":{"error":"late"}},"metadata":{"adk_type":"function_response"}}]}}}`)
	translatetest.Properties(t, Translator{}, frames)
	var phases []string
	for _, e := range translatetest.Fold(Translator{}, frames) {
		switch k := e.Kind.(type) {
		case *schema.ToolState:
			phases = append(phases, string(k.State.Phase))
		case *schema.ToolResult:
			require.True(t, k.IsError)
			require.True(t, e.Has(schema.FlagLate))
		}
	}
	require.Equal(t, []string{"streaming", "cancelled"}, phases)
}

func TestAListTellsOfThisConversationOnly(t *testing.T) {
	got := told(t, "~ e1 "+standing("working", ""),
		`> e2 {"jsonrpc":"2.0","id":2,"method":"ListTasks","params":{}}`,
		`< e2 {"jsonrpc":"2.0","id":2,"result":{"tasks":[{"id":"t","contextId":"c","status":{"state":"completed"}},{"id":"u","contextId":"other","status":{"state":"failed"}},{"id":"v","contextId":"c","status":{"state":"rejected"}}]}}`)
	require.Equal(t, []string{`stop EndTurn ""`, `stop Other "rejected"`}, got)
}

func TestTheVersionOfALabelIsTheObjectsElseTheExchanges(t *testing.T) {
	fault := `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no such task"}}`
	get := `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`
	for name, c := range map[string]struct{ evidence, request, answer, want string }{
		"the method's":              {``, get, fault, "a2a/1.0/jsonrpc/GetTask/error"},
		"the header's":              {`{"a2a_version":"0.3"}`, get, fault, "a2a/0.3/jsonrpc/GetTask/error"},
		"the query's":               {`{"path":"/rpc?A2A-Version=0.3"}`, get, fault, "a2a/0.3/jsonrpc/GetTask/error"},
		"the object's":              {`{"a2a_version":"1.0"}`, get, `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","status":{}}}`, "a2a/0.3/jsonrpc/GetTask/task"},
		"the path's":                {`{"method":"GET","path":"/v1/tasks/t"}`, "", `{"id":"t","status":{}}`, "a2a/0.3/rest/GetTask/task"},
		"no one's, so the current":  {``, "", `{"id":"t","status":{}}`, "a2a/1.0/rest/unknown/task"},
		"an old method's of no use": {``, `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t"}}`, `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","status":{}}}}`, "a2a/1.0/jsonrpc/tasks/get/task"},
	} {
		frames := talk("> e "+c.request, "< e "+c.answer)
		if c.evidence != "" {
			frames[0].HTTP = []byte(c.evidence)
		}
		events := translatetest.Fold(Translator{}, frames)
		require.Equal(t, c.want, events[len(events)-1].Kind.(*schema.Raw).Source, name)
	}
}

// A push, or another replica's stream, may be stored before the request that it answers: the user's
// words are said once all the same. Said again after that they are a retry.
func TestARequestThatIsOvertaken(t *testing.T) {
	const (
		ask  = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"How many?"}]}}}`
		push = `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"},"history":[{"messageId":"m","role":"ROLE_USER","parts":[{"text":"How many?"}]}]}}`
		done = `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"14"}]}]}}}`
	)
	turn := []string{`User answer "How many?" revision 0`, `Assistant answer "14" revision 0`, `stop EndTurn ""`}
	require.Equal(t, turn, told(t, "! p "+push, "x p", "> e "+ask, "< e "+done, "x e"))
	require.Equal(t, append([]string{turn[0]}, turn...), told(t, "! p "+push, "x p", "> e "+ask, "> f "+ask, "< e "+done, "x e", "x f"))
}

// A part is the same part in whichever dialect a push, a stream or an answer writes it.
func TestAPartIsToldOnceInAnyDialect(t *testing.T) {
	const (
		push = `{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"raw":"aGkK","filename":"a.txt"},{"url":"https://f.example/a","mediaType":"text/csv"},{"data":{ "n": 1 }}]}}}`
		done = `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[` +
			`{"kind":"file","file":{"bytes":"aGkK","name":"a.txt"}},{"kind":"file","file":{"uri":"https://f.example/a","mimeType":"text/csv"}},{"kind":"data","data":{"n":1}},{"kind":"file","file":{"bytes":"aGkL"}}]}]}}`
	)
	require.Equal(t, []string{"part raw", "part url", "part data", "part raw", `stop EndTurn ""`}, told(t, "> e "+sends, "! p "+push, "x p", "< e "+done, "x e"))
}
