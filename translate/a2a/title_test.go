package a2a

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/translatetest"
)

func TestWhatAConversationWithoutAMessageIsCalled(t *testing.T) {
	http := func(line, evidence string) string { return line + "\x00" + evidence }
	rpc := func(method string) string {
		return `> e {"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{}}`
	}
	const post = `{"method":"POST","path":"/rpc"}`
	for name, c := range map[string]struct {
		want  string
		lines []string
	}{
		"a card":             {"agent card", []string{http("> e ", `{"method":"GET","path":"/.well-known/agent-card.json"}`), http("# e {}", `{"status":200}`), "x e"}},
		"a card alone":       {"agent card", []string{"# e {}"}},
		"no card":            {"GET /.well-known/agent.json → 404", []string{http("> e ", `{"method":"GET","path":"/.well-known/agent.json"}`), http("< e no", `{"status":404}`), "x e"}},
		"a list":             {"GET /v1/tasks", []string{http("> e ", `{"method":"GET","path":"/v1/tasks?pageSize=1"}`), http(`< e {"tasks":[]}`, `{"status":200}`), "x e"}},
		"a list that failed": {"GET /v1/tasks → 404", []string{http("> e ", `{"method":"GET","path":"/v1/tasks"}`), http(`< e {"error":{"code":404}}`, `{"status":404}`), "x e"}},
		"an error":           {"tasks/get → -32001", []string{http(rpc("tasks/get"), post), http(`< e {"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}`, `{"status":200}`), "x e"}},
		"a dead peer":        {"SendMessage → 502", []string{http(rpc("SendMessage"), post), http("< e Bad Gateway", `{"status":502}`), "x e"}},
		"no answer":          {"SendMessage → refused", []string{http(rpc("SendMessage"), post), "x e"}},
		"not understood":     {"POST /rpc → 400", []string{http("> e {", post), http("< e ", `{"status":400}`), "x e"}},
		"the first counts":   {"ListTasks", []string{rpc("ListTasks"), "x e", `> f {"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`, `< f {"jsonrpc":"2.0","id":1,"error":{"code":1}}`, "x f"}},
		"a push":             {"PushNotification", []string{"! p " + standing("working", ""), "x p"}},
		"nothing known":      {"", []string{"~ e " + standing("working", "")}},
		"words":              {"", []string{"# c {}", "> e " + asks("m", "x"), "x e"}},
		"a long one":         {"GET /" + strings.Repeat("a", schema.MaxAbout-5), []string{http("> e ", `{"method":"GET","path":"/`+strings.Repeat("a", 600)+`"}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			frames := talk(c.lines...)
			for i := range frames {
				data, evidence, _ := strings.Cut(string(frames[i].Data), "\x00")
				frames[i].Data, frames[i].HTTP = []byte(data), []byte(evidence)
				if name == "no answer" && frames[i].Type == schema.TypeClose {
					frames[i].Data = []byte(`{"reason":"eof","exchange":"e","error":"upstream: refused"}`)
				}
			}
			translatetest.Properties(t, Translator{}, frames)
			fold, last := Translator{}.Fold(testIdentity), ""
			for i := range frames {
				durable := false
				for _, e := range fold.Step(nil, &frames[i]) {
					durable = durable || !e.Ephemeral
				}
				now := fold.About(0).Title
				require.True(t, durable || now == last, "frame %d: called %q without a durable event", i+1, now)
				last = now
			}
			require.Equal(t, c.want, last)
		})
	}
}
