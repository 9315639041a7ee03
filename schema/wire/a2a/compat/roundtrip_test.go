package compat_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema/wire/a2a/compat"
)

// there rewrites a drawn value both ways, to exactly what the other version writes.
func there(t *rapid.T, d drawn, up, down rewriter) {
	current, old := must(t, up, d.v03), must(t, down, d.v10)
	same(t, d.v10, current)
	same(t, d.v03, old)
	same(t, d.v03, must(t, down, current))
	same(t, d.v10, must(t, up, old))
}

func TestEventsThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawEvent(t)
		there(t, d, compat.EventUp, compat.EventDown)
		there(t, drawn{answer(d.v03), answer(d.v10)}, responseUp("message/stream"), responseDown("message/stream"))
	})
}

func TestTasksThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawTask(t)
		there(t, drawn{answer(d.v03), answer(d.v10)}, responseUp("tasks/get"), responseDown("GetTask"))
	})
}

func TestRequestsThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, method := drawRequest(t)
		there(t, d, compat.RequestUp, compat.RequestDown)
		var request struct{ Method string }
		require.NoError(t, json.Unmarshal([]byte(d.v10), &request))
		require.Equal(t, compat.MethodUp(method), request.Method)
		require.Equal(t, compat.V03, compat.Detect(compat.Signals{Method: method}))
		require.Equal(t, compat.V10, compat.Detect(compat.Signals{Method: request.Method}))
	})
}

func TestConfigsThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawConfig(t, true)
		there(t, drawn{answer(d.v03), answer(d.v10)}, responseUp("tasks/pushNotificationConfig/get"), responseDown("tasks/pushNotificationConfig/get"))
		there(t, drawn{answer("[" + d.v03 + "]"), answer(`{"configs":[` + d.v10 + "]}")},
			responseUp("tasks/pushNotificationConfig/list"), responseDown("tasks/pushNotificationConfig/list"))
	})
}

// TestErrorDataThereAndBack: version 0.3 may say anything in an error's data, and gets it back as it
// was.
func TestErrorDataThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.SampledFrom([]string{"-32001", "-32004", "-32600", "-32603", "-32010", "7"}).Draw(t, "code")
		data := rapid.Custom(func(t *rapid.T) string { return anything(t, 3) }).
			Filter(func(s string) bool { return s != "null" && s != "[]" }).Draw(t, "data")
		body := fault(code, data)
		require.Equal(t, body, must(t, responseDown(""), must(t, responseUp(""), body)))
	})
}

// TestEverythingSurvives takes any value through every function: what a body holds beside the words
// that are rewritten is still there.
func TestEverythingSurvives(t *testing.T) {
	const canary = `"canary \u00e9 12345678901234567890.10"`
	rapid.Check(t, func(t *rapid.T) {
		d := drawEvent(t)
		for _, body := range []string{d.v03, d.v10} {
			body = body[:len(body)-1] + `,"vendor":{"role":"user","state":` + canary + `}}`
			for _, f := range []rewriter{compat.EventUp, compat.EventDown} {
				got, err := f([]byte(body))
				require.NoError(t, err)
				require.Equal(t, strings.Count(body, canary), strings.Count(string(got), canary), "%s\n%s", body, got)
			}
		}
	})
}

func FuzzRewrite(f *testing.F) {
	for _, seed := range []string{
		sendOf03, wholeTask03, wholeTask10, config03, config10, `{"method":"tasks/pushNotificationConfig/get","params":{"id":"t"}}`,
		`{"result":{"statusUpdate":{"taskId":"t","status":{"state":3}}}}`, fault("-32008", `[{"@type":"x"}]`), fault("-32001", `{"a":[1]}`),
		`{"url":"u","security":[{"k":["s"]}],"securitySchemes":{"k":{"type":"http"}},"signatures":[]}`,
		`{"supportedInterfaces":[{"url":"u"}],"securitySchemes":{"k":{"oauth2SecurityScheme":{"flows":{}}}}}`,
		"{\"parts\":[{\"text\":\"\xff\"},{\"data\":[1]}],\"parts\":1}", `[{"method":"message/send"}]`, `{"kind":"file","file":{"bytes":1}}`,
	} {
		f.Add([]byte(seed), "message/send")
	}
	for _, c := range []string{"GetTask", "ListTaskPushNotificationConfigs", "tasks/pushNotificationConfig/delete", "GetExtendedAgentCard", "ListTasks"} {
		f.Add([]byte(answer(wholeTask10)), c)
	}
	captured, err := os.ReadFile("testdata/captures.jsonl")
	require.NoError(f, err)
	for _, line := range bytes.Split(captured, []byte("\n"))[:40] {
		var frame struct{ Raw string }
		require.NoError(f, json.Unmarshal(line, &frame))
		f.Add([]byte(frame.Raw), "message/stream")
	}
	f.Fuzz(func(t *testing.T, body []byte, method string) {
		for _, rewrite := range []rewriter{
			compat.RequestUp, compat.RequestDown, compat.EventUp, compat.EventDown, compat.CardUp, compat.CardDown,
			responseUp(method), responseDown(method),
		} {
			before := bytes.Clone(body)
			got, err := rewrite(body)
			require.Equal(t, before, body, "the input was written to")
			if err != nil {
				require.Nil(t, got)
				continue
			}
			require.True(t, json.Valid(body))
			require.True(t, json.Valid(got), "%s", got)
			if !bytes.Equal(got, body) {
				require.NotEmpty(t, got)
			}
		}
	})
}
