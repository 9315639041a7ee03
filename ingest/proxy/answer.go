package proxy

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/a2a"
)

// answer records an answer's header and makes its body record itself as it is read. Only what has to
// be rewritten, and is small by its nature, is read whole first.
func (x *exchange) answer(res *http.Response) error {
	if res.StatusCode == http.StatusSwitchingProtocols {
		return errors.New("it switches to another protocol, which nobody asked for")
	}
	streamed := mediaType(res.Header) == "text/event-stream"
	card := x.card && !streamed && res.StatusCode/100 == 2
	lane := x.lane(x.chanBack(card, streamed))
	x.echoes = x.repeated()
	evidence := x.answerEvidence(res)
	x.passBack(res.Header)
	empty := isEmpty(res)
	switch {
	case !empty && streamed && (x.serveBack() || x.request.calls.pushes()) && readEncoding(res.Header) != foreign:
		return x.answerItems(res, lane, evidence)
	case !empty && x.rewritten(res, card, streamed):
		return x.answerWhole(res, lane, evidence, card)
	case !empty && x.quotes(res, streamed) && x.fits(res):
		return x.answerWhole(res, lane, evidence, card)
	}
	if !empty && !x.echoes.none() {
		evidence.Masked = append(evidence.Masked, mayEchos)
	}
	if err := x.say(lane, evidence); err != nil {
		return err
	}
	if !empty {
		res.Body = x.recorder(res, lane)
	}
	return nil
}

// isEmpty reports whether an answer is known to have no body.
func isEmpty(res *http.Response) bool {
	return res.ContentLength == 0 || res.Body == http.NoBody || res.Request.Method == http.MethodHead ||
		res.StatusCode == http.StatusNoContent || res.StatusCode == http.StatusNotModified
}

// chanBack is the answer's place in the exchange.
func (x *exchange) chanBack(card, streamed bool) schema.Chan {
	switch {
	case x.chanAsk == schema.ChanPush:
		return schema.ChanResponse
	case card:
		return schema.ChanCard
	case streamed:
		return schema.ChanStream
	}
	return schema.ChanResponse
}

// serveBack reports whether the answer's objects are rewritten to the asker's version.
func (x *exchange) serveBack() bool { return x.serveUp && x.served != "" && !x.card }

// rewritten reports whether the asker may get another body than was sent, or the record one without
// secrets.
func (x *exchange) rewritten(res *http.Response, card, streamed bool) bool {
	calls := x.request.calls
	switch {
	case card || calls.answersPush():
		return true
	case streamed || x.chanAsk == schema.ChanPush:
		return false
	}
	return (x.serveBack() || calls.rpc && calls.all[a2a.ExtendedCard]) && isJSONType(res.Header)
}

// quotes reports whether the answer may quote a push config, so that the record is one without: an
// error does, and nobody knows what a method of no dialect does.
func (x *exchange) quotes(res *http.Response, streamed bool) bool {
	calls := x.request.calls
	sent := calls.sends() && len(x.request.hidden.values) > 0
	return !streamed && x.chanAsk != schema.ChanPush && (calls.unknown || sent) && isJSONType(res.Header)
}

// fits reads an answer that need not be read whole, unless it is too large; then nothing is lost.
func (x *exchange) fits(res *http.Response) bool {
	if res.ContentLength > x.proxy.max {
		return false
	}
	var buf bytes.Buffer
	n, err := buf.ReadFrom(io.LimitReader(res.Body, x.proxy.max+1))
	rest := io.Reader(res.Body)
	if err != nil {
		rest = failing{err}
	}
	res.Body = readCloser{io.MultiReader(&buf, rest), res.Body}
	return n <= x.proxy.max
}

// readCloser is a body that was read in part.
type readCloser struct {
	io.Reader
	io.Closer
}

// failing is a body's rest that could not be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// isJSONType reports whether a body may be JSON by what it says: that it is, or nothing, or what servers
// say that guess the type of what says nothing.
func isJSONType(h http.Header) bool {
	t := mediaType(h)
	return t == "" || t == "text/plain" || t == "application/json" || t == "text/json" || strings.HasSuffix(t, "+json")
}

// mediaType is a body's type without parameters, in lower case, as far as it can be read.
func mediaType(h http.Header) string {
	value := h.Get("Content-Type")
	if t, _, err := mime.ParseMediaType(value); err == nil {
		return t
	}
	t, _, _ := strings.Cut(value, ";")
	return strings.ToLower(strings.TrimSpace(t))
}

