package a2a

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

func read(t testing.TB, text string) jsontree.Value {
	t.Helper()
	r := jsontree.Reader{Depth: Depth}
	_, err := r.Read([]byte(text))
	require.NoError(t, err, text)
	return r.Root()
}

func TestAFieldIsFoundInEverySpelling(t *testing.T) {
	for text, want := range map[string]string{
		`{"taskId":"a"}`:  `"a"`,
		`{"task_id":"a"}`: `"a"`,
		`{"TaskID":"a"}`:  `"a"`,
		`{"TASK_ID":"a"}`: `"a"`,
		`{"taskid":"x","task_id":"s","taskId":"e"}`:     `"e"`,
		`{"taskId":"e","task_id":"s","taskid":"x"}`:     `"e"`,
		`{"taskid":"x","task_id":"s"}`:                  `"s"`,
		`{"taskId":"first","taskId":"last"}`:            `"last"`,
		`{"taskIds":"a","task":"b","id":"c","tas":"d"}`: ``,
		`["taskId"]`: ``,
	} {
		require.Equal(t, want, string(Field(read(t, text), "taskId").Raw()), text)
	}
}

func TestAnObjectIsWhatItsFieldsSay(t *testing.T) {
	for text, want := range map[string][]Arm{
		`{"kind":"task","id":"t","status":{}}`:                        {{Kind: Task, Dialect: V03}},
		`{"kind":"message","role":"agent","parts":[]}`:                {{Kind: Message, Dialect: V03}},
		`{"kind":"status-update","taskId":"t","status":{}}`:           {{Kind: StatusUpdate, Dialect: V03}},
		`{"kind":"artifact-update","taskId":"t","artifact":{}}`:       {{Kind: ArtifactUpdate, Dialect: V03}},
		`{"task":{"id":"t"}}`:                                         {{Kind: Task}},
		`{"message":{"parts":[]},"task":{"id":"t"}}`:                  {{Kind: Task}, {Kind: Message}},
		`{"status_update":{"task_id":"t"}}`:                           {{Kind: StatusUpdate}},
		`{"ArtifactUpdate":{}}`:                                       {{Kind: ArtifactUpdate}},
		`{"message":{"role":"ROLE_AGENT","content":[{"text":"x"}]}}`:  {{Kind: Message, Dialect: V03}},
		`{"statusUpdate":{"taskId":"t","status":{},"final":true}}`:    {{Kind: StatusUpdate, Dialect: V03}},
		`{"id":"t","artifact":{"index":0}}`:                           {{Kind: ArtifactUpdate, Dialect: V01}},
		`{"id":"t","status":{"state":"working"}}`:                     {{Kind: Task}},
		`{"id":"t","sessionId":"s","status":{"state":"working"}}`:     {{Kind: Task, Dialect: V01}},
		`{"id":"t","state":"working"}`:                                {{Kind: Task}},
		`{"taskId":"t","contextId":"c","status":{"state":"working"}}`: {{Kind: StatusUpdate}},
		`{"role":"agent","parts":[{"type":"text","text":"x"}]}`:       {{Kind: Message, Dialect: V01}},
		`{"parts":[]}`: {{Kind: Message}},
		`{"role":"ROLE_AGENT","parts":[],"message":{"role":"ROLE_USER"}}`: {{Kind: Message}},
		`{"kind":"streaming","task":{"id":"t"}}`:                          {{Kind: Task}},
		`{"root":{"kind":"task","id":"t","status":{}}}`:                   {{Kind: Task, Dialect: V03}},
		`{"payload":{"$case":"statusUpdate","value":{"taskId":"t"}}}`:     {{Kind: StatusUpdate}},
		`{"payload":{"$case":"task","task":{"id":"t"}}}`:                  {{Kind: Task}},
		`{"payload":{"$case":"other","value":{}}}`:                        nil,
		`{"root":{"root":{"kind":"task"}}}`:                               nil,
		`{"task":null,"message":"text"}`:                                  nil,
		`{}`:                                                              nil, `[]`: nil, `"task"`: nil, `{"tasks":[]}`: nil, `{"id":1}`: nil,
	} {
		arms := AppendArms(nil, read(t, text))
		require.Len(t, arms, len(want), text)
		for i := range want {
			require.Equal(t, want[i].Kind, arms[i].Kind, text)
			require.Equal(t, want[i].Dialect, arms[i].Dialect, text)
		}
	}
}

