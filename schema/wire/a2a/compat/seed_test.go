package compat_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/wire/a2a/compat"
)

// The floor: what the layer that this package follows promised of itself.

// serve is what a server of version 1.0 does with a request: rewrite it only if it is of version 0.3.
func serve(t *testing.T, s compat.Signals, body string) string {
	var request struct{ Method string }
	require.NoError(t, json.Unmarshal([]byte(body), &request))
	s.Method = request.Method
	if compat.Detect(s) == compat.V10 {
		return body
	}
	return must(t, compat.RequestUp, body)
}

const sendOf03 = `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hello"}]}}}`

func TestAHeaderOf10ForbidsRewriting(t *testing.T) {
	require.Equal(t, sendOf03, serve(t, compat.Signals{Header: header("1.0")}, sendOf03),
		"the server refuses the method by its name, clearly")
}

func TestASlashMethodIsOf03(t *testing.T) {
	for _, method := range []string{"message/send", "tasks/get"} {
		require.Equal(t, compat.V03, compat.Detect(compat.Signals{Method: method}))
	}
}

func TestAMethodInPascalCaseIsOf10(t *testing.T) {
	for _, method := range []string{"SendMessage", "GetTask", "SomethingNew"} {
		require.Equal(t, compat.V10, compat.Detect(compat.Signals{Method: method}))
	}
}

func TestMethodsAreRewrittenOnlyFor03(t *testing.T) {
	require.Contains(t, serve(t, compat.Signals{}, sendOf03), `"method":"SendMessage"`)
}

func TestMethodsOf10PassInBothVersions(t *testing.T) {
	request := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}`
	for _, version := range []string{"1.0", "0.3"} {
		require.Equal(t, request, serve(t, compat.Signals{Header: header(version)}, request))
	}
	require.Equal(t, "SendMessage", compat.MethodUp("SendMessage"))
	require.Equal(t, "SomethingNew", compat.MethodUp("SomethingNew"))
}

func TestRolesAreRewrittenOnlyFor03(t *testing.T) {
	require.Contains(t, serve(t, compat.Signals{}, sendOf03), `"role":"ROLE_USER"`)
	request := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"user","parts":[]}}}`
	require.Equal(t, request, serve(t, compat.Signals{}, request), "a wrong word of 1.0 is the server's to refuse")
}

func TestACardOf10GetsWhatReadersOf03LookFor(t *testing.T) {
	got := must(t, compat.CardDown, `{"name":"Test","supportedInterfaces":[{"url":"https://example.com/agent","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`)
	same(t, `{"name":"Test",
		"supportedInterfaces":[{"url":"https://example.com/agent","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
		"url":"https://example.com/agent","preferredTransport":"JSONRPC",
		"additionalInterfaces":[{"url":"https://example.com/agent","transport":"JSONRPC"}],
		"protocolVersion":"0.3.0"}`, got)
}

func TestACardKeepsWhatItSaysItself(t *testing.T) {
	got := must(t, compat.CardDown, `{"name":"Test","url":"https://custom.example.com","protocolVersion":"1.0","supportedInterfaces":[{"url":"https://example.com/agent","protocolBinding":"JSONRPC"}]}`)
	var card map[string]any
	require.NoError(t, json.Unmarshal([]byte(got), &card))
	require.Equal(t, "https://custom.example.com", card["url"])
	require.Equal(t, "1.0", card["protocolVersion"])
}
