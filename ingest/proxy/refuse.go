package proxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

const grpcText = "steno proxy does not carry gRPC: use the peer's JSON-RPC or REST binding"

// refused is why a request is not forwarded.
type refused struct {
	status int
	text   string
	grpc   bool
	broke  bool // it did not come as it should: nobody's decision
}

// cause is what the close entry says.
func (r *refused) cause() string {
	if r.broke {
		return r.text
	}
	return fmt.Sprintf("refused with %d: %s", r.status, r.text)
}

// refusal says why a request is not carried; nil if it is. An offer to go over to HTTP/2, which some
// clients make with every request, is no reason: a server need not take it.
func refusal(r *http.Request) *refused {
	switch {
	case strings.HasPrefix(strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Type"))), "application/grpc"):
		return &refused{status: http.StatusUnsupportedMediaType, grpc: true, text: grpcText}
	case r.Method == http.MethodConnect:
		return &refused{status: http.StatusNotImplemented, text: "steno proxy opens no tunnels: CONNECT is not carried"}
	case r.Header.Get("Upgrade") != "" && !strings.EqualFold(r.Header.Get("Upgrade"), "h2c"):
		return &refused{status: http.StatusNotImplemented, text: fmt.Sprintf("steno proxy does not carry %q: A2A speaks HTTP", r.Header.Get("Upgrade"))}
	}
	return nil
}

// answer tells the asker.
func (r *refused) answer(w http.ResponseWriter, in *http.Request) {
	if !r.grpc || in.ProtoMajor != 2 {
		answerFault(w, in, r.status, r.text)
		return
	}
	// Headers alone, which also end the stream: so gRPC wants an answer without messages.
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Grpc-Status", "12") // UNIMPLEMENTED
	w.Header().Set("Grpc-Message", r.text)
	w.WriteHeader(http.StatusOK)
}

// unrecorded is what a client hears when the journal does not keep.
func unrecorded(err error) string {
	return "nothing was passed on, because it could not be recorded: " + err.Error()
}

// answerFault is the proxy's own answer: a REST error of A2A 1.0, which is JSON to everybody.
func answerFault(w http.ResponseWriter, r *http.Request, status int, text string) {
	type fault struct {
		Code    int    `json:"code"`
		Status  string `json:"status"`
		Message string `json:"message"`
	}
	names := map[int]string{
		http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusRequestEntityTooLarge: "RESOURCE_EXHAUSTED",
		http.StatusUnsupportedMediaType: "UNIMPLEMENTED", http.StatusNotImplemented: "UNIMPLEMENTED",
		http.StatusBadGateway: "UNAVAILABLE", http.StatusServiceUnavailable: "UNAVAILABLE",
	}
	text = "steno proxy: " + strings.TrimPrefix(strings.TrimPrefix(text, "steno proxy "), "steno proxy: ")
	b, err := json.Marshal(map[string]fault{"error": {status, names[status], text}})
	if err != nil {
		b = []byte(`{"error":{}}`) // strings and a number always are JSON
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(b) // who is gone does not hear it
	}
}