// passBack rewrites the headers that would lead the asker past the proxy, or that its version calls
// something else.
func (x *exchange) passBack(h http.Header) {
	if x.chanAsk == schema.ChanPush {
		return
	}
	if location := h.Get("Location"); location != "" {
		h.Set("Location", x.proxy.upstream.redirect(location, x.base()))
	}
	if x.serveBack() {
		extensionsDown(h)
	}
}

// answerWhole reads an answer, records it without secrets and gives the asker what is made of it.
func (x *exchange) answerWhole(res *http.Response, lane journal.Lane, evidence a2a.Evidence, card bool) error {
	raw, err := readWhole(res.Body, res.ContentLength, x.proxy.max)
	_ = res.Body.Close() // it was only read
	plain, readable := raw, true
	switch encoding := readEncoding(res.Header); {
	case encoding == foreign:
		readable = false
	case encoding == gzipped && len(raw) > 0:
		var broke error
		if plain, broke = gunzipWhole(raw, x.proxy.max); broke != nil && err == nil {
			x.broke("read answer: " + broke.Error())
			plain, readable = raw, false
		}
	}
	shown, masked := x.maskAnswer(plain, readable, res.StatusCode)
	if err := x.recordAnswer(lane, evidence, shown, masked); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	out := plain
	if readable {
		if out, err = x.answerBack(res, lane, plain, card); err != nil {
			return err
		}
	}
	if bytes.Equal(out, plain) {
		out = raw
	} else {
		dropEncodings(res.Header)
	}
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(out)), int64(len(out))
	if len(res.Trailer) == 0 { // a trailer needs chunks
		res.Header.Set("Content-Length", strconv.Itoa(len(out)))
	}
	return nil
}

// answerBack makes what the asker gets, and records it where it is of another version.
func (x *exchange) answerBack(res *http.Response, lane journal.Lane, plain []byte, card bool) ([]byte, error) {
	out, served := plain, false
	if x.serveUp && (card || x.serveBack()) {
		out, served = x.bodyDown(plain, card)
	}
	if card {
		out = x.proxy.rewriteCard(out, x.base(), false)
	} else if x.request.calls.rpc && x.request.calls.all[a2a.ExtendedCard] {
		out = x.proxy.rewriteCard(out, x.base(), true)
	}
	out = x.proxy.push.restore(out, answerConfigs(out, x.request.calls))
	if !served {
		return out, nil
	}
	if !bytes.Equal(out, plain) {
		dropEncodings(res.Header)
	}
	evidence := x.answerEvidence(res)
	evidence.Served = servedDown
	shown, masked := x.maskAnswer(out, true, res.StatusCode)
	return out, x.recordAnswer(inStead(lane), evidence, shown, masked)
}

// maskAnswer is an answer as it is recorded. What holds secrets and cannot be read is not recorded.
func (x *exchange) maskAnswer(text []byte, readable bool, status int) (shown []byte, masked masks) {
	calls := x.request.calls
	quoted := calls.pushes() || calls.sends() && len(x.request.hidden.values) > 0
	switch {
	case len(text) == 0:
		return text, nil
	case !readable && quoted:
		return maskJSON, masks{"body"}
	case !readable:
		return text, nil
	}
	say := func(what, _ string) { masked.add(what) }
	shown = x.proxy.maskConfigs(text, answerConfigs(text, calls), say)
	if quoted && (calls.rpc || status/100 != 2) {
		shown = x.proxy.maskErrors(shown, calls.rpc, say)
	}
	shown = x.proxy.maskOAuth(shown, say)
	if quoted {
		shown = maskBehind(shown, say)
	}
	shown, found := x.echoes.hide(shown)
	if found {
		masked.add(echoed)
	}
	return shown, masked
}

// answerEvidence is what the answer's status line and headers say, without secrets.
func (x *exchange) answerEvidence(res *http.Response) a2a.Evidence {
	e := answerEvidence(res)
	var masked masks = e.Masked
	for name, value := range e.Headers {
		if out, found := x.echoes.hide([]byte(value)); found {
			e.Headers[name] = string(out)
			masked.add(name + ", a secret of the request")
		}
	}
	e.Masked = masked
	return e
}

func (x *exchange) recordAnswer(lane journal.Lane, evidence a2a.Evidence, text []byte, masked masks) error {
	return x.recordBody(lane, x.answerer, evidence, text, masked)
}
