package compat_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/wire/a2a/compat"
)

const (
	wholeTask03 = `{"kind":"task","id":"t","contextId":"c","status":{"state":"completed","message":{"kind":"message","messageId":"m2","role":"agent","parts":[{"kind":"text","text":"done"}]},"timestamp":"2026-03-04T05:06:07.089Z"},"history":[{"kind":"message","messageId":"m1","role":"user","parts":[{"kind":"file","file":{"bytes":"aGkK","name":"a"}}]}],"artifacts":[{"artifactId":"a","name":"answer","description":"","parts":[{"kind":"data","data":{"n":1}}],"metadata":{},"extensions":[]}],"metadata":{"k":"v"}}`
	wholeTask10 = `{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED","message":{"messageId":"m2","role":"ROLE_AGENT","parts":[{"text":"done"}]},"timestamp":"2026-03-04T05:06:07.089Z"},"history":[{"messageId":"m1","role":"ROLE_USER","parts":[{"raw":"aGkK","filename":"a"}]}],"artifacts":[{"artifactId":"a","name":"answer","description":"","parts":[{"data":{"n":1}}],"metadata":{},"extensions":[]}],"metadata":{"k":"v"}}`
	config03    = `{"taskId":"t","pushNotificationConfig":{"id":"p","url":"https://u","authentication":{"schemes":["Bearer"]}}}`
	config10    = `{"taskId":"t","id":"p","url":"https://u","authentication":{"scheme":"Bearer"}}`
)

func TestResultsOfEveryMethodInBothVersions(t *testing.T) {
	for _, p := range []pair{
		{"send, a task", "message/send", wholeTask03, `{"task":` + wholeTask10 + `}`},
		{"send, a message", "message/send", `{"kind":"message","messageId":"m","role":"agent","parts":[]}`, `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[]}}`},
		{"stream", "message/stream", wholeTask03, `{"task":` + wholeTask10 + `}`},
		{"get", "tasks/get", wholeTask03, wholeTask10},
		{"cancel", "tasks/cancel", wholeTask03, wholeTask10},
		{"list", "tasks/list", `{"tasks":[` + wholeTask03 + `],"nextPageToken":"","pageSize":1,"totalSize":1}`, `{"tasks":[` + wholeTask10 + `],"nextPageToken":"","pageSize":1,"totalSize":1}`},
		{"push set", "tasks/pushNotificationConfig/set", config03, config10},
		{"push get", "tasks/pushNotificationConfig/get", config03, config10},
		{"push list", "tasks/pushNotificationConfig/list", `[` + config03 + `,` + config03 + `]`, `{"configs":[` + config10 + `,` + config10 + `]}`},
		{"push list, none", "tasks/pushNotificationConfig/list", `[]`, `{"configs":[]}`},
		{"push delete", "tasks/pushNotificationConfig/delete", `null`, `{}`},
	} {
		t.Run(p.name, func(t *testing.T) {
			p.v03, p.v10 = answer(p.v03), answer(p.v10)
			p.check(t, responseUp(p.method), responseDown(p.method))
			p.check(t, responseUp(compat.MethodUp(p.method)), responseDown(compat.MethodUp(p.method)))
		})
	}
}

