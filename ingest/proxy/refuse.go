package proxy

import (
	"fmt"
	"net/http"
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
func (r *refused) answer(w http.ResponseWriter, x *exchange) {
	if !r.grpc || x.in.ProtoMajor != 2 {
		x.fault(w, r.status, r.text)
		return
	}
	// Headers alone, which also end the stream: so gRPC wants an answer without messages.
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Grpc-Status", "12") // UNIMPLEMENTED
	w.Header().Set("Grpc-Message", r.text)
	w.WriteHeader(http.StatusOK)
}
