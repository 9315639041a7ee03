package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/a2a"
)

// errStopped is why requests end when the proxy does.
var errStopped = errors.New("the proxy was stopped")

// exchange is one request and its answer. One goroutine, the request's, uses it.
type exchange struct {
	proxy     *Proxy
	in        *http.Request
	url       *url.URL // of the request, as it is recorded
	host      string   // asked for, as it is recorded
	chanAsk   schema.Chan
	asker     schema.From
	answerer  schema.From
	far       string // who answers, in words
	transport http.RoundTripper
	rewrite   func(*httputil.ProxyRequest)
	request   request
	taken     int64   // room that the request takes
	parcel    *parcel // the request on its way
	echoes    *echoes // what of the request the answer may not repeat in the record; nil before it comes

	serveUp, serveDown bool              // the two ends may speak different versions
	served             string            // the version that the request was rewritten to; empty: it was not
	copied             func(http.Header) // rewrites the request's headers, where it was
	card               bool              // an agent card is asked for by its path
	tenant             string            // that a request of JSON-RPC names

	ours  *call // the proxy asks; nil: a client, or an agent
	watch watch

	id        uuid.UUID
	journal   Journal // nil: nothing is kept
	end       func()
	ctx       context.Context // of entries
	release   func()
	forwarded bool   // the request may have reached the other end
	answered  bool   // the other end has begun to answer
	broken    string // what broke first
	unkept    error  // why an entry was not kept: nothing more is passed on
	missed    error  // why there is no answer to pass on
}

// run takes the exchange from its first byte to its last entry.
func (x *exchange) run(to http.ResponseWriter) {
	x.proxy.running.Add(1)
	defer x.proxy.running.Add(-1)
	w := &meter{ResponseWriter: to}
	x.watch.began = time.Now()
	defer x.done(w, x.watch.began)
	defer x.letGo()
	why := refusal(x.in)
	if why == nil {
		x.passOver()
		why = x.readRequest(w)
	}
	if why == nil {
		why = x.loops()
	}
	if !x.begin(w) {
		return
	}
	defer x.close()
	if x.ours != nil {
		defer x.ours.settle()
		if x.announce() != nil {
			return
		}
	}
	if why != nil {
		x.broke(why.cause())
	}
	if err := x.recordRequest(); err != nil {
		x.fault(w, http.StatusServiceUnavailable, unrecorded(err))
		return
	}
	if why != nil {
		why.answer(w, x)
		return
	}
	if x.ours != nil && !x.ours.leaves() {
		return
	}
	x.forward(w)
}

// passOver takes an offer to go over to HTTP/2 off the request: see refusal.
func (x *exchange) passOver() {
	if x.in.Header.Get("Upgrade") == "" {
		return
	}
	x.in = x.in.Clone(x.in.Context())
	x.in.Header.Del("Upgrade")
	x.in.Header.Del("Http2-Settings")
}

// begin opens the exchange in a journal; where there is none to be had, the asker hears so.
func (x *exchange) begin(w http.ResponseWriter) bool {
	x.ctx, x.release = outlive(x.in.Context())
	id, err := uuid.NewV7()
	if err == nil {
		x.id = id
		x.journal, x.end, err = x.proxy.journals.Begin(x.ctx)
	}
	if err != nil {
		x.release()
		x.id = uuid.Nil
		err = fmt.Errorf("begin the record of an exchange: %w", err)
		x.broke(err.Error())
		x.proxy.notices.once(err.Error())
		x.fault(w, http.StatusServiceUnavailable, unrecorded(err))
		return false
	}
	return true
}

// outlive gives entries a context that the end of the request does not end at once: what was read is
// recorded.
func outlive(request context.Context) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(request))
	var mu sync.Mutex
	var timer *time.Timer
	stop := context.AfterFunc(request, func() {
		mu.Lock()
		defer mu.Unlock()
		timer = time.AfterFunc(lingers, func() { cancel(context.Cause(request)) })
	})
	return ctx, func() {
		stop()
		mu.Lock()
		defer mu.Unlock()
		if timer != nil {
			timer.Stop()
		}
		cancel(nil)
	}
}

