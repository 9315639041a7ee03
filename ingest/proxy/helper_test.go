package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/a2a"
)

// TestMain fails when something of the proxy still runs after all tests.
func TestMain(m *testing.M) {
	code := m.Run()
	for deadline := time.Now().Add(5 * time.Second); code == 0; time.Sleep(10 * time.Millisecond) {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		left := 0
		for _, one := range strings.Split(string(stacks), "\n\n") {
			if strings.Contains(one, "ingest/proxy.") && !strings.Contains(one, "proxy.TestMain") {
				left++
			}
		}
		if left == 0 {
			break
		}
		if time.Now().After(deadline) {
			fmt.Printf("%d goroutines are left:\n%s\n", left, stacks)
			code = 1
		}
	}
	os.Exit(code)
}

// entry is one of a journal.
type entry struct {
	journal.Lane
	from schema.From
	typ  schema.FrameType
	data []byte
}

// book is a journal in memory. When a test ends it holds exchanges that follow the grammar, or the
// test fails.
type book struct {
	mu      sync.Mutex
	entries []entry
	begun   int
	ended   int

	// before, if set, is asked before an entry is kept; n counts entries from 0.
	before   func(ctx context.Context, n int, e entry) error
	beginErr error
	none     bool // give no journal
	n        int
}

func newBook(t testing.TB) *book {
	b := &book{}
	t.Cleanup(func() { b.check(t) })
	return b
}

func (b *book) Begin(context.Context) (Journal, func(), error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.beginErr != nil {
		return nil, nil, b.beginErr
	}
	if b.none {
		return nil, nil, nil
	}
	b.begun++
	return b, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.ended++
	}, nil
}

func (b *book) AppendTo(ctx context.Context, lane journal.Lane, from schema.From, _ time.Time, data []byte) error {
	return b.add(ctx, entry{lane, from, schema.TypeData, append([]byte(nil), data...)})
}

func (b *book) ControlTo(ctx context.Context, lane journal.Lane, typ schema.FrameType, _ time.Time, info any) error {
	data, err := json.Marshal(info)
	if err != nil {
		return err
	}
	return b.add(ctx, entry{lane, schema.FromControl, typ, data})
}

func (b *book) add(ctx context.Context, e entry) error {
	b.mu.Lock()
	before, n := b.before, b.n
	b.n++
	b.mu.Unlock()
	if before != nil {
		if err := before(ctx, n, e); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries = append(b.entries, e)
	return nil
}

// all are all bytes that were recorded.
func (b *book) all() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all strings.Builder
	for _, e := range b.entries {
		all.Write(e.data)
		all.WriteByte('\n')
	}
	return all.String()
}

// side is what one wire of an exchange carried one way.
type side struct {
	said  bool
	ev    a2a.Evidence
	chan_ schema.Chan
	from  schema.From
	body  string
	parts []string
}

// record is one exchange as recorded: what was sent and, if served, what was sent in its stead.
type record struct {
	id                 uuid.UUID
	ask, askCopy       side
	answer, answerCopy side
	closed             *schema.CloseInfo
	faults             []string
	order              []string
}

// exchanges reads the book by the grammar, in the order of begin.
func (b *book) exchanges() (list []*record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	by := map[uuid.UUID]*record{}
	for _, e := range b.entries {
		r := by[e.Exchange]
		if r == nil {
			r = &record{id: e.Exchange}
			by[e.Exchange] = r
			list = append(list, r)
		}
		r.take(e)
	}
	for _, r := range list {
		for _, s := range []*side{&r.ask, &r.askCopy, &r.answer, &r.answerCopy} {
			s.body = strings.Join(s.parts, "")
		}
	}
	return list
}

func (r *record) take(e entry) {
	fault := func(what string) { r.faults = append(r.faults, what) }
	if r.closed != nil {
		fault("an entry behind the close entry")
	}
	switch e.typ {
	case schema.TypeClose:
		var c schema.CloseInfo
		if json.Unmarshal(e.data, &c) != nil || c.Exchange != r.id.String() || c.Reason != schema.ReasonEOF || e.Chan != "" || e.Served {
			fault("a bad close entry: " + string(e.data))
		}
		r.closed = &c
		return
	case schema.TypeIntervention: // see interventions
		return
	case schema.TypeHTTP, schema.TypeData:
	default:
		fault("an entry of type " + string(e.typ))
		return
	}
	asks := e.Chan == schema.ChanRequest || e.Chan == schema.ChanPush
	s := &r.answer
	switch {
	case asks && e.Served:
		s = &r.askCopy
	case asks:
		s = &r.ask
	case e.Served:
		s = &r.answerCopy
	}
	if asks && r.answer.said {
		fault("the request behind the answer")
	}
	if e.Served && !s.said && (asks && !r.ask.said || !asks && !r.answer.said) {
		fault("a copy before the original")
	}
	if e.typ == schema.TypeHTTP {
		if s.said {
			fault("evidence twice")
		}
		s.said, s.chan_ = true, e.Chan
		if json.Unmarshal(e.data, &s.ev) != nil {
			fault("bad evidence")
		}
		if len(s.ev.Masked) > maxMasked {
			fault("a long list of masks")
		}
		if (s.ev.Served != "") != e.Served {
			fault("served by its evidence or by its lane, not by both")
		}
		r.order = append(r.order, orderOf(e, "evidence"))
		return
	}
	if !s.said || s.chan_ != e.Chan {
		fault("bytes without evidence")
	}
	if s.from != "" && s.from != e.from {
		fault("bytes from two sides")
	}
	if len(e.data) == 0 {
		fault("an empty entry")
	}
	s.from = e.from
	s.parts = append(s.parts, string(e.data))
	if o := orderOf(e, "bytes"); len(r.order) == 0 || r.order[len(r.order)-1] != o {
		r.order = append(r.order, o)
	}
}

