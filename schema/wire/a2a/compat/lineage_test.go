package compat_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/wire/a2a/compat"
)

// What the layer that this package follows did not do or did wrongly, one test each.

func TestMethodNamesInBothVersions(t *testing.T) {
	for old, current := range map[string]string{
		"message/send":                        "SendMessage",
		"message/stream":                      "SendStreamingMessage",
		"tasks/get":                           "GetTask",
		"tasks/list":                          "ListTasks",
		"tasks/cancel":                        "CancelTask",
		"tasks/resubscribe":                   "SubscribeToTask",
		"tasks/pushNotificationConfig/set":    "CreateTaskPushNotificationConfig",
		"tasks/pushNotificationConfig/get":    "GetTaskPushNotificationConfig",
		"tasks/pushNotificationConfig/list":   "ListTaskPushNotificationConfigs",
		"tasks/pushNotificationConfig/delete": "DeleteTaskPushNotificationConfig",
		"agent/getAuthenticatedExtendedCard":  "GetExtendedAgentCard",
	} {
		require.Equal(t, current, compat.MethodUp(old))
		require.Equal(t, old, compat.MethodDown(current))
	}
	require.Equal(t, "SubscribeToTask", compat.MethodUp("tasks/subscribe"), "what some clients send")
	require.Equal(t, "tasks/resubscribe", compat.MethodDown("SubscribeToTask"), "what version 0.3 defines")
	for _, stranger := range []string{"", "tasks/send", "vendor/thing", "Message/Send"} {
		require.Equal(t, stranger, compat.MethodUp(stranger))
		require.Equal(t, stranger, compat.MethodDown(stranger))
	}
}

var states = map[string]string{
	"submitted":      "TASK_STATE_SUBMITTED",
	"working":        "TASK_STATE_WORKING",
	"completed":      "TASK_STATE_COMPLETED",
	"failed":         "TASK_STATE_FAILED",
	"canceled":       "TASK_STATE_CANCELED",
	"input-required": "TASK_STATE_INPUT_REQUIRED",
	"rejected":       "TASK_STATE_REJECTED",
	"auth-required":  "TASK_STATE_AUTH_REQUIRED",
	"unknown":        "TASK_STATE_UNSPECIFIED",
}

func task03(state string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","contextId":"c","status":{"state":%s}}}`, state)
}