func TestResultsThatOnlyOneVersionCanSay(t *testing.T) {
	for name, c := range map[string]struct{ method, v10, v03 string }{
		"what ProtoJSON leaves out of a task":    {"GetTask", `{"id":"t","status":{},"artifacts":[{"artifactId":"a"}],"history":[{"messageId":"m","role":1}]}`, `{"kind":"task","id":"t","status":{"state":"unknown"},"artifacts":[{"artifactId":"a","parts":[]}],"history":[{"kind":"message","messageId":"m","role":"user","parts":[]}],"contextId":""}`},
		"what ProtoJSON leaves out of an update": {"SubscribeToTask", `{"artifactUpdate":{"artifact":{}}}`, `{"kind":"artifact-update","artifact":{"parts":[]},"taskId":"","contextId":""}`},
		"beside the wrapper":                     {"SendMessage", `{"task":{"id":"t","contextId":"c"},"vendor":1}`, `{"kind":"task","id":"t","contextId":"c","vendor":1}`},
		"beside the wrapper, name taken":         {"SendMessage", `{"task":{"id":"t","contextId":"c"},"id":1}`, `{"kind":"task","id":"t","contextId":"c","task":{"id":1}}`},
		"a wrapper where there should be none":   {"GetTask", `{"task":{"id":"t"}}`, `{"kind":"task","id":"t","contextId":""}`},
		"no wrapper where there should be one":   {"SendMessage", `{"id":"t","status":{"state":2}}`, `{"kind":"task","id":"t","status":{"state":"working"},"contextId":""}`},
		"an unwrapped status update":             {"SendStreamingMessage", `{"taskId":"t","contextId":"c","status":{"state":3}}`, `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"completed"},"final":true}`},
		"an unwrapped artifact update":           {"SendStreamingMessage", `{"taskId":"t","contextId":"c","artifact":{"parts":[]}}`, `{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"parts":[]}}`},
		"an unwrapped message":                   {"SendMessage", `{"role":"ROLE_AGENT"}`, `{"kind":"message","role":"agent","parts":[]}`},
		"an empty list":                          {"ListTaskPushNotificationConfigs", `{}`, `[]`},
		"a list's next page is lost":             {"ListTaskPushNotificationConfigs", `{"nextPageToken":"x"}`, `[]`},
		"a list that is none":                    {"ListTaskPushNotificationConfigs", `{"vendor":1}`, `{"vendor":1}`},
		"a deletion that says something":         {"DeleteTaskPushNotificationConfig", `{"vendor":1}`, `{"vendor":1}`},
		"a state of the future":                  {"GetTask", `{"id":"t","contextId":"c","status":{"state":"TASK_STATE_PAUSED"},"generation":"3"}`, `{"kind":"task","id":"t","contextId":"c","status":{"state":"TASK_STATE_PAUSED"},"generation":"3"}`},
		"a task whose own field is called kind":  {"GetTask", `{"id":"t","contextId":"c","kind":"vendor"}`, `{"id":"t","contextId":"c","kind":"task"}`},
		"a status that is null":                  {"GetTask", `{"id":"t","contextId":"c","status":null,"history":null,"artifacts":[null]}`, `{"kind":"task","id":"t","contextId":"c","status":null,"history":null,"artifacts":[null]}`},
		"a result that is null":                  {"GetTask", `null`, `null`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, answer(c.v03), must(t, responseDown(c.method), answer(c.v10)))
		})
	}
	for name, c := range map[string]struct{ method, v03, v10 string }{
		"wrapped already":               {"message/send", `{"task":{"id":"t","status":{"state":"working"}}}`, `{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"}}}`},
		"no kind, by its fields":        {"message/send", `{"id":"t","status":{"state":"working"}}`, `{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"}}}`},
		"final that is no flag":         {"message/stream", `{"kind":"status-update","taskId":"t","final":"x"}`, `{"statusUpdate":{"taskId":"t","final":"x"}}`},
		"kind that is no discriminator": {"tasks/get", `{"kind":"vendor","id":"t"}`, `{"kind":"vendor","id":"t"}`},
		"a field called message":        {"message/stream", `{"kind":"status-update","taskId":"t","message":{"role":"user"}}`, `{"statusUpdate":{"taskId":"t","message":{"role":"user"}}}`},
	} {
		t.Run("up: "+name, func(t *testing.T) {
			require.Equal(t, answer(c.v10), must(t, responseUp(c.method), answer(c.v03)))
		})
	}
}

func fault(code, data string) string {
	if data != "" {
		data = `,"data":` + data
	}
	return `{"jsonrpc":"2.0","id":1,"error":{"code":` + code + `,"message":"role: user"` + data + `}}`
}

func info(reason string) string {
	return `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":` + quoted(reason) + `,"domain":"a2a-protocol.org"}`
}

