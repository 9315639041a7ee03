package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
)

// body is a request's: read whole, because it is one document, and what has to be masked in it may
// stand anywhere.
type body struct {
	raw   []byte // as sent
	plain []byte // decoded
}

// errTooLarge marks a request above the bound.
var errTooLarge = errors.New("request is too large")

// readBody reads a request's body. With an error body is what came.
func (p *Proxy) readBody(w http.ResponseWriter, r *http.Request) (body, error) {
	if r.ContentLength > p.max {
		return body{}, errTooLarge
	}
	raw, err := readWhole(r.Body, r.ContentLength, p.max)
	return body{raw: raw, plain: raw}, err
}

// readWhole reads up to max bytes; size is what was announced, -1 if nothing was. With an error it
// gives what came, but for a text above the bound.
func readWhole(from io.Reader, size, limit int64) ([]byte, error) {
	var buf bytes.Buffer
	if size > 0 { // an announcement costs the sender nothing: memory comes with the bytes
		buf.Grow(int(min(size, 1<<20)) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(from, limit+1))
	if n > limit {
		return nil, errTooLarge
	}
	return buf.Bytes(), err
}

// fault answers and records a request that did not come whole.
func (x *exchange) fault(w http.ResponseWriter, came body, err error) {
	x.request = came
	if !x.begin(w) {
		return
	}
	defer x.close()
	status, text := http.StatusBadRequest, fmt.Sprintf("read request: %v", err)
	switch {
	case errors.Is(err, errTooLarge):
		status, text = http.StatusRequestEntityTooLarge, fmt.Sprintf("refused with %d: the request is larger than %d bytes", http.StatusRequestEntityTooLarge, x.proxy.max)
		w.Header().Set("Connection", "close") // nobody reads the rest
	default:
		if gone := x.gone(nil); gone == errStopped.Error() || errors.Is(err, io.ErrUnexpectedEOF) || x.in.Context().Err() != nil {
			text = gone + " in the middle of its request"
		}
	}
	x.broke(text)
	if x.recordRequest(w) {
		answerFault(w, x.in, status, text)
	}
}

// passRequest completes a request whose URL is set: everything but the way stays as sent.
func (x *exchange) passRequest(pr *httputil.ProxyRequest) {
	out := pr.Out
	out.Host = "" // the URL's
	passForwarded(pr)
	narrowEncodings(out.Header)
	out.Header.Del("Expect") // the body is here already
	x.passBody(out, x.request.raw)
}

func (x *exchange) passBody(out *http.Request, text []byte) {
	out.ContentLength = int64(len(text))
	out.Body, out.GetBody = http.NoBody, nil
	if len(text) == 0 {
		return
	}
	// Where a kept-alive connection turns out to be closed, the transport sends it again.
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	out.Body = io.NopCloser(bytes.NewReader(text))
	if len(x.in.Trailer) > 0 { // only a body in chunks can have one
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
		out.Set("X-Forwarded-For", strings.Join(append(in["X-Forwarded-For"][:len(in["X-Forwarded-For"]):len(in["X-Forwarded-For"])], ip), ", "))
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
