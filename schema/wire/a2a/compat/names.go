package compat

import "strings"

// The methods of version 1.0, whose names choose the shapes of params and result.
const (
	sendMessage          = "SendMessage"
	sendStreamingMessage = "SendStreamingMessage"
	getTask              = "GetTask"
	listTasks            = "ListTasks"
	cancelTask           = "CancelTask"
	subscribeToTask      = "SubscribeToTask"
	createPushConfig     = "CreateTaskPushNotificationConfig"
	getPushConfig        = "GetTaskPushNotificationConfig"
	listPushConfigs      = "ListTaskPushNotificationConfigs"
	deletePushConfig     = "DeleteTaskPushNotificationConfig"
	getExtendedCard      = "GetExtendedAgentCard"
)

// The headers that name activated extensions, in each version; their values are the same.
const (
	ExtensionsHeader03 = "X-A2A-Extensions"
	ExtensionsHeader10 = "A2A-Extensions"
)

// pair is a word of version 0.3 and its word of version 1.0.
type pair struct{ old, current string }

// methods come in order of preference: the first of two old names is the one that is given.
var methods = []pair{
	{"message/send", sendMessage},
	{"message/stream", sendStreamingMessage},
	{"tasks/get", getTask},
	{"tasks/list", listTasks}, // no 0.3 JSON-RPC has it; a 0.3 server answers that it does not
	{"tasks/cancel", cancelTask},
	{"tasks/resubscribe", subscribeToTask},
	{"tasks/subscribe", subscribeToTask}, // no version defines it, some clients send it
	{"tasks/pushNotificationConfig/set", createPushConfig},
	{"tasks/pushNotificationConfig/get", getPushConfig},
	{"tasks/pushNotificationConfig/list", listPushConfigs},
	{"tasks/pushNotificationConfig/delete", deletePushConfig},
	{"agent/getAuthenticatedExtendedCard", getExtendedCard},
}

// states are in the order of their numbers in version 1.0. After the nine come spellings that are
// taken and never given: the proto of version 0.3 has two Ls.
var states = []pair{
	{"unknown", "TASK_STATE_UNSPECIFIED"},
	{"submitted", "TASK_STATE_SUBMITTED"},
	{"working", "TASK_STATE_WORKING"},
	{"completed", "TASK_STATE_COMPLETED"},
	{"failed", "TASK_STATE_FAILED"},
	{"canceled", "TASK_STATE_CANCELED"},
	{"input-required", "TASK_STATE_INPUT_REQUIRED"},
	{"rejected", "TASK_STATE_REJECTED"},
	{"auth-required", "TASK_STATE_AUTH_REQUIRED"},
	{"cancelled", "TASK_STATE_CANCELED"},
	{"canceled", "TASK_STATE_CANCELLED"},
	{"TASK_STATE_CANCELLED", "TASK_STATE_CANCELED"},
}

// roles are in the order of their numbers in version 1.0. Version 0.3 has no third role: an empty
// one stands for it.
var roles = []pair{{"", "ROLE_UNSPECIFIED"}, {"user", "ROLE_USER"}, {"agent", "ROLE_AGENT"}}

// up is the word of version 1.0 for one of version 0.3; any other word stays.
func up(words []pair, word string) string {
	for _, p := range words {
		if p.old == word {
			return p.current
		}
	}
	return word
}

// down is the word of version 0.3 for one of version 1.0; any other word stays.
func down(words []pair, word string) string {
	for _, p := range words {
		if p.current == word {
			return p.old
		}
	}
	return word
}

// MethodUp is the name in version 1.0 of a JSON-RPC method of version 0.3. Any other name stays: it
// is the server's to refuse.
func MethodUp(name string) string { return up(methods, name) }

// MethodDown is the name in version 0.3 of a JSON-RPC method of version 1.0. Any other name stays.
// ListTasks, which version 0.3 lacks, becomes tasks/list.
func MethodDown(name string) string { return down(methods, name) }

// HeaderUp is the name in version 1.0 of a header of version 0.3; any other name stays as written.
func HeaderUp(name string) string {
	if strings.EqualFold(name, ExtensionsHeader03) {
		return ExtensionsHeader10
	}
	return name
}

// HeaderDown is the name in version 0.3 of a header of version 1.0; any other name stays as written.
func HeaderDown(name string) string {
	if strings.EqualFold(name, ExtensionsHeader10) {
		return ExtensionsHeader03
	}
	return name
}
