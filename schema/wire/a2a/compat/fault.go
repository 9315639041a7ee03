package compat

import (
	"bytes"

	"github.com/steno-io/steno/schema/wire/jsontree"
)

// The types of error details that this package reads and writes.
const (
	errorInfo  = "type.googleapis.com/google.rpc.ErrorInfo"
	valueProto = "type.googleapis.com/google.protobuf.Value" // any JSON value, as ProtoJSON wraps it
	domain     = "a2a-protocol.org"
)

// fault is an error of version 1.0: its code there, the code that version 0.3 has for it, and the
// reason that ErrorInfo gives.
type fault struct{ current, old, reason string }

var faults = []fault{
	{"-32001", "-32001", "TASK_NOT_FOUND"},
	{"-32002", "-32002", "TASK_NOT_CANCELABLE"},
	{"-32003", "-32003", "PUSH_NOTIFICATION_NOT_SUPPORTED"},
	{"-32004", "-32004", "UNSUPPORTED_OPERATION"},
	{"-32005", "-32005", "CONTENT_TYPE_NOT_SUPPORTED"},
	{"-32006", "-32006", "INVALID_AGENT_RESPONSE"},
	{"-32007", "-32007", "EXTENDED_AGENT_CARD_NOT_CONFIGURED"},
	{"-32008", "-32600", "EXTENSION_SUPPORT_REQUIRED"}, // version 0.3: invalid request
	{"-32009", "-32004", "VERSION_NOT_SUPPORTED"},      // version 0.3: unsupported operation
}

// faultUp rewrites an error object. In version 1.0 its data is a list of typed details: other data
// goes into it as one, and an error that version 1.0 knows gets its reason.
func faultUp(o *object) {
	data := o.get("data")
	for _, f := range faults {
		if f.old != f.current && string(o.get("code").Raw()) == f.old && reasoned(data, f.reason) {
			o.set("code", []byte(f.current))
			return
		}
	}
	all := detailsUp(data)
	reason := reasonOf(o.get("code").Raw())
	if reason != "" && !reasoned(data, "") {
		all = append([][]byte{info(reason)}, all...)
	} else if !data.Given() || isDetails(data) {
		return
	}
	o.set("data", array(all))
}

// faultDown rewrites an error object. A code that version 0.3 lacks falls back to a wider one, and its
// data is a list that holds the reason. Other data that faultUp put into a list is taken out again.
func faultDown(o *object) {
	data := o.get("data")
	reason := reasonOf(o.get("code").Raw())
	for _, f := range faults {
		if f.current == f.old || f.reason != reason {
			continue
		}
		o.set("code", []byte(f.old))
		if !reasoned(data, reason) {
			o.set("data", array(append([][]byte{info(reason)}, detailsUp(data)...)))
		}
		return
	}
	if value, ok := onlyValue(data, reason); ok {
		o.set("data", value)
	}
}

// reasonOf is the reason that ErrorInfo gives for a code of version 1.0; empty for other codes.
func reasonOf(code []byte) string {
	for _, f := range faults {
		if f.current == string(code) {
			return f.reason
		}
	}
	return ""
}

// onlyValue gives the data of version 0.3 that faultUp made a detail of: there is one, and beside it
// at most the reason that faultUp gave.
func onlyValue(data jsontree.Value, reason string) (value []byte, ok bool) {
	for detail := range details(data) {
		if d, is := open(detail); is && !ok && d.get("@type").Is(valueProto) && d.has("value") {
			value, ok = d.get("value").Raw(), true
		} else if !bytes.Equal(detail.Raw(), info(reason)) {
			return nil, false
		}
	}
	return value, ok
}

// details gives the elements of an error's data; none if it is no list.
func details(data jsontree.Value) func(func(jsontree.Value) bool) {
	if data.Kind() != jsontree.Array {
		return jsontree.Value{}.Children()
	}
	list, _ := indexed(data)
	return list.Children()
}

// isDetails reports whether data has the form of version 1.0: a list of objects that name their type.
func isDetails(data jsontree.Value) bool {
	if data.Kind() != jsontree.Array {
		return false
	}
	for detail := range details(data) {
		if o, ok := open(detail); !ok || o.get("@type").Kind() != jsontree.String {
			return false
		}
	}
	return true
}

// detailsUp gives the elements of a list in the form of version 1.0.
func detailsUp(data jsontree.Value) (list [][]byte) {
	if !data.Given() {
		return nil
	}
	if !isDetails(data) {
		o := object{changed: true}
		o.set("@type", quote(valueProto))
		o.set("value", data.Raw())
		return [][]byte{o.bytes()}
	}
	for detail := range details(data) {
		list = append(list, detail.Raw())
	}
	return list
}

// reasoned reports whether the details hold an ErrorInfo with that reason; any reason for "".
func reasoned(data jsontree.Value, reason string) bool {
	for detail := range details(data) {
		if o, ok := open(detail); ok && o.get("@type").Is(errorInfo) && (reason == "" || o.get("reason").Is(reason)) {
			return true
		}
	}
	return false
}

// info is the detail that names an error.
func info(reason string) []byte {
	o := object{changed: true}
	o.set("@type", quote(errorInfo))
	o.set("reason", quote(reason))
	o.set("domain", quote(domain))
	return o.bytes()
}
