package a2a

import "strings"

// Call is an operation, whatever a binding calls it.
type Call string

// Calls, by their names in 1.0.
const (
	SendMessage   Call = "SendMessage"
	StreamMessage Call = "SendStreamingMessage"
	GetTask       Call = "GetTask"
	ListTasks     Call = "ListTasks"
	CancelTask    Call = "CancelTask"
	Subscribe     Call = "SubscribeToTask"
	CreatePush    Call = "CreateTaskPushNotificationConfig"
	GetPush       Call = "GetTaskPushNotificationConfig"
	ListPush      Call = "ListTaskPushNotificationConfigs"
	DeletePush    Call = "DeleteTaskPushNotificationConfig"
	ExtendedCard  Call = "GetExtendedAgentCard"
)

// Sends reports whether the call brings a message to the agent.
func (c Call) Sends() bool { return c == SendMessage || c == StreamMessage }

// Streams reports whether the call is answered by a stream.
func (c Call) Streams() bool { return c == StreamMessage || c == Subscribe }

type method struct {
	call    Call
	dialect Dialect
}

// methods are the names of calls in JSON-RPC and gRPC. Names that several dialects share say nothing
// about the dialect of what is sent, only about the oldest that has them.
var methods = map[string]method{
	"tasks/send":                          {SendMessage, V01},
	"tasks/sendSubscribe":                 {StreamMessage, V01},
	"tasks/pushNotification/set":          {CreatePush, V01},
	"tasks/pushNotification/get":          {GetPush, V01},
	"message/send":                        {SendMessage, V03},
	"message/stream":                      {StreamMessage, V03},
	"tasks/get":                           {GetTask, V03},
	"tasks/list":                          {ListTasks, V03},
	"tasks/cancel":                        {CancelTask, V03},
	"tasks/resubscribe":                   {Subscribe, V03},
	"tasks/subscribe":                     {Subscribe, V03},
	"tasks/pushNotificationConfig/set":    {CreatePush, V03},
	"tasks/pushNotificationConfig/get":    {GetPush, V03},
	"tasks/pushNotificationConfig/list":   {ListPush, V03},
	"tasks/pushNotificationConfig/delete": {DeletePush, V03},
	"agent/getAuthenticatedExtendedCard":  {ExtendedCard, V03},
	"TaskSubscription":                    {Subscribe, V03},
	"GetAgentCard":                        {ExtendedCard, V03},
	"ListTaskPushNotificationConfig":      {ListPush, V03},
	string(SendMessage):                   {SendMessage, V10},
	string(StreamMessage):                 {StreamMessage, V10},
	string(GetTask):                       {GetTask, V10},
	string(ListTasks):                     {ListTasks, V10},
	string(CancelTask):                    {CancelTask, V10},
	string(Subscribe):                     {Subscribe, V10},
	string(CreatePush):                    {CreatePush, V10},
	string(GetPush):                       {GetPush, V10},
	string(ListPush):                      {ListPush, V10},
	string(DeletePush):                    {DeletePush, V10},
	string(ExtendedCard):                  {ExtendedCard, V10},
}

// ReadMethod tells what a method's name calls, and the dialect that names it so; both are empty for a
// name that no dialect has.
func ReadMethod(name string) (Call, Dialect) {
	m := methods[name]
	return m.call, m.dialect
}

// ReadPath tells what a REST request calls. Paths of 0.3 begin with /v1; 1.0 may have a tenant in
// front. Both are empty where the path is none of a REST binding.
func ReadPath(verb, path string) (Call, Dialect) {
	path, _, _ = strings.Cut(path, "?")
	segments := strings.Split(strings.Trim(path, "/"), "/")
	dialect := V10
	for _, s := range segments {
		if s == "v1" {
			dialect = V03
		}
	}
	call := restCall(verb, segments)
	if call == "" {
		return "", ""
	}
	return call, dialect
}

func restCall(verb string, segments []string) Call {
	last := segments[len(segments)-1]
	switch last {
	case "message:send":
		return SendMessage
	case "message:stream":
		return StreamMessage
	case "extendedAgentCard", "card":
		return ExtendedCard
	case "tasks":
		return ListTasks
	}
	before := func(n int) string {
		if len(segments) <= n {
			return ""
		}
		return segments[len(segments)-1-n]
	}
	switch {
	case before(1) == "tasks" && strings.HasSuffix(last, ":cancel"):
		return CancelTask
	case before(1) == "tasks" && strings.HasSuffix(last, ":subscribe"):
		return Subscribe
	case before(1) == "tasks":
		return GetTask
	case last == "pushNotificationConfigs" && verb == "POST":
		return CreatePush
	case last == "pushNotificationConfigs":
		return ListPush
	case before(1) == "pushNotificationConfigs" && verb == "DELETE":
		return DeletePush
	case before(1) == "pushNotificationConfigs":
		return GetPush
	}
	return ""
}