func TestAPartIsWhatItHolds(t *testing.T) {
	for text, want := range map[string][2]string{
		`{"kind":"text","text":"a"}`: {"text", `"a"`},
		`{"type":"text","text":"a"}`: {"text", `"a"`},
		`{"text":""}`:                {"text", `""`},
		`{"content":{"$case":"text","value":"a"},"filename":""}`: {"text", `"a"`},
		`{"content":{"$case":"data","value":{"n":1}}}`:           {"data", `{"n":1}`},
		`{"raw":"aGkK"}`: {"raw", `{"raw":"aGkK"}`},
		`{"kind":"file","file":{"bytes":"aGkK"}}`:      {"raw", `{"kind":"file","file":{"bytes":"aGkK"}}`},
		`{"file":{"fileWithBytes":"aGkK"}}`:            {"raw", `{"file":{"fileWithBytes":"aGkK"}}`},
		`{"file":{"file_with_uri":"u"}}`:               {"url", `{"file":{"file_with_uri":"u"}}`},
		`{"kind":"file","file":{"uri":"u"}}`:           {"url", `{"kind":"file","file":{"uri":"u"}}`},
		`{"url":"u","mediaType":"text/csv"}`:           {"url", `{"url":"u","mediaType":"text/csv"}`},
		`{"data":null}`:                                {"data", `null`},
		`{"data":[1,null]}`:                            {"data", `[1,null]`},
		`{"data":{"data":{"n":1}}}`:                    {"data", `{"n":1}`},
		`{"data":{"data":{"n":1},"role":"ROLE_USER"}}`: {"data", `{"data":{"n":1},"role":"ROLE_USER"}`},
		`{"kind":"data","data":{"data":{"n":1}}}`:      {"data", `{"data":{"n":1}}`},
		`{"data":{"data":[1]}}`:                        {"data", `{"data":[1]}`},
		`{"metadata":{"text":"no"}}`:                   {"empty", `{"metadata":{"text":"no"}}`},
		`{"root":{"kind":"text","text":"a"}}`:          {"text", `"a"`},
		`"a"`:                                          {"text", `"a"`},
		`{"content":{"$case":"","":1}}`:                {"empty", `{"content":{"$case":"","":1}}`},
		`{"text":7}`:                                   {"empty", `{"text":7}`},
	} {
		kind, value := ReadPart(read(t, text))
		require.Equal(t, want, [2]string{string(kind), string(value.Raw())}, text)
	}
	for text, want := range map[string][]string{
		`{"parts":[null,{"text":"ok"},7,"x"]}`: {`{"text":"ok"}`, `"x"`},
		`{"parts":{"text":"ok"}}`:              {`{"text":"ok"}`},
		`{"role":"agent","text":"ok"}`:         {`"ok"`},
		`{"role":"agent","content":"ok"}`:      {`"ok"`},
		`{"parts":[],"text":"no"}`:             nil,
	} {
		var got []string
		for _, part := range AppendParts(nil, read(t, text)) {
			got = append(got, string(part.Raw()))
		}
		require.Equal(t, want, got, text)
	}
	require.Empty(t, AppendParts(nil, read(t, `{"parts":null}`)))
}

