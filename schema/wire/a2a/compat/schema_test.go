package compat_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/wire/a2a/compat"
)

// published compiles the schemas that the protocol's project publishes, one function a version. That
// of 1.0 allows no unknown field, so that nothing of 0.3 may be left over.
func published(t *testing.T) (old, current func(definition string) *jsonschema.Schema) {
	compiler := jsonschema.NewCompiler()
	load := func(path string) map[string]any {
		file, err := os.Open(path)
		require.NoError(t, err)
		defer func() { require.NoError(t, file.Close()) }()
		doc, err := jsonschema.UnmarshalJSON(file)
		require.NoError(t, err)
		return doc.(map[string]any)
	}
	require.NoError(t, compiler.AddResource("https://a2a.test/v03", load("testdata/spec/a2a-v0.3.0.json")))
	for title, definition := range load("testdata/spec/a2a-v1.0.1.schema.json")["definitions"].(map[string]any) {
		name := strings.ReplaceAll(title, " ", "")
		prefix := "lf.a2a.v1."
		if name == "Struct" || name == "Timestamp" || name == "Value" {
			prefix = "google.protobuf."
		}
		require.NoError(t, compiler.AddResource("https://a2a.test/v10/"+prefix+name+".jsonschema.json", definition))
	}
	compile := func(url string) *jsonschema.Schema {
		schema, err := compiler.Compile(url)
		require.NoError(t, err)
		return schema
	}
	return func(definition string) *jsonschema.Schema {
			return compile("https://a2a.test/v03#/definitions/" + definition)
		},
		func(definition string) *jsonschema.Schema {
			return compile("https://a2a.test/v10/lf.a2a.v1." + definition + ".jsonschema.json")
		}
}

func valid(t *testing.T, schema *jsonschema.Schema, text string) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(v), text)
}

// member is the text of an object's member.
func part(t *testing.T, text, name string) string {
	var o map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(text), &o))
	require.Contains(t, o, name)
	return string(o[name])
}

// TestCapturedFramesFitThePublishedSchemas rewrites real frames and holds them against the schemas.
func TestCapturedFramesFitThePublishedSchemas(t *testing.T) {
	old, current := published(t)
	checked := 0
	for name, c := range captures(t) {
		if !strings.Contains(name, "-jsonrpc-") && !strings.HasSuffix(name, "-push") {
			continue
		}
		for _, frame := range c.requests {
			if strings.HasPrefix(name, "v03") {
				valid(t, current("SendMessageRequest"), part(t, must(t, compat.RequestUp, frame), "params"))
			} else {
				valid(t, old("A2ARequest"), must(t, compat.RequestDown, frame))
			}
			checked++
		}
		for _, frame := range c.answers {
			switch {
			case strings.Contains(frame, `"error"`):
				valid(t, old("JSONRPCErrorResponse"), must(t, responseDown("SendStreamingMessage"), frame))
			case strings.HasPrefix(name, "v03"):
				valid(t, current("StreamResponse"), part(t, must(t, responseUp("message/stream"), frame), "result"))
			default:
				valid(t, old("SendStreamingMessageSuccessResponse"), must(t, responseDown("SendStreamingMessage"), frame))
			}
			checked++
		}
	}
	require.Greater(t, checked, 100)
}

func TestPushAndCardsFitThePublishedSchemas(t *testing.T) {
	old, current := published(t)
	for method, c := range map[string]struct{ definition, v03 string }{
		"tasks/pushNotificationConfig/set":    {"TaskPushNotificationConfig", config03},
		"tasks/pushNotificationConfig/get":    {"GetTaskPushNotificationConfigRequest", `{"id":"t","pushNotificationConfigId":"p"}`},
		"tasks/pushNotificationConfig/list":   {"ListTaskPushNotificationConfigsRequest", `{"id":"t"}`},
		"tasks/pushNotificationConfig/delete": {"DeleteTaskPushNotificationConfigRequest", `{"id":"t","pushNotificationConfigId":"p"}`},
		"tasks/get":                           {"GetTaskRequest", `{"id":"t","historyLength":1}`},
		"tasks/cancel":                        {"CancelTaskRequest", `{"id":"t","metadata":{}}`},
		"tasks/resubscribe":                   {"SubscribeToTaskRequest", `{"id":"t"}`},
	} {
		request := call(method, c.v03)
		valid(t, old("A2ARequest"), request)
		params := part(t, must(t, compat.RequestUp, request), "params")
		valid(t, current(c.definition), params)
		valid(t, old("A2ARequest"), must(t, compat.RequestDown, call(compat.MethodUp(method), params)))
	}
	valid(t, old("ListTaskPushNotificationConfigSuccessResponse"), must(t, responseDown("ListTaskPushNotificationConfigs"), answer(`{"configs":[`+config10+`]}`)))
	valid(t, old("DeleteTaskPushNotificationConfigSuccessResponse"), must(t, responseDown("DeleteTaskPushNotificationConfig"), answer(`{}`)))

	const card10 = `{"name":"n","description":"d","version":"1","defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],` +
		`"skills":[{"id":"s","name":"n","description":"d","tags":[],"securityRequirements":[{"schemes":{"key":{"list":["r"]}}}]}],` +
		`"capabilities":{"streaming":true,"extendedAgentCard":true},"supportedInterfaces":[{"url":"https://a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],` +
		`"securityRequirements":[{"schemes":{"key":{}}}],"securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header","name":"k"}},"tls":{"mtlsSecurityScheme":{}},` +
		`"oauth":{"oauth2SecurityScheme":{"flows":{"deviceCode":{"deviceAuthorizationUrl":"https://d","tokenUrl":"https://t","scopes":{}}}}},"http":{"httpAuthSecurityScheme":{"scheme":"Basic"}},` +
		`"oidc":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://o"}}},"signatures":[{"protected":"p","signature":"s"}]}`
	valid(t, current("AgentCard"), card10)
	down := must(t, compat.CardDown, card10)
	valid(t, old("AgentCard"), down)
	for _, scheme := range []string{"key", "tls", "oauth", "http", "oidc"} {
		flat := part(t, part(t, down, "securitySchemes"), scheme)
		valid(t, old("SecurityScheme"), flat)
	}
}
