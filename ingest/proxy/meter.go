package proxy

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/steno-io/steno/schema"
)

// Exchange is what was done in one exchange.
type Exchange struct {
	ID     uuid.UUID // uuid.Nil: it was refused before it was one
	Push   bool      // a webhook
	Method string
	Path   string // without the query; empty for a webhook, whose path may be a secret
	Status int    // 0: who asked went away before
	Bytes  int64  // of the answer, as passed on
	Took   time.Duration
	Error  string // what broke
}

// meter sees what the asker gets.
type meter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap is for http.ResponseController.
func (m *meter) Unwrap() http.ResponseWriter { return m.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (m *meter) WriteHeader(status int) {
	if status >= 200 && m.status == 0 { // those below come before
		m.status = status
	}
	m.ResponseWriter.WriteHeader(status)
}

func (m *meter) Write(b []byte) (int, error) {
	n, err := m.ResponseWriter.Write(b)
	m.bytes += int64(n)
	return n, err
}

// done tells of the exchange's end.
func (x *exchange) done(m *meter, began time.Time) {
	if x.proxy.done == nil {
		return
	}
	e := Exchange{
		ID: x.id, Push: x.chanAsk == schema.ChanPush, Method: shortName(x.in.Method), Status: m.status, Bytes: m.bytes,
		Took: time.Since(began), Error: x.broken,
	}
	if !e.Push {
		e.Path = shortened(x.url.EscapedPath(), maxBroken)
	}
	x.proxy.done(e)
}
