package compat_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/wire/a2a/compat"
)

func TestParamsOfEveryMethodInBothVersions(t *testing.T) {
	for _, p := range []pair{
		{"message/send", "message/send",
			`{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}],"taskId":"t","contextId":"c","referenceTaskIds":["s"],"extensions":["https://e"]},"configuration":{"acceptedOutputModes":["text/plain"],"historyLength":3,"blocking":true},"metadata":{"role":"user"}}`,
			`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}],"taskId":"t","contextId":"c","referenceTaskIds":["s"],"extensions":["https://e"]},"configuration":{"acceptedOutputModes":["text/plain"],"historyLength":3,"returnImmediately":false},"metadata":{"role":"user"}}`},
		{"message/send, not waiting", "message/send",
			`{"message":{"kind":"message","parts":[]},"configuration":{"blocking":false}}`,
			`{"message":{"parts":[]},"configuration":{"returnImmediately":true}}`},
		{"message/stream with a push configuration", "message/stream",
			`{"message":{"kind":"message","parts":[]},"configuration":{"pushNotificationConfig":{"id":"p","url":"https://u","token":"k","authentication":{"schemes":["Bearer"],"credentials":"x"}}}}`,
			`{"message":{"parts":[]},"configuration":{"taskPushNotificationConfig":{"id":"p","url":"https://u","token":"k","authentication":{"scheme":"Bearer","credentials":"x"}}}}`},
		{"get", "tasks/get", `{"id":"t","historyLength":10}`, `{"id":"t","historyLength":10}`},
		{"list", "tasks/list", `{"contextId":"c","status":"input-required","pageSize":5}`, `{"contextId":"c","status":"TASK_STATE_INPUT_REQUIRED","pageSize":5}`},
		{"cancel", "tasks/cancel", `{"id":"t","metadata":{"id":1}}`, `{"id":"t","metadata":{"id":1}}`},
		{"resubscribe", "tasks/resubscribe", `{"id":"t"}`, `{"id":"t"}`},
		{"push set", "tasks/pushNotificationConfig/set",
			`{"taskId":"t","pushNotificationConfig":{"id":"p","url":"https://u","token":"k","authentication":{"schemes":["Basic"],"credentials":"x"}}}`,
			`{"taskId":"t","id":"p","url":"https://u","token":"k","authentication":{"scheme":"Basic","credentials":"x"}}`},
		{"push get", "tasks/pushNotificationConfig/get", `{"id":"t","pushNotificationConfigId":"p"}`, `{"taskId":"t","id":"p"}`},
		{"push list", "tasks/pushNotificationConfig/list", `{"id":"t"}`, `{"taskId":"t"}`},
		{"push delete", "tasks/pushNotificationConfig/delete", `{"pushNotificationConfigId":"p","id":"t"}`, `{"id":"p","taskId":"t"}`},
		{"extended card", "agent/getAuthenticatedExtendedCard", ``, `{}`},
	} {
		t.Run(p.name, func(t *testing.T) {
			p.v03, p.v10 = call(p.method, p.v03), call(compat.MethodUp(p.method), p.v10)
			require.NotEqual(t, p.v03, p.v10)
			p.check(t, compat.RequestUp, compat.RequestDown)
			pair{v03: "[" + p.v03 + "," + p.v03 + "]", v10: "[" + p.v10 + "," + p.v10 + "]"}.check(t, compat.RequestUp, compat.RequestDown)
		})
	}
}

