package a2a

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/wire/jsontree"
)

func tree(t *testing.T, body string) jsontree.Value {
	t.Helper()
	if body == "" {
		return jsontree.Value{}
	}
	r := jsontree.Reader{Depth: Depth}
	_, err := r.Read([]byte(body))
	require.NoError(t, err)
	return r.Root()
}

func TestRequestNames(t *testing.T) {
	for name, tt := range map[string]struct {
		evidence Evidence
		body     string
		want     Names
	}{
		"1.0 send":                 {Evidence{Version: "1.0"}, `{"jsonrpc":"2.0","id":"r","method":"SendMessage","params":{"message":{"messageId":"m","contextId":"c","taskId":"t","parts":[]}}}`, Names{"t", "c"}},
		"1.0 send, new":            {Evidence{}, `{"jsonrpc":"2.0","id":"r","method":"SendMessage","params":{"message":{"messageId":"m","parts":[]}}}`, Names{}},
		"0.3 send, an id beside":   {Evidence{}, `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"id":"x","message":{"kind":"message","messageId":"m"}}}`, Names{}},
		"0.1 send":                 {Evidence{}, `{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"t","sessionId":"s","message":{"role":"user"}}}`, Names{"t", "s"}},
		"get":                      {Evidence{}, `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t"}}`, Names{Task: "t"}},
		"push config of a task":    {Evidence{}, `{"jsonrpc":"2.0","id":1,"method":"GetTaskPushNotificationConfig","params":{"id":"config","taskId":"t"}}`, Names{Task: "t"}},
		"push config, no task":     {Evidence{}, `{"jsonrpc":"2.0","id":1,"method":"DeleteTaskPushNotificationConfig","params":{"id":"config"}}`, Names{}},
		"push config of 0.3":       {Evidence{}, `{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/get","params":{"id":"t"}}`, Names{Task: "t"}},
		"one of several of 0.3":    {Evidence{Version: "0.3"}, `{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/delete","params":{"id":"t","pushNotificationConfigId":"config"}}`, Names{Task: "t"}},
		"list of a conversation":   {Evidence{}, `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"contextId":"c"}}`, Names{Context: "c"}},
		"snake case":               {Evidence{}, `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"context_id":"c"}}}`, Names{Context: "c"}},
		"batch":                    {Evidence{}, `[{"jsonrpc":"2.0","id":1,"method":"x"},{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"id":"t"}}]`, Names{Task: "t"}},
		"REST send":                {Evidence{Path: "/v1/message:send"}, `{"message":{"contextId":"c"}}`, Names{Context: "c"}},
		"REST get":                 {Evidence{Path: "/v1/tasks/t-1"}, "", Names{Task: "t-1"}},
		"REST get with a query":    {Evidence{Path: "/tenant/tasks/t%2F1?historyLength=2"}, "", Names{Task: "t/1"}},
		"REST cancel":              {Evidence{Path: "/tasks/t-1:cancel"}, "{}", Names{Task: "t-1"}},
		"REST push config":         {Evidence{Path: "/tasks/t-1/pushNotificationConfigs/p"}, "", Names{Task: "t-1"}},
		"REST list":                {Evidence{Path: "/tasks?contextId=c&pageSize=1"}, "", Names{Context: "c"}},
		"card":                     {Evidence{Path: "/.well-known/agent-card.json"}, "", Names{}},
		"nothing":                  {Evidence{}, "", Names{}},
		"no object":                {Evidence{}, `"x"`, Names{}},
		"names in data do not say": {Evidence{}, `{"jsonrpc":"2.0","method":"SendMessage","params":{"message":{"parts":[{"data":{"taskId":"no","contextId":"no"}}]},"metadata":{"taskId":"no"}}}`, Names{}},
	} {
		require.Equal(t, tt.want, RequestNames(tt.evidence, tree(t, tt.body)), name)
	}
}

func TestAnswerNames(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		want Names
	}{
		"task":            {`{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}}`, Names{"t", "c"}},
		"0.3 task":        {`{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","contextId":"c","status":{"state":"working"}}}`, Names{"t", "c"}},
		"update":          {`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`, Names{"t", "c"}},
		"0.1 update":      {`{"jsonrpc":"2.0","id":1,"result":{"id":"t","status":{"state":"working"},"final":false}}`, Names{Task: "t"}},
		"message":         {`{"message":{"messageId":"m","role":"ROLE_AGENT","contextId":"c","parts":[]}}`, Names{Context: "c"}},
		"message, bare":   {`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[]}}`, Names{}},
		"error":           {`{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no such task","data":{"taskId":"t"}}}`, Names{}},
		"list":            {`{"jsonrpc":"2.0","id":1,"result":{"tasks":[{"id":"t","contextId":"c","status":{}}],"nextPageToken":""}}`, Names{}},
		"a config's task": {`{"jsonrpc":"2.0","id":1,"result":{"taskId":"t","pushNotificationConfig":{"url":"u"}}}`, Names{}},
		"nothing":         {"", Names{}},
	} {
		require.Equal(t, tt.want, AnswerNames(tree(t, tt.body)), name)
	}
}