func task10(state string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"id":"t","contextId":"c","status":{"state":%s}}}`, state)
}

func TestAllNineStatesInBothVersions(t *testing.T) {
	require.Len(t, states, 9)
	for old, current := range states {
		pair{v03: task03(quoted(old)), v10: task10(quoted(current))}.check(t, responseUp("tasks/get"), responseDown("tasks/get"))
		pair{v03: call("tasks/list", `{"status":`+quoted(old)+`}`), v10: call("ListTasks", `{"status":`+quoted(current)+`}`)}.
			check(t, compat.RequestUp, compat.RequestDown)
	}
}

func TestStatesInOtherSpellings(t *testing.T) {
	for spelling, want := range map[string]string{
		`"cancelled"`: "TASK_STATE_CANCELED", `"TASK_STATE_CANCELLED"`: "TASK_STATE_CANCELED",
		`"TASK_STATE_WORKING"`: "TASK_STATE_WORKING", `"vendor-state"`: "vendor-state", `""`: "",
	} {
		require.Equal(t, task10(quoted(want)), must(t, responseUp("tasks/get"), task03(spelling)))
	}
	for spelling, want := range map[string]string{
		`0`: "unknown", `1`: "submitted", `2`: "working", `3`: "completed", `4`: "failed", `5`: "canceled",
		`6`: "input-required", `7`: "rejected", `8`: "auth-required",
		`"TASK_STATE_CANCELLED"`: "canceled", `"working"`: "working", `"TASK_STATE_NEW"`: "TASK_STATE_NEW",
	} {
		require.Equal(t, task03(quoted(want)), must(t, responseDown("GetTask"), task10(spelling)))
	}
	for _, odd := range []string{"9", "-1", "1.5", "true", "null", "{}"} {
		require.Equal(t, task03(odd), must(t, responseDown("GetTask"), task10(odd)), "no state: as sent")
	}
	require.Equal(t, `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"unknown"},"final":false}`,
		must(t, compat.EventDown, `{"statusUpdate":{"taskId":"t","contextId":"c","status":{}}}`), "ProtoJSON leaves the state 0 out")
}

func TestPartsAreReshaped(t *testing.T) {
	for _, p := range []pair{
		{name: "text", v03: `{"kind":"text","text":"hi"}`, v10: `{"text":"hi"}`},
		{name: "empty text", v03: `{"kind":"text","text":""}`, v10: `{"text":""}`},
		{name: "text with metadata", v03: `{"kind":"text","text":"hi","metadata":{"kind":"text","text":1}}`, v10: `{"text":"hi","metadata":{"kind":"text","text":1}}`},
		{name: "text with name and type, which 0.3 does not know", v03: `{"kind":"text","text":"# hi","filename":"a.md","mediaType":"text/markdown"}`, v10: `{"text":"# hi","filename":"a.md","mediaType":"text/markdown"}`},
		{name: "bytes", v03: `{"kind":"file","file":{"bytes":"aGkK","name":"a.txt","mimeType":"text/plain"}}`, v10: `{"raw":"aGkK","filename":"a.txt","mediaType":"text/plain"}`},
		{name: "base64 is not written anew", v03: `{"kind":"file","file":{"bytes":"aG-_\u002f/Q"}}`, v10: `{"raw":"aG-_\u002f/Q"}`},
		{name: "uri", v03: `{"kind":"file","file":{"uri":"https://f.example/a.csv","mimeType":"text/csv"}}`, v10: `{"url":"https://f.example/a.csv","mediaType":"text/csv"}`},
		{name: "file with metadata", v03: `{"kind":"file","file":{"bytes":"aGkK"},"metadata":{"role":"user"}}`, v10: `{"raw":"aGkK","metadata":{"role":"user"}}`},
		{name: "data", v03: `{"kind":"data","data":{"n":12345678901234567890.50,"kind":"text"}}`, v10: `{"data":{"n":12345678901234567890.50,"kind":"text"}}`},
		{name: "data that is a list", v03: `{"kind":"data","data":{"value":[1,null,"x"]},"metadata":{"data_part_compat":true}}`, v10: `{"data":[1,null,"x"]}`},
		{name: "data that is null", v03: `{"kind":"data","data":{"value":null},"metadata":{"data_part_compat":true}}`, v10: `{"data":null}`},
		{name: "data that is a number, with metadata", v03: `{"kind":"data","data":{"value":1e400},"metadata":{"k":1,"data_part_compat":true}}`, v10: `{"data":1e400,"metadata":{"k":1}}`},
		{name: "data that only looks wrapped", v03: `{"kind":"data","data":{"value":1}}`, v10: `{"data":{"value":1}}`},
		{name: "unknown fields", v03: `{"kind":"text","text":"hi","vendor":{"kind":"x"}}`, v10: `{"text":"hi","vendor":{"kind":"x"}}`},
	} {
		t.Run(p.name, func(t *testing.T) {
			p.v03 = `{"kind":"message","messageId":"m","role":"agent","parts":[` + p.v03 + `]}`
			p.v10 = `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[` + p.v10 + `]}}`
			p.check(t, compat.EventUp, compat.EventDown)
		})
	}
}

func TestPartsThatFitNoShapeStay(t *testing.T) {
	up := func(part string) string {
		return must(t, compat.EventUp, `{"kind":"message","parts":[`+part+`]}`)
	}
	for _, part := range []string{
		`{"kind":"text"}`, `{"kind":"text","text":null}`, `{"kind":"data"}`, `{"kind":"file"}`, `{"kind":"file","file":"x"}`,
		`{"kind":"file","file":{"name":"x"}}`, `{"kind":"image","image":1}`, `{"kind":1}`, `{"text":"of 1.0"}`, `null`, `"x"`, `[]`,
	} {
		require.Equal(t, `{"message":{"parts":[`+part+`]}}`, up(part))
	}
	for part, want := range map[string]string{
		`{"kind":"file","file":{"fileWithBytes":"aGkK","mimeType":"a/b"}}`:              `{"raw":"aGkK","mediaType":"a/b"}`,
		`{"kind":"file","file":{"fileWithUri":"https://f"}}`:                            `{"url":"https://f"}`,
		`{"kind":"file","file":{"bytes":"aGkK","uri":"https://f"}}`:                     `{"raw":"aGkK","uri":"https://f"}`,
		`{"kind":"file","file":{"uri":"https://f","size":3}}`:                           `{"url":"https://f","size":3}`,
		`{"kind":"file","file":{"bytes":"aGkK","v":1},"v":2}`:                           `{"raw":"aGkK","file":{"v":1},"v":2}`,
		`{"kind":"data","data":{"value":1,"x":2},"metadata":{"data_part_compat":true}}`: `{"data":{"value":1,"x":2},"metadata":{"data_part_compat":true}}`,
		`{"kind":"data","data":{"value":1},"metadata":{"data_part_compat":"yes"}}`:      `{"data":{"value":1},"metadata":{"data_part_compat":"yes"}}`,
		`{"kind":"data","data":"not an object"}`:                                        `{"data":"not an object"}`,
	} {
		require.Equal(t, `{"message":{"parts":[`+want+`]}}`, up(part))
	}
	down := func(part string) string {
		return must(t, compat.EventDown, `{"message":{"parts":[`+part+`]}}`)
	}
	for part, want := range map[string]string{
		`{}`: `{}`, `null`: `null`, `{"metadata":{}}`: `{"metadata":{}}`, `{"video":1}`: `{"video":1}`,
		`{"kind":"text","text":"of 0.3"}`:       `{"kind":"text","text":"of 0.3"}`,
		`{"kind":"vendor","text":"x"}`:          `{"kind":"text","text":"x"}`,
		`{"text":null,"data":{}}`:               `{"kind":"data","text":null,"data":{}}`,
		`{"text":"x","url":"https://f"}`:        `{"kind":"text","text":"x","url":"https://f"}`,
		`{"data":1,"metadata":"none"}`:          `{"data":1,"metadata":"none"}`,
		`{"raw":"aGkK","media_type":"a/b"}`:     `{"kind":"file","file":{"bytes":"aGkK","mimeType":"a/b"}}`,
		`{"url":"https://f","file":{"v":1}}`:    `{"kind":"file","file":{"uri":"https://f","v":1}}`,
		`{"url":"https://f","file":"somebody"}`: `{"kind":"file","file":{"uri":"https://f"}}`,
	} {
		require.Equal(t, `{"kind":"message","parts":[`+want+`]}`, down(part), part)
	}
}

func TestEveryWrapperInBothVersions(t *testing.T) {
	for _, p := range []pair{
		{name: "task", v03: `{"kind":"task","id":"t","contextId":"c","status":{"state":"working"}}`,
			v10: `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`},
		{name: "message", v03: `{"kind":"message","messageId":"m","role":"agent","parts":[]}`,
			v10: `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[]}}`},
		{name: "status update", v03: `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working"},"final":false}`,
			v10: `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`},
		{name: "artifact update", v03: `{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"kind":"text","text":"x"}]},"append":true,"lastChunk":false}`,
			v10: `{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"x"}]},"append":true,"lastChunk":false}}`},
	} {
		t.Run(p.name, func(t *testing.T) {
			p.check(t, compat.EventUp, compat.EventDown)
			for _, method := range []string{"message/stream", "tasks/resubscribe", "SendStreamingMessage", "SubscribeToTask", "", "vendor/thing"} {
				pair{v03: answer(p.v03), v10: answer(p.v10)}.check(t, responseUp(method), responseDown(method))
			}
		})
	}
}

