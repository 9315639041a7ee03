package web_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/consoletest"
	"github.com/steno-io/steno/console/web/webtest"
	"github.com/steno-io/steno/schema"
)

// asked is a conversation of A2A 1.0: one exchange, e1, whose task is t.
type asked struct {
	*consoletest.Tap
	key schema.Transcript
}

func ask(s *consoletest.Site, run string) *asked {
	tap := s.Tap(s.Identity(run))
	a := &asked{tap, tap.Transcript(0)}
	a.Store(schema.Frame{From: schema.FromControl, Type: schema.TypeOpen, End: schema.EndNone, Data: []byte(`{"protocol":"a2a","tap":"proxy","peer":"mill"}`)})
	a.request("SendStreamingMessage", `{"message":{"messageId":"u1","role":"ROLE_USER","parts":[{"text":"Go"}]}}`)
	return a
}

func (a *asked) request(method, params string) {
	a.Store(schema.Frame{From: schema.FromClient, Type: schema.TypeData, End: schema.EndNone, Exchange: "e1", Chan: schema.ChanRequest,
		Data: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)})
}

// streams is an event of the stream.
func (a *asked) streams(data string) {
	a.Store(schema.Frame{From: schema.FromAgent, Type: schema.TypeData, End: schema.EndNone, Exchange: "e1", Chan: schema.ChanStream, Data: []byte(data)})
}

func (a *asked) status(state, message string) {
	if message != "" {
		message = fmt.Sprintf(`,"message":{"role":"ROLE_AGENT","parts":[{"text":%q}]}`, message)
	}
	a.streams(fmt.Sprintf(`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_%s"%s}}}`, state, message))
}

func (a *asked) artifact(id, text string) {
	a.streams(fmt.Sprintf(`{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":%q,"parts":[{"text":%q}]}}}`, id, text))
}

// open opens it once what was asked is stored, and waits for its stream.
func (a *asked) open(t *testing.T, s *consoletest.Site) *webtest.Tab {
	s.Folded(a.Tap)
	tab := open(t, address(s, a.key))
	tab.Shows(item("user"), "Go")
	tab.There(`body[data-connection="live"]`)
	return tab
}

// TestProgressBecomesTheAnswer types progress that is the answer in the end: it is shown once.
func TestProgressBecomesTheAnswer(t *testing.T) {
	s := site(t)
	a := ask(s, "promoted")
	tab := a.open(t, s)
	a.status("WORKING", "Fourteen sacks")
	tab.Shows(item("note")+"[data-open]", "Fourteen sacks")
	a.status("COMPLETED", "")
	tab.There(item("stop"))
	tab.Shows(item("agent"), "Fourteen sacks")
	tab.Gone("[data-open]")
	require.Equal(t, 0, tab.Count(item("note")))
}

// TestWhatIsSaidTwiceIsShownOnce types an answer and progress of the same words, which become one message.
func TestWhatIsSaidTwiceIsShownOnce(t *testing.T) {
	s := site(t)
	a := ask(s, "twice")
	tab := a.open(t, s)
	a.status("WORKING", "Fourteen sacks")
	tab.Shows(item("note")+"[data-open]", "Fourteen sacks")
	a.artifact("a", "Fourteen sacks")
	tab.Shows(item("agent")+"[data-open]", "Fourteen sacks")
	a.status("COMPLETED", "")
	tab.There(item("stop"))
	tab.Gone("[data-open]")
	require.Equal(t, 1, tab.Count(item("agent")))
	require.Equal(t, 0, tab.Count(item("note")))
}

// TestARemarkOfTheFoldEndsNoProgress has a remark stored while progress is typed that it does not say.
func TestARemarkOfTheFoldEndsNoProgress(t *testing.T) {
	s := site(t)
	a := ask(s, "remark")
	tab := a.open(t, s)
	a.status("WORKING", "Looking around")
	tab.Shows(item("note")+"[data-open]", "Looking around")
	a.status("PONDERING", "")
	tab.Shows(item("note")+":not([data-open])", "pondering")
	tab.Shows(item("note")+"[data-open]", "Looking around")
	a.status("COMPLETED", "Done")
	tab.There(item("stop"))
	tab.Gone("[data-open]")
	tab.Shows("[data-items]", "Looking around")
}

// TestWordsThatObjectsHave sends names that every object of the page's language has, where words of the
// protocol belong.
func TestWordsThatObjectsHave(t *testing.T) {
	s := site(t)
	tab := open(t, s.URL+"/")
	for _, word := range []string{"constructor", "__proto__", "toString"} {
		a := ask(s, "words"+fmt.Sprint(len(word)))
		a.request("GetTask", `{"id":"t"}`)
		a.Store(schema.Frame{From: schema.FromAgent, Type: schema.TypeData, End: schema.EndNone, Exchange: "e1", Chan: schema.ChanResponse,
			Data: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":{"id":"t","contextId":"c","kind":%q,"status":{"state":%q}}}`, word, word)})
		a.status(word, "Looking")
		s.Folded(a.Tap)
		tab.Go(address(s, a.key))
		tab.There("[data-complete]")
		tab.Shows(item("user"), "Go")
		tab.Gone("[data-fault]")

		c := s.Talk(s.Namespace, "plan"+fmt.Sprint(len(word)))
		c.Prompt("Plan")
		c.Plan("Count the sacks", word)
		c.Update("tool_call", consoletest.Object{"toolCallId": word, "title": word, "kind": word, "status": word, "rawInput": consoletest.Object{word: word}})
		c.Stop(word)
		c.Close()
		tab.Go(address(s, c.Key))
		tab.Shows(item("plan"), "Count the sacks")
		tab.There(item("stop"))
		tab.Gone("[data-fault]")
	}
}

// TestARowThatCannotBeMadeIsShownAsItIsStored breaks what one kind of row needs: the others stay.
func TestARowThatCannotBeMadeIsShownAsItIsStored(t *testing.T) {
	s := site(t)
	c := turns(s, "broken", 1)
	tab := open(t, s.URL+"/")
	tab.Allow("cannot be trimmed")
	tab.Do(`String.prototype.trimStart = () => { throw new Error("cannot be trimmed"); }`)
	tab.Click(`[data-key="` + c.Key.String() + `"] a`)
	tab.There(`body[data-view="transcript"][data-ready]`)
	tab.Shows(item("thought")+" [data-fault]", "as it is stored")
	tab.Shows(item("thought"), "Let me think.")
	tab.Shows(item("user"), "How many sacks")
	tab.Hears("cannot be trimmed")
}
