package acp

// Error codes of an answer: JSON-RPC's own, then the protocol's.
const (
	CodeParse              = -32700
	CodeInvalidRequest     = -32600
	CodeMethodNotFound     = -32601
	CodeInvalidParams      = -32602
	CodeInternal           = -32603
	CodeCancelled          = -32800
	CodeAuthRequired       = -32000
	CodeResourceNotFound   = -32002
	CodeUnsupportedVersion = -32022 // version 2
)
