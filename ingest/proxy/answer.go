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
	evidence := answerEvidence(res)
	x.passBack(res.Header)
	empty := isEmpty(res)
	switch {
	case !empty && streamed && (x.serveBack() || x.request.calls.pushes()) && readEncoding(res.Header) != foreign:
		return x.answerItems(res, lane, evidence)
	case !empty && x.rewritten(res, card, streamed):
		return x.answerWhole(res, lane, evidence, card)
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
	case card || calls.pushes():
		return true
	case streamed || x.chanAsk == schema.ChanPush:
		return false
	}
	return (x.serveBack() || calls.rpc && calls.all[a2a.ExtendedCard]) && isJSONType(res.Header)
}

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
	shown, masked := x.maskAnswer(plain, readable)
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
	evidence := answerEvidence(res)
	evidence.Served = servedDown
	shown, masked := x.maskAnswer(out, true)
	return out, x.recordAnswer(inStead(lane), evidence, shown, masked)
}

// maskAnswer is an answer as it is recorded. What holds secrets and cannot be read is not recorded.
func (x *exchange) maskAnswer(text []byte, readable bool) (shown []byte, masked masks) {
	switch {
	case !x.request.calls.pushes() || len(text) == 0:
		return text, nil
	case !readable:
		return maskJSON, masks{"body"}
	}
	shown = x.proxy.maskConfigs(text, answerConfigs(text, x.request.calls), masked.add)
	return maskBehind(shown, masked.add), masked
}

func (x *exchange) recordAnswer(lane journal.Lane, evidence a2a.Evidence, text []byte, masked masks) error {
	return x.recordBody(lane, x.answerer, evidence, text, masked)
}
