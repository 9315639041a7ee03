package a2a

import "github.com/steno-io/steno/schema/wire/jsontree"

// Depth is how deep a reader of A2A texts must index: down to the members of a tool call in a part of
// a message in a task's history in a JSON-RPC answer.
const Depth = 10

// Envelope is what stands around an object. Result and Error may both be there: peers send both.
type Envelope struct {
	RPC    bool // a JSON-RPC object
	Method string
	Params jsontree.Value // of a request
	Result jsontree.Value // of an answer: what is inside the envelope, or the bare object itself
	Error  jsontree.Value
}

// ReadEnvelope takes an object apart.
func ReadEnvelope(v jsontree.Value) Envelope {
	method := v.Get("method")
	fault := Field(v, "error")
	rpc := v.Get("jsonrpc").Present() || v.Get("id").Present() && (v.Get("result").Present() || v.Get("error").Present())
	if method.Kind() == jsontree.String && (rpc || Field(v, "params").Present()) {
		name, _ := method.Text()
		return Envelope{RPC: true, Method: name, Params: Field(v, "params")}
	}
	if rpc {
		return Envelope{RPC: true, Result: Field(v, "result"), Error: given(fault)}
	}
	if fault.Kind() == jsontree.Object {
		return Envelope{Result: v, Error: fault}
	}
	if isProblem(v) {
		return Envelope{Error: v}
	}
	return Envelope{Result: v}
}

func given(v jsontree.Value) jsontree.Value {
	if v.Given() {
		return v
	}
	return jsontree.Value{}
}

// isProblem recognises an RFC 9457 problem document, which old REST peers answer with.
func isProblem(v jsontree.Value) bool {
	return v.Get("title").Kind() == jsontree.String && v.Get("status").Kind() == jsontree.Number && !Field(v, "id").Present()
}

// FaultText is an error in one line: the code (a REST error's status name) and the message.
func FaultText(fault jsontree.Value) string {
	if fault.Kind() == jsontree.String {
		text, _ := fault.Text()
		return text
	}
	code := string(Field(fault, "code").Raw())
	if text, ok := Field(fault, "code").Text(); ok {
		code = text
	}
	switch status := Field(fault, "status"); status.Kind() {
	case jsontree.String:
		code, _ = status.Text()
	case jsontree.Number:
		if code == "" {
			code = string(status.Raw())
		}
	}
	message := Text(fault, "message")
	for _, name := range []string{"detail", "title"} {
		if message == "" {
			message = Text(fault, name)
		}
	}
	if code != "" && message != "" {
		return code + " " + message
	}
	return code + message
}