func TestEveryStateInEverySpelling(t *testing.T) {
	words := map[State][]string{
		Submitted: {"submitted", "TASK_STATE_SUBMITTED", "Submitted", "TaskState.submitted"}, Working: {"working", "TASK_STATE_WORKING"},
		Completed: {"completed", "TASK_STATE_COMPLETED"}, Failed: {"failed", "TASK_STATE_FAILED"},
		Canceled:      {"canceled", "cancelled", "TASK_STATE_CANCELED", "TASK_STATE_CANCELLED"},
		InputRequired: {"input-required", "input_required", "TASK_STATE_INPUT_REQUIRED"},
		Rejected:      {"rejected", "TASK_STATE_REJECTED"}, AuthRequired: {"auth-required", "TASK_STATE_AUTH_REQUIRED"},
		Unspecified: {"unknown", "TASK_STATE_UNSPECIFIED"},
	}
	for state, spellings := range words {
		for _, s := range spellings {
			require.Equal(t, state, ReadState(read(t, `{"state":"`+s+`"}`)), s)
			require.Equal(t, state, ReadState(read(t, `"`+s+`"`)), s)
		}
	}
	for n, state := range numbers {
		require.Equal(t, state, ReadState(read(t, `{"state":`+string(rune('0'+n))+`}`)))
	}
	for text, class := range map[string]Class{
		`{"state":"working"}`: Running, `{"state":4}`: Terminal, `{"state":"auth-required"}`: Interrupted,
		`{"state":0}`: Unsaid, `{}`: Unsaid, `{"state":null}`: Unsaid, `{"state":"TASK_STATE_PAUSED"}`: Unheard, `{"state":42}`: Unheard,
	} {
		require.Equal(t, class, ReadState(read(t, text)).Class(), text)
	}
	require.Equal(t, State("paused"), ReadState(read(t, `"TASK_STATE_PAUSED"`)))
}

func TestEveryRoleInEverySpelling(t *testing.T) {
	for text, want := range map[string]schema.Role{
		`{"role":"user"}`: schema.User, `{"role":"ROLE_USER"}`: schema.User, `{"role":1}`: schema.User, `{"Role":"User"}`: schema.User,
		`{"role":"agent"}`: schema.Assistant, `{"role":"ROLE_AGENT"}`: schema.Assistant, `{"role":2}`: schema.Assistant,
		`{"role":"assistant"}`: schema.Assistant, `{"role":"ROLE_UNSPECIFIED"}`: "", `{}`: "", `{"role":0}`: "",
	} {
		role, ok := ReadRole(read(t, text))
		require.Equal(t, want, role, text)
		require.Equal(t, want != "", ok, text)
	}
}

func TestAnEnvelopeGivesResultAndError(t *testing.T) {
	e := ReadEnvelope(read(t, `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{}}}`))
	require.Equal(t, "SendMessage", e.Method)
	require.Equal(t, `{"message":{}}`, string(e.Params.Raw()))
	for text, want := range map[string][2]string{
		`{"jsonrpc":"2.0","id":1,"result":{"id":"t"}}`:                   {`{"id":"t"}`, ``},
		`{"id":1,"result":{"id":"t"}}`:                                   {`{"id":"t"}`, ``},
		`{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1}}`:      {`null`, `{"code":1}`},
		`{"jsonrpc":"2.0","id":1,"result":{"kind":"task"},"error":null}`: {`{"kind":"task"}`, ``},
		`{"error":{"code":404,"status":"NOT_FOUND"}}`:                    {`{"error":{"code":404,"status":"NOT_FOUND"}}`, `{"code":404,"status":"NOT_FOUND"}`},
		`{"type":"about:blank","title":"Gone","status":410}`:             {``, `{"type":"about:blank","title":"Gone","status":410}`},
		`{"id":"t","status":{"state":"working"}}`:                        {`{"id":"t","status":{"state":"working"}}`, ``},
		`{"task":{"id":"t"}}`:                                            {`{"task":{"id":"t"}}`, ``},
	} {
		e := ReadEnvelope(read(t, text))
		require.Equal(t, want, [2]string{string(e.Result.Raw()), string(e.Error.Raw())}, text)
	}
	for text, want := range map[string]string{
		`{"code":-32004,"message":"streaming is switched off"}`:       "-32004 streaming is switched off",
		`{"code":500,"status":"INTERNAL","message":"kiln door open"}`: "INTERNAL kiln door open",
		`{"type":"x","title":"Task not found","status":404}`:          "404 Task not found",
		`{"title":"T","detail":"D","status":400}`:                     "400 D",
		`{"message":"m"}`: "m", `{"code":1}`: "1", `{}`: "", `"text"`: "text",
	} {
		require.Equal(t, want, FaultText(read(t, text)), text)
	}
}