func orderOf(e entry, what string) string {
	if e.Served {
		what = "copy's " + what
	}
	return string(e.Chan) + " " + what
}

// check reports what does not follow the grammar.
func (b *book) check(t testing.TB) {
	if b.before != nil { // a journal that fails need not hold everything
		return
	}
	assert.Equal(t, b.begun, b.ended, "every journal given was given back")
	for _, r := range b.exchanges() {
		assert.Empty(t, r.faults)
		assert.Equal(t, uuid.Version(7), r.id.Version())
		if assert.NotNil(t, r.closed, "exchange %s has no end", r.id) {
			assert.True(t, r.ask.said)
			assert.Equal(t, r.ask.ev.Bytes, uint64(len(r.ask.body)))
			assert.Equal(t, r.askCopy.ev.Bytes, uint64(len(r.askCopy.body)))
			assert.Zero(t, r.answer.ev.Bytes)
		}
	}
}

// only is the book's one exchange, once it is closed.
func (b *book) only(t testing.TB) *record {
	t.Helper()
	return b.closed(t, 1)[0]
}

// closed waits for so many exchanges to be closed.
func (b *book) closed(t testing.TB, n int) (list []*record) {
	t.Helper()
	require.Eventually(t, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		closed := 0
		for _, e := range b.entries {
			if e.typ == schema.TypeClose {
				closed++
			}
		}
		return closed == n
	}, 10*time.Second, time.Millisecond, "%d exchanges closed", n)
	for _, r := range b.exchanges() {
		if r.closed != nil {
			list = append(list, r)
		}
	}
	return list
}

// upstream starts a peer that speaks HTTP/1.1 and HTTP/2, both without TLS.
func upstream(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Config.ErrorLog = silent
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// proxied is a running proxy.
type proxied struct {
	*Proxy
	url  string
	push string
	stop context.CancelFunc
	done chan struct{}
}

// start runs a proxy in front of a peer; options are what the test sets of them.
func start(t testing.TB, j Journals, peer string, set ...func(*Options)) *proxied {
	t.Helper()
	o := Options{Upstream: peer, Journals: j, Grace: time.Second}
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		return l
	}
	front, back := listen(), listen()
	for _, f := range set {
		f(&o)
	}
	if o.Push != nil && o.Push.BaseURL == "" {
		o.Push.BaseURL = "http://" + back.Addr().String()
	}
	p, err := New(o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	r := &proxied{
		Proxy: p, url: "http://" + front.Addr().String(), push: "http://" + back.Addr().String(),
		stop: cancel, done: make(chan struct{}),
	}
	errs := make(chan error, 2)
	go func() { errs <- p.Serve(ctx, front, p.Handler()) }()
	go func() { errs <- p.Serve(ctx, back, p.PushHandler()) }()
	go func() {
		defer close(r.done)
		assert.NoError(t, <-errs)
		assert.NoError(t, <-errs)
	}()
	t.Cleanup(func() {
		cancel()
		r.ended(t)
		p.transport.(*http.Transport).CloseIdleConnections()
		if p.push != nil {
			p.push.transport.(*http.Transport).CloseIdleConnections()
		}
	})
	return r
}

// ended waits for the proxy's end.
func (p *proxied) ended(t testing.TB) {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(20 * time.Second):
		assert.Fail(t, "the proxy does not end")
	}
}

// client speaks to one server and decodes nothing.
func client(t testing.TB, h2 bool) *http.Client {
	t.Helper()
	tr := &http.Transport{DisableCompression: true, Protocols: new(http.Protocols)}
	tr.Protocols.SetHTTP1(!h2)
	tr.Protocols.SetUnencryptedHTTP2(h2)
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func newRequest(t testing.TB, method, url, body string, headers ...string) *http.Request {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, r)
	require.NoError(t, err)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	return req
}

// ask sends a request and reads the whole answer.
func ask(t testing.TB, c *http.Client, req *http.Request) (*http.Response, string) {
	t.Helper()
	res, err := c.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, string(b)
}
