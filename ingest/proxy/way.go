package proxy

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/steno-io/steno/schema/wire/a2a"
)

// maxKept is how much of a client's headers is kept for calls about its task, in bytes: more is too much
// to be remembered of each, and nothing of it is kept. As long may be where it calls, all together: what is
// called elsewhere is not remembered, since a call without it would be about another task.
const maxKept = 16 << 10

// way is how a client calls the peer: what a call about the same task must be like. Its headers may hold
// credentials, which are the client's; they stay in memory.
type way struct {
	rpc     bool
	dialect a2a.Dialect // that calls are named and written in
	path    string      // escaped: of JSON-RPC all of it, else what stands before /tasks
	query   string
	host    string
	header  http.Header
	tenant  string // of JSON-RPC in 1.0
	sends   bool   // the call brought a message: its client may say something to the task
}

// calledAs is how the exchange was called, as the peer heard it; nil for what is no call, or too long.
func (x *exchange) calledAs() *way {
	c := x.request.calls
	u := x.target()
	w := &way{
		rpc: c.rpc, path: u.EscapedPath(), query: u.RawQuery, host: x.host, tenant: x.tenant, sends: c.sends(),
	}
	if c.rpc {
		method := c.method
		if x.serveUp && x.served != "" {
			w.dialect = a2a.V10
		} else if _, w.dialect = a2a.ReadMethod(method); w.dialect == "" {
			return nil
		}
	} else {
		call, dialect := a2a.ReadPath(x.in.Method, w.path)
		before, ok := beforeTasks(w.path)
		if call == "" || !ok {
			return nil
		}
		w.dialect, w.path, w.query = dialect, before, keptQuery(u.RawQuery)
	}
	if len(w.path)+len(w.query)+len(w.host)+len(w.tenant) > maxKept {
		return nil
	}
	w.header = keptHeaders(x.in.Header)
	if x.serveUp && x.copied != nil && w.header != nil {
		x.copied(w.header)
	}
	return w
}

// beforeTasks is what stands before a REST binding's own part of an escaped path.
func beforeTasks(path string) (before string, ok bool) {
	for _, own := range []string{"/message:", "/tasks/", "/tasks"} {
		if i := strings.LastIndex(path, own); i >= 0 {
			return path[:i], true
		}
	}
	return "", false
}

// keptQuery leaves of a query what does not belong to the one call: the version, and secrets.
func keptQuery(raw string) string {
	var kept []string
	for pair := range strings.SplitSeq(raw, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil && (strings.EqualFold(plain, versionHeader) || secretQuery(plain)) {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&")
}

// Headers of one request alone, by their names and by how these begin.
var (
	passing = []string{
		"Accept", "Accept-Encoding", "Connection", "Digest", "Expect", "Forwarded", "Http2-Settings", "Idempotency-Key",
		"Keep-Alive", "Last-Event-Id", "Proxy-Connection", "Range", "Repr-Digest", "Te", "Traceparent", "Tracestate",
		"Trailer", "Transfer-Encoding", "Upgrade", "User-Agent", "X-Request-Id", markHeader,
	}
	passingHeads = []string{"Content-", "If-", "X-Forwarded-"}
)

// keptHeaders are a client's headers without those of one request alone; nil if they are too large.
func keptHeaders(h http.Header) http.Header {
	kept, size := h.Clone(), 0
	for _, named := range h["Connection"] {
		for name := range strings.SplitSeq(named, ",") {
			kept.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range passing {
		kept.Del(name)
	}
	for name, values := range kept {
		if hasHead(name, passingHeads) {
			delete(kept, name)
			continue
		}
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	if size > maxKept {
		return nil
	}
	return kept
}

func hasHead(name string, heads []string) bool {
	for _, head := range heads {
		if strings.HasPrefix(name, head) {
			return true
		}
	}
	return false
}

// readTenant is the tenant that a request of JSON-RPC names, of one that is too long its beginning; empty if it
// names none.
func readTenant(text []byte) string {
	for d := range documents(text) {
		for m := range inside(text, d.at) {
			if m.name != "params" {
				continue
			}
			for p := range inside(text, m.at) {
				if p.name == "tenant" {
					tenant, _ := textOf(text, p.at)
					return strings.Clone(tenant[:min(len(tenant), maxKept+1)])
				}
			}
		}
	}
	return ""
}
