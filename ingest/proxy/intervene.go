package proxy

import (
	"context"
	"net/http"
	"net/http/httputil"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/a2a"
)

const (
	// maxOwn is how many calls of the proxy's own may be under way.
	maxOwn = 64
	// DefaultAnswer is a good time for the peer to answer a call of the proxy's own in.
	DefaultAnswer = 10 * time.Second
)

// Intervene carries an intervention to a task that goes on, by a call to the peer as the task's client would
// make it, with the headers that he used last. It is an exchange of its own: recorded are who intervenes and
// with what, before anything is sent, then request and answer, and at the end what became of it, unless that
// is Applied: that it is when the peer has answered with a result. All else is Stale and says why; NotSupported
// are the kinds that A2A has no call for.
//
// It returns when the peer has answered, or when it has not within Options.Answer; then the call goes on, and the
// record shows what comes. What could not be recorded by then is not sent.
func (p *Proxy) Intervene(ctx context.Context, t Task, i schema.Intervention) schema.Outcome {
	if i.Kind.Kind != schema.PrimitiveCancel && i.Kind.Kind != schema.PrimitiveInject {
		return schema.NotSupported(i.Kind.Kind)
	}
	way := p.tasks.called(t.ID)
	if way == nil {
		return schema.Stale("task %q does not go on", t.ID)
	}
	call, why := p.begin(way, t, i)
	if call == nil {
		return schema.Stale("%s", why)
	}
	waits := time.NewTimer(p.answer)
	defer waits.Stop()
	select {
	case <-call.over:
	case <-waits.C:
		call.giveUp("the peer has not answered within " + p.answer.String())
	case <-ctx.Done():
		call.giveUp("nobody waits for its answer any more")
	}
	return call.outcome()
}

// begin lets a call of the proxy's own run; why says why there is none.
func (p *Proxy) begin(w *way, t Task, i schema.Intervention) (c *call, why string) {
	r, err := w.request(p.own.life, t, i)
	if err != nil {
		return nil, err.Error()
	}
	c = &call{
		header: http.Header{}, by: time.Now().Add(p.answer), over: make(chan struct{}), info: schema.InterventionInfo{Intervention: i},
	}
	c.info.Session = t.ID
	if i.Kind.Kind == schema.PrimitiveInject && w.dialect != a2a.V01 { // whose messages have no id
		c.info.MessageID = messageID(t.ID, i.ID)
	}
	c.x = &exchange{
		proxy: p, in: r, url: r.URL, host: r.Host, transport: p.transport, ours: c,
		chanAsk: schema.ChanRequest, asker: schema.FromClient, answerer: schema.FromAgent, far: "upstream",
	}
	c.x.rewrite = func(pr *httputil.ProxyRequest) {
		pr.Out.URL = p.upstream.at(c.x.target())
		c.x.passRequest(pr)
	}
	if why := p.own.take(); why != "" {
		return nil, why
	}
	go func() {
		defer p.own.running.add(-1)
		defer close(c.over)
		c.x.run(c)
		c.settle() // where there was no exchange
	}()
	return c, ""
}

// own are the proxy's own calls.
type own struct {
	life    context.Context // of calls
	end     context.CancelCauseFunc
	running running
	shut    bool // there are no more; running.mu is held
}

// take takes a place for a call.
func (o *own) take() (why string) {
	o.running.mu.Lock()
	defer o.running.mu.Unlock()
	switch {
	case o.shut:
		return errStopped.Error()
	case o.running.n == maxOwn:
		return "too many interventions wait for the peer's answers"
	}
	o.running.n++
	return ""
}

// EndCalls ends the proxy's own calls and returns when the journal holds the end of each; there are no more from
// now on. Those that run may go on for the grace, or until Hurry, and what runs on is cut off.
func (p *Proxy) EndCalls() {
	p.own.running.mu.Lock()
	p.own.shut = true
	p.own.running.mu.Unlock()
	over := make(chan struct{})
	go func() { defer close(over); p.own.running.wait() }()
	grace := time.NewTimer(p.grace)
	defer grace.Stop()
	select {
	case <-over:
	case <-grace.C:
	case <-p.hurry:
	}
	p.own.end(errStopped)
	<-over
}