func TestRequestsThatOnlyOneVersionCanSay(t *testing.T) {
	for name, c := range map[string]struct{ method, v03, v10 string }{
		"all but the first scheme go": {"tasks/pushNotificationConfig/set",
			`{"taskId":"t","pushNotificationConfig":{"url":"u","authentication":{"schemes":["A","B"]}}}`, `{"taskId":"t","url":"u","authentication":{"scheme":"A"}}`},
		"a scheme of 1.0 already": {"tasks/pushNotificationConfig/set",
			`{"taskId":"t","pushNotificationConfig":{"url":"u","authentication":{"scheme":"A","schemes":["B"]}}}`, `{"taskId":"t","url":"u","authentication":{"scheme":"A","schemes":["B"]}}`},
		"schemes that are no list": {"tasks/pushNotificationConfig/set",
			`{"taskId":"t","pushNotificationConfig":{"url":"u","authentication":{"schemes":"A"}}}`, `{"taskId":"t","url":"u","authentication":{"schemes":"A"}}`},
		"no scheme at all": {"tasks/pushNotificationConfig/set",
			`{"taskId":"t","pushNotificationConfig":{"url":"u","authentication":{"schemes":[]}}}`, `{"taskId":"t","url":"u","authentication":{}}`},
		"a task's only configuration": {"tasks/pushNotificationConfig/get", `{"id":"t"}`, `{"taskId":"t"}`},
		"params of 1.0 already":       {"tasks/pushNotificationConfig/get", `{"taskId":"t","id":"p"}`, `{"taskId":"t","id":"p"}`},
		"and in the proto's spelling": {"tasks/pushNotificationConfig/get", `{"task_id":"t","id":"p"}`, `{"task_id":"t","id":"p"}`},
		"configuration of 1.0":        {"message/send", `{"configuration":{"returnImmediately":true,"blocking":true}}`, `{"configuration":{"returnImmediately":true,"blocking":true}}`},
		"a flag that is none":         {"message/send", `{"configuration":{"blocking":"yes"}}`, `{"configuration":{"returnImmediately":"yes"}}`},
		"params that are no object":   {"message/send", `[1]`, `[1]`},
		"params that are null":        {"message/send", `null`, `null`},
		"an unknown method's params":  {"vendor/thing", `{"message":{"kind":"message","role":"user"},"id":"x"}`, `{"message":{"kind":"message","role":"user"},"id":"x"}`},
	} {
		t.Run("up: "+name, func(t *testing.T) {
			require.Equal(t, call(compat.MethodUp(c.method), c.v10), must(t, compat.RequestUp, call(c.method, c.v03)))
		})
	}
	for name, c := range map[string]struct{ method, v10, v03 string }{
		"waiting is written out":           {"SendMessage", `{"message":{"parts":[]}}`, `{"message":{"kind":"message","parts":[]},"configuration":{"blocking":true}}`},
		"beside other wishes":              {"SendMessage", `{"configuration":{"historyLength":1}}`, `{"configuration":{"historyLength":1,"blocking":true}}`},
		"where the configuration is null":  {"SendMessage", `{"configuration":null}`, `{"configuration":{"blocking":true}}`},
		"where the flag is null":           {"SendMessage", `{"configuration":{"returnImmediately":null}}`, `{"configuration":{"blocking":true}}`},
		"a stream does not wait":           {"SendStreamingMessage", `{"message":{"parts":[]}}`, `{"message":{"kind":"message","parts":[]}}`},
		"the tenant stays an unknown one":  {"GetTask", `{"tenant":"x","id":"t"}`, `{"tenant":"x","id":"t"}`},
		"the proto's spelling, get":        {"GetTask", `{"id":"t","history_length":1}`, `{"id":"t","historyLength":1}`},
		"the proto's spelling, push get":   {"GetTaskPushNotificationConfig", `{"task_id":"t","id":"p"}`, `{"id":"t","pushNotificationConfigId":"p"}`},
		"the proto's spelling, send":       {"SendMessage", `{"message":{"message_id":"m","role":1,"parts":[{"raw":"","media_type":"a/b"}]},"configuration":{"return_immediately":true,"task_push_notification_config":{"url":"u"}}}`, `{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"file","file":{"bytes":"","mimeType":"a/b"}}]},"configuration":{"blocking":false,"pushNotificationConfig":{"url":"u"}}}`},
		"a vendor's underscores stay":      {"GetTask", `{"id":"t","my_field":1}`, `{"id":"t","my_field":1}`},
		"a push configuration's tenant":    {"CreateTaskPushNotificationConfig", `{"tenant":"x","url":"u","vendor":1}`, `{"tenant":"x","pushNotificationConfig":{"url":"u","vendor":1},"taskId":""}`},
		"an authentication without scheme": {"CreateTaskPushNotificationConfig", `{"taskId":"t","url":"u","authentication":{}}`, `{"taskId":"t","pushNotificationConfig":{"url":"u","authentication":{"schemes":[]}}}`},
		"schemes of 0.3 already":           {"CreateTaskPushNotificationConfig", `{"taskId":"t","url":"u","authentication":{"schemes":["A"]}}`, `{"taskId":"t","pushNotificationConfig":{"url":"u","authentication":{"schemes":["A"]}}}`},
		"a configuration of 0.3 already":   {"CreateTaskPushNotificationConfig", `{"taskId":"t","pushNotificationConfig":{"url":"u"}}`, `{"taskId":"t","pushNotificationConfig":{"url":"u"}}`},
		"a tenant's extended card":         {"GetExtendedAgentCard", `{"tenant":"x"}`, `{"tenant":"x"}`},
	} {
		t.Run("down: "+name, func(t *testing.T) {
			require.Equal(t, call(compat.MethodDown(c.method), c.v03), must(t, compat.RequestDown, call(c.method, c.v10)))
		})
	}
}

