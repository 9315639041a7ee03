package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/a2a"
)

// request is a request's body: read whole, because it is one document, and what has to be masked in it
// may stand anywhere.
type request struct {
	head    []byte // the beginning of one that is too large
	raw     []byte // as sent
	plain   []byte // decoded
	calls   calls
	shown   []byte // plain without secrets
	hidden  hidden // what shown does not show
	forward []byte // plain as rewritten for the other end
	copy    []byte // forward as it is recorded, where the request is served
	copyOf  hidden
}

// wordTenant is in every request of JSON-RPC that names one.
var wordTenant = []byte(`"tenant"`)

// errTooLarge marks what is above the bound.
var errTooLarge = errors.New("it is too large")

// readRequest reads the body and finds out what it asks for. It says why the request cannot be
// forwarded; what came is in place then.
func (x *exchange) readRequest(w http.ResponseWriter) *refused {
	q := &x.request
	if readEncoding(x.in.Header) == foreign {
		w.Header().Set("Accept-Encoding", "gzip")
		return &refused{status: http.StatusUnsupportedMediaType, text: fmt.Sprintf(
			"steno proxy reads bodies plain or in gzip, not in %q", x.in.Header.Get("Content-Encoding"))}
	}
	var err error
	q.raw, err = x.readBody(http.NewResponseController(w))
	if errors.Is(err, errTooLarge) {
		return x.tooLarge(w)
	}
	q.plain = q.raw
	if readEncoding(x.in.Header) == gzipped && len(q.raw) > 0 {
		var broke error
		q.plain, broke = gunzipWhole(q.raw, x.proxy.max)
		if err == nil {
			err = broke
		}
	}
	if errors.Is(err, errTooLarge) {
		return x.tooLarge(w)
	}
	x.keepRoom(int64(len(q.raw) + len(q.plain)))
	q.forward = q.plain
	path := "/" // a webhook is no call, whatever its URL is
	if x.chanAsk == schema.ChanRequest {
		path = x.url.EscapedPath()
	}
	q.calls = readCalls(x.in.Method, path, q.plain)
	q.shown = x.maskRequest(q.plain, q.hidden.add)
	if err != nil {
		return x.unreadable(err)
	}
	x.card = x.in.Method == http.MethodGet && isCardPath(x.in.Method, path)
	switch {
	case x.serveUp:
		x.requestUp()
	case x.serveDown:
		x.pushDown()
	}
	if x.chanAsk == schema.ChanRequest {
		q.forward = x.proxy.push.redirect(q.forward, requestConfigs(q.forward, q.calls), x.served != "")
	}
	if x.served != "" {
		q.copy = x.maskRequest(q.forward, q.copyOf.add)
	}
	if q.calls.rpc && bytes.Contains(q.plain, wordTenant) {
		x.tenant = readTenant(q.plain)
	}
	return nil
}

// tooLarge refuses a request above the bound. A part of it says less than its length: only whom to
// answer is read from it.
func (x *exchange) tooLarge(w http.ResponseWriter) *refused {
	head := x.request.plain
	if len(head) == 0 {
		head = x.request.raw
	}
	if len(head) == 0 {
		head = x.readHead(w)
	}
	x.request = request{head: bytes.Clone(head[:min(len(head), smallBody)])}
	x.keepRoom(0)
	w.Header().Set("Connection", "close")
	return &refused{status: http.StatusRequestEntityTooLarge, text: fmt.Sprintf(
		"steno proxy takes requests of %d bytes at most", x.proxy.max)}
}

// unreadable says why a request that did not come as it should is not forwarded.
func (x *exchange) unreadable(err error) *refused {
	why := &refused{status: http.StatusBadRequest, text: "read request: " + err.Error(), broke: true}
	if !errors.Is(err, errGzip) && !errors.Is(err, errDeflate) {
		why.text = x.gone(nil) + " in the middle of its request: " + err.Error()
	}
	return why
}

// readWhole reads up to limit bytes; size is what was announced, -1 if nothing was. With an error it
// gives what came, but for what is above the bound.
func readWhole(from io.Reader, size, limit int64) ([]byte, error) {
	var buf bytes.Buffer
	if size > 0 { // an announcement costs the sender nothing: memory comes with the bytes
		buf.Grow(int(min(size, 1<<20)) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(from, limit+1))
	if n > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", errTooLarge, limit)
	}
	return buf.Bytes(), err
}

