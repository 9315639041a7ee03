// Package proxy stands between A2A clients and a peer over HTTP: it records every byte of both
// directions, secrets masked, and passes it on at once. It also calls the peer itself, about a task that came
// through it, where somebody intervenes there: see Intervene.
//
// Secrets are: headers and parameters of queries by their names; in requests, in answers to calls
// about push configurations and in errors of the calls that may carry one, the tokens, credentials and
// secret addresses of these; in requests and in answers that are read whole, the tokens of OAuth in
// metadata by their names (access_token, refresh_token, id_token, client_secret); and in each answer,
// streamed or not, what was masked in its request, where it has eight characters or more and the
// request does not say it in the open, too.
//
// Not masked: in streamed answers, secrets that their request did not hold, but for push
// configurations in answers to calls about them; shorter ones that an answer repeats outside of a push
// configuration; and what is encoded in another way than JSON, URLs and gzip do it.
package proxy

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
)

// Journal keeps what passes in one exchange. AppendTo has kept b when it returns nil, or counted it as
// not kept, and does not hold on to it; it may hold the conversation back until ctx ends. ControlTo
// keeps what the proxy itself has to say, with info as its JSON payload.
type Journal interface {
	AppendTo(ctx context.Context, lane journal.Lane, from schema.From, at time.Time, b []byte) error
	ControlTo(ctx context.Context, lane journal.Lane, typ schema.FrameType, at time.Time, info any) error
}

// Journals gives each exchange the journal that it is written to, from its first to its last entry.
// A nil Journal without an error lets the exchange pass unrecorded. end, if not nil, is called once,
// behind the close entry. Begin is called by several goroutines and may hold the exchange back until
// ctx ends.
type Journals interface {
	Begin(ctx context.Context) (j Journal, end func(), err error)
}

// Bounds and waits.
const (
	// MaxRequest bounds what is read whole before it is passed on: a request, and the few answers that
	// are rewritten.
	MaxRequest = 64 << 20
	// DefaultGrace is a good time for running exchanges to go on when the proxy is to end.
	DefaultGrace = 5 * time.Second

	// lingers is how long a full journal may hold what was read for an exchange that nobody waits for
	// any longer: room may come, and hanging for ever helps nobody.
	lingers = time.Second
	// maxHeader bounds the lines and headers of a request and an answer, so that their evidence is kept
	// as it was said: JSON takes up to six bytes for one, and an entry of a journal has a bound, to which
	// longer evidence is cut.
	maxHeader = 128 << 10
	// dialWait bounds the wait for an upstream that does not answer the call.
	dialWait = 10 * time.Second
	// pingAfter and pingWait say how long a silent HTTP/2 connection is believed in: a stream of an
	// agent that thinks may be silent for long, and a machine that vanished says nothing either.
	pingAfter = 30 * time.Second
	pingWait  = 15 * time.Second
	// chunk is what is read at once.
	chunk = 64 << 10
)

// Options of a proxy.
type Options struct {
	// Upstream is the peer's URL, http, https (HTTP/2 where the peer has it) or h2c (HTTP/2 without
	// TLS). The proxy's / is exactly its path.
	Upstream string
	// TLS is for an https peer and https webhooks; nil: the system's roots.
	TLS *tls.Config
	// PublicURL is where clients reach the proxy, for the URLs in agent cards and redirects; empty:
	// where the request says that it was sent to.
	PublicURL string
	// ServeV03 lets clients of version 0.3 talk to a peer of version 1.0.
	ServeV03 bool
	// Push takes webhooks through the proxy; nil: agents post them past it.
	Push *Push
	// Journals records; it must be there.
	Journals Journals
	// Grace is how long running exchanges may go on when Serve is to end.
	Grace time.Duration
	// Answer is how long Intervene waits for the peer's answer; 0: DefaultAnswer.
	Answer time.Duration
	// Notice hears, once each, what the proxy left out of a card and what it could not record, and each
	// time that the upstream cannot be reached any more, or again; nil: nobody does. It is called by
	// several goroutines.
	Notice func(string)
	// Done hears of each exchange at its end; nil: nobody does. It is called by several goroutines.
	Done func(Exchange)
}

// Push says where agents post what they tell clients that do not wait for it.
type Push struct {
	// BaseURL is where agents reach PushHandler.
	BaseURL string
	// Key makes the addresses that the handler takes, so that nobody else can make the proxy post
	// somewhere. It must stay the same as long as agents may post.
	Key []byte
}