func TestABodyThatNeedsNothingComesBackItself(t *testing.T) {
	for name, c := range map[string]struct {
		f    rewriter
		body string
	}{
		"a request of 1.0":       {compat.RequestUp, " { \"method\" : \"GetTask\",\n \"params\":{\"id\" :\"t\"} }\n"},
		"no request":             {compat.RequestUp, "{}"},
		"a method that is none":  {compat.RequestUp, `{"method":7,"params":{"id":1}}`},
		"a string":               {compat.RequestUp, `"message/send"`},
		"null":                   {compat.RequestDown, `null`},
		"an empty batch":         {compat.RequestUp, `[ ]`},
		"a batch of no requests": {compat.RequestUp, `[ 1, null ]`},
		"no event":               {compat.EventUp, `{"hello":"world"}`},
		"an event that is none":  {compat.EventDown, `[{"task":{}}]`},
		"a wrapper around null":  {compat.EventDown, `{"task":null}`},
		"no response":            {responseDown("GetTask"), `{"id":1}`},
		"no card":                {compat.CardUp, `[]`},
	} {
		t.Run(name, func(t *testing.T) {
			body := []byte(c.body)
			got, err := c.f(body)
			require.NoError(t, err)
			require.Equal(t, c.body, string(got))
			require.Same(t, &body[0], &got[0])
		})
	}
}

func TestBodiesThatAreNotOneJSONValue(t *testing.T) {
	all := map[string]rewriter{
		"request": compat.RequestUp, "request down": compat.RequestDown, "response": responseUp(""), "response down": responseDown(""),
		"event": compat.EventUp, "event down": compat.EventDown, "card": compat.CardUp, "card down": compat.CardDown,
	}
	for name, f := range all {
		for _, body := range []string{"", " ", `{"jsonrpc":"2.0","id":1,`, "not JSON", `{"a":1]`} {
			got, err := f([]byte(body))
			require.Error(t, err, "%s: %q", name, body)
			require.NotErrorIs(t, err, compat.ErrTrailing)
			require.Nil(t, got)
		}
		for _, body := range []string{`{} {}`, `{}x`, `null,`} {
			_, err := f([]byte(body))
			require.ErrorIs(t, err, compat.ErrTrailing, "%s: %q", name, body)
		}
	}
	_, err := compat.RequestUp([]byte(`{"method":"x"} tail`))
	require.EqualError(t, err, "rewrite request of 19 bytes: at offset 14: something stands behind the JSON value")
}

func TestOddTextIsKept(t *testing.T) {
	require.Equal(t, "{\"message\":{\"role\":\"ROLE_USER\",\"role\":\"ROLE_AGENT\",\"messageId\":\"a\xff\\ud83d\",\"parts\":[]}}",
		string(mustLossy(t, compat.EventUp, "{\"kind\":\"message\",\"role\":\"user\",\"role\":\"agent\",\"messageId\":\"a\xff\\ud83d\",\"parts\":[]}")),
		"each of two keys is rewritten, bad UTF-8 stays")
	require.Equal(t, `{"message":{"r\u006fle":"ROLE_USER","parts":[ {"text":"x"}]}}`,
		must(t, compat.EventUp, `{"k\u0069nd":"m\u0065ssage","r\u006fle":"us\u0065r","parts":[ {"text":"x"}]}`), "names are read, and kept as written")
}

func mustLossy(t *testing.T, f rewriter, text string) []byte {
	got, err := f([]byte(text))
	require.NoError(t, err)
	return got
}