// maskRequest is a request's text as it is recorded.
func (x *exchange) maskRequest(text []byte, say said) []byte {
	text = x.proxy.maskConfigs(text, requestConfigs(text, x.request.calls), say)
	return maskBehind(x.proxy.maskOAuth(text, say), say)
}

// repeated are the secrets of the request that its answer may repeat.
func (x *exchange) repeated() *echoes {
	values := append([]string(nil), x.request.hidden.values...)
	values = append(values, headerSecrets(x.in.Header)...)
	values = append(values, querySecrets(x.url.RawQuery)...)
	values = append(values, x.proxy.secrets...)
	if password, ok := x.url.User.Password(); ok {
		values = append(values, password)
	}
	return newEchoes(values, x.request.shown, []byte(maskQuery(x.url.RawQuery, func(string, string) {})), []byte(x.url.EscapedPath()))
}

// recordRequest records what is about to be forwarded, and as what.
func (x *exchange) recordRequest() error {
	lane := x.lane(x.chanAsk)
	if err := x.recordAsk(lane, x.evidence(x.in.Header, x.url), x.request.shown, x.request.hidden.masks); err != nil || x.served == "" {
		return err
	}
	header := x.in.Header.Clone()
	x.copied(header)
	if !bytes.Equal(x.request.forward, x.request.plain) {
		dropEncodings(header)
	}
	evidence := x.evidence(header, x.target())
	evidence.Served = x.served
	return x.recordAsk(inStead(lane), evidence, x.request.copy, x.request.copyOf.masks)
}

func (x *exchange) recordAsk(lane journal.Lane, evidence a2a.Evidence, text []byte, masked masks) error {
	evidence.Bytes = uint64(len(text))
	return x.recordBody(lane, x.asker, evidence, text, masked)
}

// evidence is what the request line and the headers say.
func (x *exchange) evidence(h http.Header, u *url.URL) a2a.Evidence {
	return requestEvidence(x.in.Method, u, x.host, h)
}

// passRequest completes a request whose URL is set: everything but the way stays as sent.
func (x *exchange) passRequest(pr *httputil.ProxyRequest) {
	out := pr.Out
	out.Host = "" // the URL's
	passForwarded(pr)
	out.Header.Add(markHeader, x.mark())
	narrowEncodings(out.Header)
	out.Header.Del("Expect") // the body is here already
	if x.copied != nil {
		x.copied(out.Header)
	}
	if x.card { // a part of a card cannot be read
		out.Header.Del("Range")
		out.Header.Del("If-Range")
	}
	if bytes.Equal(x.request.forward, x.request.plain) {
		x.passBody(out, x.request.raw)
		return
	}
	dropEncodings(out.Header)
	x.passBody(out, x.request.forward)
}

func (x *exchange) passBody(out *http.Request, text []byte) {
	out.ContentLength, out.TransferEncoding = int64(len(text)), nil
	out.Body, out.GetBody = http.NoBody, nil
	if len(text) == 0 {
		return
	}
	x.parcel = newParcel(text)
	out.GetBody = x.parcel.open
	out.Body, _ = x.parcel.open() // nobody has dropped it
	if len(x.in.Trailer) > 0 {    // only a body in chunks can have one
		out.ContentLength, out.Trailer = -1, x.in.Trailer.Clone()
	}
}

// passForwarded keeps what proxies before this one said and adds what they did not say.
func passForwarded(pr *httputil.ProxyRequest) {
	in, out := pr.In.Header, pr.Out.Header
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, ok := in[name]; ok {
			out[name] = v
		}
	}
	if ip, _, err := net.SplitHostPort(pr.In.RemoteAddr); err == nil {
		before := in["X-Forwarded-For"]
		out.Set("X-Forwarded-For", strings.Join(append(before[:len(before):len(before)], ip), ", "))
	}
	if out.Get("X-Forwarded-Host") == "" {
		out.Set("X-Forwarded-Host", pr.In.Host)
	}
	if out.Get("X-Forwarded-Proto") == "" {
		out.Set("X-Forwarded-Proto", scheme(pr.In))
	}
}

// scheme is how a request came.
func scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}
