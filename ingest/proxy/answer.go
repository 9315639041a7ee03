package proxy

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
)

// answer records an answer's header and makes its body record itself as it is read.
func (x *exchange) answer(res *http.Response) error {
	if res.StatusCode == http.StatusSwitchingProtocols {
		return errors.New("it switches to another protocol, which nobody asked for")
	}
	lane := x.lane(x.chanBack(res))
	if err := x.say(lane, answerEvidence(res)); err != nil {
		return err
	}
	if res.Body != nil && res.Body != http.NoBody {
		res.Body = &recorder{ReadCloser: res.Body, x: x, lane: lane, from: x.answerer}
	}
	return nil
}

// chanBack is the answer's place in the exchange.
func (x *exchange) chanBack(res *http.Response) schema.Chan {
	if x.chanOut == schema.ChanPush {
		return schema.ChanResponse
	}
	if mediaType(res.Header) == "text/event-stream" {
		return schema.ChanStream
	}
	return schema.ChanResponse
}

// mediaType is a body's type without parameters, in lower case; as far as it can be read.
func mediaType(h http.Header) string {
	value := h.Get("Content-Type")
	if t, _, err := mime.ParseMediaType(value); err == nil {
		return t
	}
	t, _, _ := strings.Cut(value, ";")
	return strings.ToLower(strings.TrimSpace(t))
}

// recorder is a body that is recorded before it is passed on.
type recorder struct {
	io.ReadCloser
	x    *exchange
	lane journal.Lane
	from schema.From
}

func (r *recorder) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	if err := r.x.keep(r.lane, r.from, b[:n]); err != nil {
		return 0, err
	}
	if err != nil && err != io.EOF {
		r.x.broke(r.x.gone(err))
	}
	return n, err
}
