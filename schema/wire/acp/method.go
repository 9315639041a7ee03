package acp

import "github.com/steno-io/steno/schema"

// Methods that the client sends.
const (
	MethodInitialize             = "initialize"
	MethodAuthenticate           = "authenticate"
	MethodLogout                 = "logout"
	MethodSessionNew             = "session/new"
	MethodSessionLoad            = "session/load"
	MethodSessionResume          = "session/resume"
	MethodSessionFork            = "session/fork" // unstable
	MethodSessionList            = "session/list"
	MethodSessionDelete          = "session/delete"
	MethodSessionClose           = "session/close"
	MethodSessionArchive         = "session/archive"   // unstable
	MethodSessionUnarchive       = "session/unarchive" // unstable
	MethodSessionStatus          = "session/status"    // unstable
	MethodSessionSetTitle        = "session/set_title" // unstable
	MethodSessionSetMode         = "session/set_mode"
	MethodSessionSetModel        = "session/set_model" // removed in 2026; older peers still send it
	MethodSessionSetConfigOption = "session/set_config_option"
	MethodSessionPrompt          = "session/prompt"
	MethodSessionCancel          = "session/cancel"    // a notification
	MethodToolCallCancel         = "tool_call/cancel"  // version 2
	MethodTerminalCancel         = "terminal/cancel"   // version 2
	MethodAuthLogin              = "auth/login"        // version 2
	MethodAuthLogout             = "auth/logout"       // version 2
	MethodAuthStatus             = "auth/status"       // unstable
	MethodProvidersList          = "providers/list"    // unstable
	MethodProvidersSet           = "providers/set"     // unstable
	MethodProvidersDisable       = "providers/disable" // unstable
	MethodProxyInitialize        = "proxy/initialize"  // unstable
)

// Methods that the agent sends.
const (
	MethodSessionUpdate       = "session/update" // a notification
	MethodRequestPermission   = "session/request_permission"
	MethodReadTextFile        = "fs/read_text_file"
	MethodWriteTextFile       = "fs/write_text_file"
	MethodTerminalCreate      = "terminal/create"
	MethodTerminalOutput      = "terminal/output"
	MethodTerminalRelease     = "terminal/release"
	MethodTerminalWaitForExit = "terminal/wait_for_exit"
	MethodTerminalKill        = "terminal/kill"
	MethodElicitationCreate   = "elicitation/create"
	MethodElicitationComplete = "elicitation/complete" // a notification
	MethodAuthStatusUpdate    = "auth/status_update"   // a notification, unstable
)

// Methods that both sides send.
const (
	MethodCancelRequest  = "$/cancel_request" // a notification
	MethodMCPMessage     = "mcp/message"      // unstable
	MethodProxySuccessor = "proxy/successor"  // unstable
)

// Sender returns the side that sends the method, as a request or a notification. It returns an empty
// side for a method that both sides send and for one that this list does not have, such as a
// vendor's own.
func Sender(method string) schema.From {
	switch method {
	case MethodInitialize, MethodAuthenticate, MethodLogout,
		MethodSessionNew, MethodSessionLoad, MethodSessionResume, MethodSessionFork, MethodSessionList,
		MethodSessionDelete, MethodSessionClose, MethodSessionArchive, MethodSessionUnarchive,
		MethodSessionStatus, MethodSessionSetTitle, MethodSessionSetMode, MethodSessionSetModel,
		MethodSessionSetConfigOption, MethodSessionPrompt, MethodSessionCancel,
		MethodToolCallCancel, MethodTerminalCancel,
		MethodAuthLogin, MethodAuthLogout, MethodAuthStatus,
		MethodProvidersList, MethodProvidersSet, MethodProvidersDisable,
		MethodProxyInitialize:
		return schema.FromClient
	case MethodSessionUpdate, MethodRequestPermission, MethodReadTextFile, MethodWriteTextFile,
		MethodTerminalCreate, MethodTerminalOutput, MethodTerminalRelease, MethodTerminalWaitForExit,
		MethodTerminalKill, MethodElicitationCreate, MethodElicitationComplete, MethodAuthStatusUpdate:
		return schema.FromAgent
	}
	return ""
}

// SharedMethod reports whether both sides send the method, so that its name does not tell the side.
func SharedMethod(method string) bool {
	switch method {
	case MethodCancelRequest, MethodMCPMessage, MethodProxySuccessor:
		return true
	}
	return false
}