func TestFinalFollowsTheState(t *testing.T) {
	ends := map[string]bool{"completed": true, "failed": true, "canceled": true, "rejected": true, "input-required": true}
	for old, current := range states {
		v10 := `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":` + quoted(current) + `}}}`
		v03 := fmt.Sprintf(`{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":%q},"final":%t}`, old, ends[old])
		pair{v03: v03, v10: v10}.check(t, compat.EventUp, compat.EventDown)
	}
	require.Equal(t, `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working"},"final":true}`,
		must(t, compat.EventDown, `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":2},"final":true}}`), "what a peer says itself stays")
	require.Equal(t, `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"completed"},"final":true}`,
		must(t, compat.EventDown, `{"status_update":{"task_id":"t","context_id":"c","status":{"state":3}}}`))
}

// TestPayloadsAreNobodysToRewrite puts every word that is rewritten elsewhere into the two places that
// belong to the peers.
func TestPayloadsAreNobodysToRewrite(t *testing.T) {
	payload := `{ "role":"user","state" :"completed", "kind":"task","final":true,"parts":[{"kind":"text","text":"x"}],` +
		`"status":{"state":"TASK_STATE_FAILED"},"role2":"ROLE_AGENT","file":{"bytes":"aGkK"},"task_id":1,"n":1.10,"z":0,"a":0,"z":1,` +
		`"history":[{"role":"ROLE_USER"}],"task":{"id":"t"},"blocking":true,"e":"\u00e9\/"}`
	place := func(v03 string) string {
		return fmt.Sprintf(v03, payload, payload, payload, payload, payload, payload, payload)
	}
	old := place(`{"kind":"task","id":"t","contextId":"c","metadata":%s,` +
		`"status":{"state":"working","message":{"kind":"message","messageId":"m","role":"agent","metadata":%s,"parts":[{"kind":"data","data":%s,"metadata":%s}]}},` +
		`"history":[{"kind":"message","messageId":"u","role":"user","parts":[],"metadata":%s}],` +
		`"artifacts":[{"artifactId":"a","metadata":%s,"parts":[{"kind":"data","data":%s}]}]}`)
	current := place(`{"task":{"id":"t","contextId":"c","metadata":%s,` +
		`"status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m","role":"ROLE_AGENT","metadata":%s,"parts":[{"data":%s,"metadata":%s}]}},` +
		`"history":[{"messageId":"u","role":"ROLE_USER","parts":[],"metadata":%s}],` +
		`"artifacts":[{"artifactId":"a","metadata":%s,"parts":[{"data":%s}]}]}}`)
	require.Equal(t, current, must(t, compat.EventUp, old), "byte for byte")
	require.Equal(t, old, must(t, compat.EventDown, current), "byte for byte")
}

func TestRolesInBothVersions(t *testing.T) {
	message := func(role string) string { return `{"kind":"message","role":` + role + `,"parts":[]}` }
	wrapped := func(role string) string { return `{"message":{"role":` + role + `,"parts":[]}}` }
	for old, current := range map[string]string{`"user"`: `"ROLE_USER"`, `"agent"`: `"ROLE_AGENT"`, `""`: `"ROLE_UNSPECIFIED"`} {
		pair{v03: message(old), v10: wrapped(current)}.check(t, compat.EventUp, compat.EventDown)
	}
	for number, old := range map[string]string{`0`: `""`, `1`: `"user"`, `2`: `"agent"`, `3`: `3`, `"assistant"`: `"assistant"`} {
		require.Equal(t, message(old), must(t, compat.EventDown, wrapped(number)))
	}
	require.Equal(t, `{"message":{"parts":[]}}`, must(t, compat.EventUp, `{"kind":"message","parts":[]}`), "no role stays no role")
}