func TestCallsByMethodAndPath(t *testing.T) {
	for name, want := range map[string]method{
		"SendMessage": {SendMessage, V10}, "message/stream": {StreamMessage, V03}, "tasks/send": {SendMessage, V01},
		"tasks/resubscribe": {Subscribe, V03}, "tasks/subscribe": {Subscribe, V03}, "SubscribeToTask": {Subscribe, V10}, "nope": {},
	} {
		call, dialect := ReadMethod(name)
		require.Equal(t, want, method{call, dialect}, name)
	}
	for request, want := range map[[2]string]method{
		{"POST", "/v1/message:send"}:                          {SendMessage, V03},
		{"POST", "/acme/message:stream"}:                      {StreamMessage, V10},
		{"POST", "/rest/message:stream?x=1"}:                  {StreamMessage, V10},
		{"GET", "/tasks/t-1"}:                                 {GetTask, V10},
		{"GET", "/v1/tasks"}:                                  {ListTasks, V03},
		{"POST", "/tasks/t-1:cancel"}:                         {CancelTask, V10},
		{"GET", "/tasks/t-1:subscribe"}:                       {Subscribe, V10},
		{"POST", "/tasks/t-1/pushNotificationConfigs"}:        {CreatePush, V10},
		{"GET", "/tasks/t-1/pushNotificationConfigs"}:         {ListPush, V10},
		{"GET", "/tasks/t-1/pushNotificationConfigs/c"}:       {GetPush, V10},
		{"DELETE", "/v1/tasks/t-1/pushNotificationConfigs/c"}: {DeletePush, V03},
		{"GET", "/v1/card"}:                                   {ExtendedCard, V03},
		{"GET", "/extendedAgentCard"}:                         {ExtendedCard, V10},
		{"POST", "/"}:                                         {}, {"GET", ""}: {}, {"GET", "/health"}: {},
	} {
		call, dialect := ReadPath(request[0], request[1])
		require.Equal(t, want, method{call, dialect}, "%v", request)
	}
}

func TestEvidenceIsReadLeniently(t *testing.T) {
	e := ReadEvidence(read(t, `{"method":"POST","path":"/x","status":200,"content_type":"text/event-stream","a2a_version":"1.0","sse_id":"7"}`))
	require.Equal(t, Evidence{Method: "POST", Path: "/x", Status: 200, ContentType: "text/event-stream", Version: "1.0", SSEID: "7"}, e)
	require.Equal(t, Evidence{}, ReadEvidence(read(t, `{"status":"ok","path":7}`)))
	for header, want := range map[string]Dialect{
		"1.0": V10, "1.0.1": V10, " 1 ": V10, "v1.0": V10, "0.3": V03, "0.3.0": V03, "1.0, 0.3": V10, "": "", "2.0": "", "banana": "",
	} {
		require.Equal(t, want, ReadVersion(header), header)
	}
}

func FuzzObjects(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","status":{"state":2},"artifacts":[{"parts":[{"text":"x"},null]}]},"error":{}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := jsontree.Reader{Depth: Depth}
		if _, err := r.Read(data); err != nil {
			return
		}
		e := ReadEnvelope(r.Root())
		_ = FaultText(e.Error)
		for _, a := range AppendArms(nil, e.Result) {
			require.Equal(t, jsontree.Object, a.Value.Kind())
			require.Contains(t, arms, a.Kind)
			ReadState(StatusOf(a.Value))
			_, _, _ = TaskID(a), ContextID(a.Value), Flag(a.Value, "append")
			for _, part := range AppendParts(nil, a.Value) {
				kind, value := ReadPart(part)
				require.NotEmpty(t, kind)
				require.True(t, value.Present())
			}
		}
		ReadEvidence(r.Root())
	})
}
