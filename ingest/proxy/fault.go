package proxy

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/steno-io/steno/schema"
)

const (
	rpcInternal = -32603 // what the proxy's faults are in JSON-RPC
	// maxIDs bounds what of a request's ids is sent back.
	maxIDs = 64 << 10
)

// unrecorded is what a client hears when the journal does not keep.
func unrecorded(err error) string {
	return "nothing was passed on, because it could not be recorded: " + err.Error()
}

// fault is the proxy's own answer: an error of JSON-RPC to who speaks it, and to everybody else one of
// REST in A2A 1.0, which is JSON.
func (x *exchange) fault(w http.ResponseWriter, status int, text string) {
	text = "steno proxy: " + strings.TrimPrefix(strings.TrimPrefix(text, "steno proxy "), "steno proxy: ")
	body := x.rpcFault(text)
	if body == nil {
		body = restFault(status, text)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if x.in.Method != http.MethodHead {
		_, _ = w.Write(body) // who is gone does not hear it
	}
}

// rpcFault answers each request of JSON-RPC by its id; nil where there is none.
func (x *exchange) rpcFault(text string) []byte {
	if x.chanAsk == schema.ChanPush { // a webhook is no call
		return nil
	}
	asked := x.request.plain
	if asked == nil {
		asked = x.request.head
	}
	var all [][]byte
	batch, size := false, 0
	for d := range documents(asked) {
		if !d.rpc {
			continue
		}
		id := []byte("null")
		for m := range inside(asked, d.at) {
			if m.name == "id" && m.whole {
				id = asked[m.at.from:m.at.to]
			}
		}
		if size += len(id); size > maxIDs || !json.Valid(id) {
			id = []byte("null")
		}
		batch = batch || d.path != ""
		if len(all) == 0 || size <= maxIDs {
			all = append(all, rpcError(id, text))
		}
	}
	switch {
	case len(all) == 0:
		return nil
	case batch:
		return append(append([]byte{'['}, bytes.Join(all, []byte{','})...), ']')
	}
	return all[0]
}

func rpcError(id []byte, text string) []byte {
	type fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	return asJSON(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   fault           `json:"error"`
	}{"2.0", id, fault{rpcInternal, text}})
}

func restFault(status int, text string) []byte {
	type fault struct {
		Code    int    `json:"code"`
		Status  string `json:"status"`
		Message string `json:"message"`
	}
	names := map[int]string{
		http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusRequestEntityTooLarge: "RESOURCE_EXHAUSTED",
		http.StatusUnsupportedMediaType: "UNIMPLEMENTED", http.StatusNotImplemented: "UNIMPLEMENTED",
		http.StatusBadGateway: "UNAVAILABLE", http.StatusServiceUnavailable: "UNAVAILABLE",
		http.StatusLoopDetected: "FAILED_PRECONDITION",
	}
	return asJSON(map[string]fault{"error": {status, names[status], text}})
}

// asJSON encodes what always is JSON.
func asJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte(`{"error":{}}`)
	}
	return b
}