// close writes the exchange's last entry. It waits for no room: journals keep some for it.
func (x *exchange) close() {
	defer x.release()
	x.sawAll()
	if x.journal != nil {
		info := schema.CloseInfo{Reason: schema.ReasonEOF, Exchange: x.id.String(), Error: x.broken}
		ctx := context.WithoutCancel(x.in.Context())
		if err := x.journal.ControlTo(ctx, journal.Lane{Exchange: x.id}, schema.TypeClose, time.Now(), info); err != nil {
			x.proxy.notices.once(fmt.Sprintf("record the end of an exchange: %v", err))
		}
	}
	if x.end != nil {
		x.end()
	}
}

// broke keeps the first of what went wrong; the rest follows from it.
func (x *exchange) broke(what string) {
	if x.broken == "" {
		x.broken = shortened(what, maxBroken)
	}
}

func (x *exchange) lane(c schema.Chan) journal.Lane { return journal.Lane{Exchange: x.id, Chan: c} }

// inStead is the lane of what was made of a lane's bytes and sent on in their stead.
func inStead(l journal.Lane) journal.Lane {
	l.Served = true
	return l
}

// say records evidence.
func (x *exchange) say(lane journal.Lane, evidence a2a.Evidence) error {
	if x.journal == nil || x.unkept != nil {
		return x.unkept
	}
	err := x.journal.ControlTo(x.ctx, lane, schema.TypeHTTP, time.Now(), fitting(evidence, maxEvidence))
	return x.kept(err, "evidence", lane)
}

// keep records bytes.
func (x *exchange) keep(lane journal.Lane, from schema.From, b []byte) error {
	if x.journal == nil || x.unkept != nil || len(b) == 0 {
		return x.unkept
	}
	err := x.journal.AppendTo(x.ctx, lane, from, time.Now(), b)
	if err == nil {
		x.sees(lane, b)
	}
	return x.kept(err, fmt.Sprintf("%d bytes", len(b)), lane)
}

func (x *exchange) kept(err error, what string, lane journal.Lane) error {
	if err != nil {
		x.unkept = fmt.Errorf("record %s of %s: %w", what, lane.Chan, err)
		x.proxy.notices.once(x.unkept.Error())
		x.broke(x.unkept.Error())
	}
	return x.unkept
}

// forward sends the request on and passes the answer back as it comes.
func (x *exchange) forward(w http.ResponseWriter) {
	whole := false
	defer func() {
		if !whole { // net/http ends an answer that cannot be finished by a panic
			x.broke(x.gone(nil))
		}
	}()
	proxy := httputil.ReverseProxy{
		Rewrite: x.rewrite, Transport: x.transport, FlushInterval: -1, BufferPool: &x.proxy.buffers, ErrorLog: silent,
		ErrorHandler: x.failed,
	}
	proxy.ModifyResponse = func(res *http.Response) error {
		if isEmpty(res) {
			proxy.FlushInterval = 0 // nothing follows the header, so that it can say that it is the end
		}
		if x.chanAsk == schema.ChanRequest {
			x.proxy.reach.found()
		}
		x.answered = true
		err := x.answer(res)
		if err == nil {
			x.letGo()
		}
		return err
	}
	x.forwarded = true
	proxy.ServeHTTP(w, x.in)
	whole = true
}

// failed answers where there is no answer to pass on.
func (x *exchange) failed(w http.ResponseWriter, _ *http.Request, err error) {
	x.missed = err
	if x.unkept != nil {
		x.fault(w, http.StatusServiceUnavailable, unrecorded(x.unkept))
		return
	}
	cause := x.gone(err)
	if x.chanAsk == schema.ChanRequest && !x.answered && x.in.Context().Err() == nil {
		x.proxy.reach.lost(shortened(cause, maxBroken))
	}
	x.broke(cause)
	x.fault(w, http.StatusBadGateway, x.broken)
}

// gone says why an exchange broke off with err, or without one in the middle of passing on.
func (x *exchange) gone(err error) string {
	switch cause := context.Cause(x.in.Context()); {
	case errors.Is(cause, errStopped):
		return errStopped.Error()
	case cause != nil || err == nil:
		return string(x.asker) + " went away"
	}
	var call *net.OpError
	if errors.As(err, &call) && call.Op == "dial" {
		return "connect to " + x.far + ": " + err.Error()
	}
	return x.far + ": " + quoted.ReplaceAllString(err.Error(), `"`+mask+`"`)
}

// quoted is what net/http quotes of an answer that it cannot read: a header's line, with what it holds.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?`)