// Proxy stands between the clients of one peer and the peer.
type Proxy struct {
	journals  Journals
	upstream  target
	public    *url.URL // nil: as the request says
	serveV03  bool
	transport http.RoundTripper // to the peer
	push      *pusher           // nil: none
	secrets   []string          // of the upstream's URL
	grace     time.Duration
	max       int64 // MaxRequest, unless a test says otherwise
	room      int64 // MaxReading, likewise
	reading   *semaphore.Weighted
	id        string // in marks
	running   atomic.Int64
	hurry     chan struct{} // closed by Hurry
	hurried   sync.Once
	buffers   buffers
	notices   notices
	reach     reach
	done      func(Exchange)
	tasks     tasks
	answer    time.Duration
	own       own
}

// OptionError says what is wrong with an option.
type OptionError struct {
	Option string // such as Upstream or Push.Key
	Err    error
}

func (e *OptionError) Error() string { return "read option " + e.Option + ": " + e.Err.Error() }

func (e *OptionError) Unwrap() error { return e.Err }

func badOption(name string, err error) error { return &OptionError{name, err} }

// New makes a proxy. It keeps nothing and listens nowhere before it serves; what is wrong with an option
// is an OptionError.
func New(o Options) (*Proxy, error) {
	upstream, err := readTarget(o.Upstream)
	if err != nil {
		return nil, badOption("Upstream", err)
	}
	if o.Journals == nil {
		return nil, badOption("Journals", errors.New("there are none"))
	}
	p := &Proxy{
		journals: o.Journals, upstream: upstream, serveV03: o.ServeV03,
		transport: newTransport(o.TLS, upstream.h2c), grace: o.Grace, max: MaxRequest,
		hurry: make(chan struct{}), done: o.Done, answer: cmp.Or(o.Answer, DefaultAnswer),
	}
	p.own.life, p.own.end = context.WithCancelCause(context.Background())
	p.limit(MaxReading)
	id, err := uuid.NewRandom()
	if err != nil {
		return nil, fmt.Errorf("make the id of a proxy: %w", err)
	}
	p.id = id.String()
	if p.grace < 0 {
		return nil, badOption("Grace", fmt.Errorf("%s is less than nothing", o.Grace))
	}
	if o.PublicURL != "" {
		if p.public, err = readURL(o.PublicURL, "http", "https"); err != nil {
			return nil, badOption("PublicURL", err)
		}
	}
	if o.Push != nil {
		if p.push, err = newPusher(o.Push, newTransport(o.TLS, false)); err != nil {
			return nil, err
		}
	}
	p.secrets = querySecrets(upstream.url.RawQuery)
	p.notices.say, p.reach.say = o.Notice, o.Notice
	return p, nil
}

// limit sets how much of requests may be held at once.
func (p *Proxy) limit(room int64) { p.room, p.reading = room, semaphore.NewWeighted(room) }

// Running is how many exchanges run.
func (p *Proxy) Running() int64 { return p.running.Load() }

// Hurry ends the grace of every Serve that is to end, now or later.
func (p *Proxy) Hurry() { p.hurried.Do(func() { close(p.hurry) }) }

// Handler takes what clients send to the peer.
func (p *Proxy) Handler() http.Handler { return http.HandlerFunc(p.serve) }

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	x := &exchange{
		proxy: p, in: r, url: r.URL, host: r.Host, transport: p.transport,
		chanAsk: schema.ChanRequest, asker: schema.FromClient, answerer: schema.FromAgent, far: "upstream",
	}
	x.rewrite = func(pr *httputil.ProxyRequest) {
		pr.Out.URL = p.upstream.at(x.target())
		x.passRequest(pr)
	}
	x.serveUp = p.serveV03
	x.run(w)
}

// newTransport reaches peers. It decodes nothing: what was sent is what is passed on.
func newTransport(config *tls.Config, h2c bool) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	t.TLSClientConfig = config.Clone()
	t.MaxResponseHeaderBytes = maxHeader
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 256 // one peer, many clients
	t.DialContext = dial
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingWait}
	t.Protocols = new(http.Protocols)
	if h2c {
		t.Protocols.SetUnencryptedHTTP2(true)
		return t
	}
	t.Protocols.SetHTTP1(true)
	t.Protocols.SetHTTP2(true)
	return t
}

// silent drops what net/http would log: the close entry says it.
var silent = log.New(io.Discard, "", 0)

// buffers are what bodies are copied through.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if buf, ok := b.pool.Get().(*[]byte); ok {
		return *buf
	}
	return make([]byte, chunk)
}

func (b *buffers) Put(buf []byte) { b.pool.Put(&buf) }

// notices says each thing once.
type notices struct {
	say   func(string)
	mu    sync.Mutex
	known map[string]bool
}

// maxNotices bounds the memory of what was said.
const maxNotices = 1024

func (n *notices) once(text string) {
	if n.say == nil {
		return
	}
	n.mu.Lock()
	known := n.known[text]
	if !known && len(n.known) < maxNotices {
		if n.known == nil {
			n.known = map[string]bool{}
		}
		n.known[text] = true
	}
	n.mu.Unlock()
	if !known {
		n.say(text)
	}
}