func TestErrorsInBothVersions(t *testing.T) {
	const value = `{"@type":"type.googleapis.com/google.protobuf.Value","value":`
	for _, p := range []pair{
		{name: "typed details", v03: fault("-32001", `[`+info("TASK_NOT_FOUND")+`]`), v10: fault("-32001", `[`+info("TASK_NOT_FOUND")+`]`)},
		{name: "a peer's data", v03: fault("-32002", `{"state":"completed"}`), v10: fault("-32002", `[`+info("TASK_NOT_CANCELABLE")+`,`+value+`{"state":"completed"}}]`)},
		{name: "data that is text", v03: fault("-32603", `"why"`), v10: fault("-32603", `[`+value+`"why"}]`)},
		{name: "a list of anything", v03: fault("-32603", `[1,{"a":2}]`), v10: fault("-32603", `[`+value+`[1,{"a":2}]}]`)},
		{name: "a standard code without data", v03: fault("-32601", ""), v10: fault("-32601", "")},
		{name: "a vendor's code", v03: fault("-32010", ""), v10: fault("-32010", "")},
		{name: "extension support required", v03: fault("-32600", `[`+info("EXTENSION_SUPPORT_REQUIRED")+`]`), v10: fault("-32008", `[`+info("EXTENSION_SUPPORT_REQUIRED")+`]`)},
		{name: "version not supported", v03: fault("-32004", `[`+info("VERSION_NOT_SUPPORTED")+`]`), v10: fault("-32009", `[`+info("VERSION_NOT_SUPPORTED")+`]`)},
		{name: "unsupported operation", v03: fault("-32004", `[`+info("UNSUPPORTED_OPERATION")+`]`), v10: fault("-32004", `[`+info("UNSUPPORTED_OPERATION")+`]`)},
	} {
		t.Run(p.name, func(t *testing.T) {
			for _, method := range []string{"message/send", "tasks/get", ""} {
				p.check(t, responseUp(method), responseDown(method))
			}
		})
	}
	for code, reason := range map[string]string{
		"-32001": "TASK_NOT_FOUND", "-32002": "TASK_NOT_CANCELABLE", "-32003": "PUSH_NOTIFICATION_NOT_SUPPORTED",
		"-32004": "UNSUPPORTED_OPERATION", "-32005": "CONTENT_TYPE_NOT_SUPPORTED", "-32006": "INVALID_AGENT_RESPONSE",
		"-32007": "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
	} {
		require.Equal(t, fault(code, `[`+info(reason)+`]`), must(t, responseUp(""), fault(code, "")), "version 1.0 names the reason")
		require.Equal(t, fault(code, ""), must(t, responseDown(""), fault(code, "")))
	}
	require.Equal(t, fault("-32600", `[`+info("EXTENSION_SUPPORT_REQUIRED")+`]`), must(t, responseDown(""), fault("-32008", "")))
	require.Equal(t, fault("-32004", `[`+info("VERSION_NOT_SUPPORTED")+`,`+value+`"0.2"}]`), must(t, responseDown(""), fault("-32009", `"0.2"`)), "nothing said is lost")
	other := `[{"@type":"vendor/Hint","value":1},` + value + `2}]`
	require.Equal(t, fault("-32603", other), must(t, responseDown(""), fault("-32603", other)), "details that are not ours stay")
}

func TestAnErrorBesideAResult(t *testing.T) {
	body := strings.Replace(fault("-32601", ""), `"id":1`, `"id":1,"result":{"task":{"id":"t","contextId":"c"}}`, 1)
	require.Equal(t, strings.Replace(fault("-32601", ""), `"id":1`, `"id":1,"result":{"kind":"task","id":"t","contextId":"c"}`, 1),
		must(t, responseDown("message/send"), body))
}

func TestHeadersInBothVersions(t *testing.T) {
	require.Equal(t, "A2A-Extensions", compat.HeaderUp("X-A2A-Extensions"))
	require.Equal(t, "A2A-Extensions", compat.HeaderUp("x-a2a-extensions"))
	require.Equal(t, "X-A2A-Extensions", compat.HeaderDown("A2a-Extensions"))
	for _, other := range []string{"", "Authorization", "A2A-Version"} {
		require.Equal(t, other, compat.HeaderUp(other))
		require.Equal(t, other, compat.HeaderDown(other))
	}
}
