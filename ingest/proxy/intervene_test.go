package proxy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// mill is a peer whose task goes on until it is cancelled, and that keeps what it was asked.
type mill struct {
	*httptest.Server
	mu    sync.Mutex
	asked []asked
	over  chan struct{} // closed by a cancel
	// answer, if set, answers cancels and further messages.
	answer http.HandlerFunc
}

type asked struct {
	path, body string
	header     http.Header
}

func startMill(t *testing.T) *mill {
	m := &mill{over: make(chan struct{})}
	var once sync.Once
	m.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		state := "CANCELED"
		if body := m.last().body; strings.Contains(body, "Go on") {
			state = "WORKING"
		} else {
			once.Do(func() { close(m.over) })
		}
		task := `{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_` + state + `"}}`
		if strings.Contains(m.last().body, "jsonrpc") {
			task = `{"jsonrpc":"2.0","id":1,"result":` + task + `}`
		}
		_, _ = io.WriteString(w, task)
	}
	m.Server = upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m.mu.Lock()
		m.asked = append(m.asked, asked{r.RequestURI, string(body), r.Header.Clone()})
		first := len(m.asked) == 1
		m.mu.Unlock()
		if !first {
			m.answer(w, r)
			return
		}
		send := stream(w)
		_ = send(event(`{"task":{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"}}}`))
		select {
		case <-m.over:
			_ = send(event(`{"statusUpdate":{"taskId":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_CANCELED"}}}`))
		case <-r.Context().Done():
		}
	})
	return m
}

func event(result string) string {
	return `data: {"jsonrpc":"2.0","id":1,"result":` + result + "}\n\n"
}

// last is what the peer was asked last.
func (m *mill) last() asked {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[len(m.asked)-1]
}

// awaits returns when the peer has been asked n times.
func (m *mill) awaits(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.asked) == n
	}, 10*time.Second, time.Millisecond)
}

const sending = `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"tenant":"oats","message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}}`

// converse begins a conversation; it returns when the client knows of its task.
func converse(t *testing.T, p *proxied, path, body string, headers ...string) *bufio.Scanner {
	t.Helper()
	t.Cleanup(p.EndCalls)
	res, err := client(t, false).Do(newRequest(t, "POST", p.url+path, body, headers...))
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	answer := bufio.NewScanner(res.Body)
	require.Contains(t, next(answer), `"t-1"`)
	return answer
}

func next(s *bufio.Scanner) string {
	for s.Scan() {
		if text, ok := strings.CutPrefix(s.Text(), "data: "); ok {
			return text
		}
	}
	return ""
}

func cancels(id string) schema.Intervention {
	return schema.Intervention{ID: id, IssuedBy: "miller", Kind: schema.InterventionKind{Kind: schema.PrimitiveCancel, Reason: "enough"}}
}

func injects(id, text string) schema.Intervention {
	return schema.Intervention{ID: id, IssuedBy: "miller", Kind: schema.InterventionKind{Kind: schema.PrimitiveInject, Text: text}}
}

// control are the interventions in a book, each with what was recorded right before and after it.
func (b *book) interventions(t *testing.T) (list []schema.InterventionInfo, exchanges []uuid.UUID) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.entries {
		if e.typ == schema.TypeIntervention {
			info, err := schema.ReadIntervention(e.data)
			require.NoError(t, err)
			list, exchanges = append(list, info), append(exchanges, e.Exchange)
		}
	}
	return list, exchanges
}

func TestACancelIsACallOfTheClients(t *testing.T) {
	m, b := startMill(t), newBook(t)
	p := start(t, b, m.URL+"/a2a")
	answer := converse(t, p, "/rpc?x=1", sending, "Authorization", "Bearer geheim-0815", "A2A-Version", "1.0", "X-Own", "1",
		"Traceparent", "00-1-2-01", "Connection", "X-Hop", "X-Hop", "1")
	require.Equal(t, []Task{{"t-1", "c-1", true}}, p.Tasks())

	require.Equal(t, schema.Applied(), p.Intervene(t.Context(), p.Tasks()[0], cancels("c-1")))
	require.Contains(t, next(answer), "CANCELED", "the client hears of it")
	require.Empty(t, next(answer))
	got := m.last()
	require.Equal(t, "/a2a/rpc?x=1", got.path)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":"c-1","method":"CancelTask","params":{"id":"t-1","tenant":"oats"}}`, got.body)
	require.Equal(t, "Bearer geheim-0815", got.header.Get("Authorization"))
	require.Equal(t, "1.0", got.header.Get("A2A-Version"))
	require.Equal(t, "1", got.header.Get("X-Own"))
	require.Equal(t, "steno-proxy", got.header.Get("User-Agent"))
	require.Empty(t, got.header.Get("Traceparent"))
	require.Empty(t, got.header.Get("X-Hop"))

	require.Eventually(t, func() bool { return !p.Tasks()[0].Open }, 10*time.Second, time.Millisecond)
	require.Equal(t, schema.Stale(`task "t-1" does not go on`), p.Intervene(t.Context(), Task{ID: "t-1"}, cancels("c-2")))
	require.Equal(t, schema.Stale(`task "t-2" does not go on`), p.Intervene(t.Context(), Task{ID: "t-2"}, cancels("c-2")))
	require.Equal(t, schema.NotSupported(schema.PrimitivePause), p.Intervene(t.Context(), Task{ID: "t-1"}, schema.Intervention{Kind: schema.InterventionKind{Kind: schema.PrimitivePause}}))

	records := b.closed(t, 2)
	own := records[1]
	require.Equal(t, []string{"request evidence", "request bytes", "response evidence", "response bytes"}, own.order)
	require.Equal(t, got.body, own.ask.body)
	require.Equal(t, schema.FromClient, own.ask.from)
	require.Contains(t, own.ask.ev.Masked, "authorization")
	require.Contains(t, own.answer.body, "CANCELED")
	require.NotContains(t, b.all(), "geheim")
	infos, exchanges := b.interventions(t)
	require.Len(t, infos, 1, "what was not done is not recorded")
	require.Equal(t, own.id, exchanges[0])
	want := cancels("c-1")
	want.Session = "t-1"
	require.Equal(t, schema.InterventionInfo{Intervention: want}, infos[0])
}

// In each dialect and binding the calls are those of the conversation's own.
func TestCallsInTheWordsOfTheConversation(t *testing.T) {
	for name, c := range map[string]struct {
		path, body, version               string
		cancelPath, cancel, sayPath, said string
	}{
		"1.0 JSON-RPC": {"/rpc", `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{}}`, "1.0",
			"/rpc", `{"jsonrpc":"2.0","id":"i","method":"CancelTask","params":{"id":"t-1"}}`,
			"/rpc", `{"jsonrpc":"2.0","id":"i","method":"SendMessage","params":{"configuration":{"returnImmediately":true},"message":{"messageId":"ID","taskId":"t-1","contextId":"c-1","role":"ROLE_USER","parts":[{"text":"Go on"}]}}}`},
		"0.3 JSON-RPC": {"/", `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{}}`, "",
			"/", `{"jsonrpc":"2.0","id":"i","method":"tasks/cancel","params":{"id":"t-1"}}`,
			"/", `{"jsonrpc":"2.0","id":"i","method":"message/send","params":{"configuration":{"blocking":false},"message":{"kind":"message","messageId":"ID","taskId":"t-1","contextId":"c-1","role":"user","parts":[{"kind":"text","text":"Go on"}]}}}`},
		"0.1 JSON-RPC": {"/", `{"jsonrpc":"2.0","id":1,"method":"tasks/sendSubscribe","params":{}}`, "",
			"/", `{"jsonrpc":"2.0","id":"i","method":"tasks/cancel","params":{"id":"t-1"}}`,
			"/", `{"jsonrpc":"2.0","id":"i","method":"tasks/send","params":{"id":"t-1","sessionId":"c-1","message":{"role":"user","parts":[{"type":"text","text":"Go on"}]}}}`},
		"0.3 JSON-RPC, served by a peer of 1.0": {"/rpc", `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"messageId":"m","role":"user","parts":[]}}}`, "",
			"/rpc", `{"jsonrpc":"2.0","id":"i","method":"CancelTask","params":{"id":"t-1"}}`,
			"/rpc", `{"jsonrpc":"2.0","id":"i","method":"SendMessage","params":{"configuration":{"returnImmediately":true},"message":{"messageId":"ID","taskId":"t-1","contextId":"c-1","role":"ROLE_USER","parts":[{"text":"Go on"}]}}}`},
		"1.0 REST": {"/oats/message:stream?A2A-Version=1.0&api_key=geheim&x=1", `{"message":{}}`, "1.0",
			"/oats/tasks/t-1:cancel?A2A-Version=1.0&api_key=geheim", `{}`,
			"/oats/message:send?A2A-Version=1.0&api_key=geheim", `{"configuration":{"returnImmediately":true},"message":{"messageId":"ID","taskId":"t-1","contextId":"c-1","role":"ROLE_USER","parts":[{"text":"Go on"}]}}`},
		"0.3 REST": {"/v1/message:stream", `{"message":{}}`, "",
			"/v1/tasks/t-1:cancel", `{}`,
			"/v1/message:send", `{"configuration":{"blocking":false},"message":{"messageId":"ID","taskId":"t-1","contextId":"c-1","role":"ROLE_USER","content":[{"text":"Go on"}]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, b, served := startMill(t), newBook(t), strings.Contains(name, "served")
			p := start(t, b, m.URL, func(o *Options) { o.ServeV03 = served })
			converse(t, p, c.path, c.body, "A2A-Version", c.version)
			task := p.Tasks()[0]
			require.Equal(t, schema.Applied(), p.Intervene(t.Context(), task, injects("i", "Go on")))
			mID := messageID("t-1", "i")
			require.NotEqual(t, mID, messageID("t-1", "j"))
			require.Equal(t, c.sayPath, m.last().path)
			require.JSONEq(t, strings.ReplaceAll(c.said, `"ID"`, `"`+mID+`"`), m.last().body)
			infos, _ := b.interventions(t)
			require.Len(t, infos, 1)
			require.Equal(t, strings.Contains(c.said, `"ID"`), infos[0].MessageID == mID)
			require.Equal(t, schema.Applied(), p.Intervene(t.Context(), task, cancels("i")))
			require.Equal(t, c.cancelPath, m.last().path)
			require.Equal(t, served || c.version != "", m.last().header.Get("A2A-Version") == "1.0")
			require.JSONEq(t, c.cancel, m.last().body)
			require.NotContains(t, b.all(), "geheim")
		})
	}
}

// What the peer does not do is Stale, with its own words; the record says so behind what was said before.
func TestWhatThePeerDoesNotDo(t *testing.T) {
	answers := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   string
		inject bool
	}{
		"an error": {answers(200, `{"jsonrpc":"2.0","id":"i","error":{"code":-32002,"message":"Task cannot be canceled"}}`),
			"the peer refused it: -32002 Task cannot be canceled", false},
		"an error that quotes": {answers(200, `{"jsonrpc":"2.0","id":"i","error":{"code":-32001,"message":"no such task for geheim-0815"}}`),
			"the peer refused it: -32001 no such task for ***", true},
		"no right": {answers(401, `who?`), "the peer refused it: 401 Unauthorized", false},
		"REST":     {answers(404, `{"error":{"code":404,"status":"NOT_FOUND","message":"no task"}}`), "the peer refused it: 404 Not Found: NOT_FOUND no task", false},
		"another end": {answers(200, `{"jsonrpc":"2.0","id":"i","result":{"id":"t-1","status":{"state":"TASK_STATE_COMPLETED"}}}`),
			"the task had ended before: completed", false},
		"nothing": {answers(200, `{"jsonrpc":"2.0","id":"i","result":null}`), "the peer's answer is neither a result nor an error", false},
		"noise":   {answers(200, `<html>`), "the peer's answer is none that can be read", true},
		"half an answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"jsonrpc":`)
		}, "it was sent, and its answer broke off, so whether it was done is not known: upstream: unexpected EOF", false},
		"the answer lost": {func(w http.ResponseWriter, _ *http.Request) {
			panic(http.ErrAbortHandler) // it is done, and nobody hears so
		}, "it was sent, and no answer came, so whether it was done is not known: upstream: EOF", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, b := startMill(t), newBook(t)
			m.answer = c.answer
			p := start(t, b, m.URL)
			converse(t, p, "/", sending, "Authorization", "Bearer geheim-0815")
			i := cancels("i")
			if c.inject {
				i = injects("i", "Go on")
			}
			o := p.Intervene(t.Context(), p.Tasks()[0], i)
			want := schema.Stale("%s", c.says)
			want.Unknown = slices.Contains([]string{"nothing", "noise", "half an answer", "the answer lost"}, name)
			require.Equal(t, want, o)
			infos, exchanges := b.interventions(t)
			require.Len(t, infos, 2)
			require.Equal(t, exchanges[0], exchanges[1])
			require.Nil(t, infos[0].Outcome)
			require.Equal(t, &o, infos[1].Outcome)
			require.Equal(t, "i", infos[1].ID)
			require.NotContains(t, b.all(), "geheim")
			require.True(t, p.Tasks()[0].Open == (name != "another end"))
		})
	}
}

func TestAPeerThatIsGone(t *testing.T) {
	m, b := startMill(t), newBook(t)
	p := start(t, b, m.URL)
	converse(t, p, "/", sending)
	task := p.Tasks()[0]
	m.CloseClientConnections()
	require.NoError(t, m.Listener.Close())
	b.closed(t, 1)
	o := p.Intervene(t.Context(), task, cancels("i"))
	require.Contains(t, o.Detail, "nothing was sent: the peer cannot be reached: connect to upstream: dial tcp")
	infos, _ := b.interventions(t)
	require.Equal(t, &o, infos[1].Outcome)
}

// What is not recorded is not done.
func TestWhatCannotBeRecordedIsNotDone(t *testing.T) {
	m, b := startMill(t), newBook(t)
	p := start(t, b, m.URL)
	converse(t, p, "/", sending)
	task := p.Tasks()[0]
	set := func(to func()) {
		b.mu.Lock()
		defer b.mu.Unlock()
		to()
	}
	said := 0
	set(func() {
		b.before = func(_ context.Context, _ int, e entry) error {
			if e.typ == schema.TypeIntervention {
				if said++; said == 2 {
					return nil
				}
				return errors.New("no space")
			}
			if said == 2 && e.Chan == schema.ChanRequest {
				return errors.New("no space left")
			}
			return nil
		}
	})
	require.Equal(t, schema.Stale("nothing was sent: record an intervention of request: no space"), p.Intervene(t.Context(), task, cancels("i")))
	o := p.Intervene(t.Context(), task, cancels("j"))
	require.Contains(t, o.Detail, "nothing was sent: record evidence of request: no space left; the record does not say so: no space")
	set(func() { b.beginErr = errors.New("no journal") })
	require.Contains(t, p.Intervene(t.Context(), task, cancels("k")).Detail, "nothing was sent: begin the record of an exchange: no journal")
	set(func() { b.beginErr, b.none = nil, true })
	require.Equal(t, schema.Stale("nothing was sent: there is no room to record it"), p.Intervene(t.Context(), task, cancels("l")))
	require.Equal(t, sending, m.last().body, "nothing was sent")
}

// What finds no room in the record in time is not done later, when there is room.
func TestWhatIsRecordedTooLateIsNotSent(t *testing.T) {
	for name, late := range map[string]func(e entry) bool{
		"the intervention": func(e entry) bool { return e.typ == schema.TypeIntervention },
		"the request":      func(e entry) bool { return e.Chan == schema.ChanRequest },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, b := startMill(t), newBook(t)
			p := start(t, b, m.URL, func(o *Options) { o.Answer = 20 * time.Millisecond })
			converse(t, p, "/", sending)
			room := make(chan struct{})
			b.mu.Lock()
			b.before = func(ctx context.Context, _ int, e entry) error {
				if !late(e) {
					return nil
				}
				select {
				case <-room:
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
			b.mu.Unlock()
			o := p.Intervene(t.Context(), p.Tasks()[0], cancels("i"))
			require.Contains(t, o.Detail, "nothing was sent: ")
			close(room)
			p.own.running.wait()
			require.Equal(t, sending, m.last().body, "nothing was sent")
		})
	}
}

// A peer that does not answer in time goes on, and so does the record: who waits hears that nobody knows yet.
func TestAPeerThatTakesItsTime(t *testing.T) {
	m, b := startMill(t), newBook(t)
	may := make(chan struct{})
	cancel := m.answer
	m.answer = func(w http.ResponseWriter, r *http.Request) {
		<-may
		cancel(w, r)
	}
	p := start(t, b, m.URL)
	answer := converse(t, p, "/", sending)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	outcome := make(chan schema.Outcome, 1)
	go func() { outcome <- p.Intervene(ctx, p.Tasks()[0], cancels("i")) }()
	m.awaits(t, 2)
	leave()
	o := <-outcome
	require.Equal(t, schema.Unsure("it was sent, and what became of it is not known yet: nobody waits for its answer any more"), o)
	close(may)
	require.Contains(t, next(answer), "CANCELED")
	b.closed(t, 2)
	infos, _ := b.interventions(t)
	require.Len(t, infos, 2)
	require.Equal(t, &o, infos[1].Outcome)
}

// At the end there are no more calls, and those that run have the grace.
func TestTheEndOfCalls(t *testing.T) {
	m, b := startMill(t), newBook(t)
	m.answer = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	p := start(t, b, m.URL, func(o *Options) { o.Grace = time.Hour })
	converse(t, p, "/", sending)
	t.Cleanup(p.Hurry)
	outcome := make(chan schema.Outcome, 1)
	go func() { outcome <- p.Intervene(context.Background(), p.Tasks()[0], cancels("i")) }()
	m.awaits(t, 2)
	ended := make(chan struct{})
	go func() { defer close(ended); p.EndCalls() }()
	require.Eventually(t, func() bool {
		p.own.running.mu.Lock()
		defer p.own.running.mu.Unlock()
		return p.own.shut
	}, 10*time.Second, time.Millisecond)
	require.Equal(t, schema.Stale("the proxy was stopped"), p.Intervene(t.Context(), p.Tasks()[0], cancels("j")))
	require.Empty(t, outcome, "what runs has its grace")
	p.Hurry()
	<-ended
	require.Equal(t, schema.Unsure("it was sent, and no answer came, so whether it was done is not known: the proxy was stopped"), <-outcome)
}

// What the end meets before it has gone out was not sent, and nobody is told that it was.
func TestTheEndOfACallThatIsNotSentYet(t *testing.T) {
	m, b := startMill(t), newBook(t)
	p := start(t, b, m.URL, func(o *Options) { o.Grace, o.Answer = time.Hour, time.Hour })
	converse(t, p, "/", sending)
	require.NoError(t, p.reading.Acquire(t.Context(), p.room)) // others' requests are being read
	defer p.reading.Release(p.room)
	outcome := make(chan schema.Outcome, 1)
	go func() {
		outcome <- p.Intervene(context.Background(), p.Tasks()[0], injects("i", strings.Repeat("x", smallBody)))
	}()
	require.Eventually(t, func() bool {
		p.own.running.mu.Lock()
		defer p.own.running.mu.Unlock()
		return p.own.running.n == 1
	}, 10*time.Second, time.Millisecond)
	p.Hurry()
	p.EndCalls()
	require.Regexp(t, "^nothing was sent: .*the proxy was stopped", (<-outcome).Detail)
	require.Equal(t, sending, m.last().body)
}

// However close a cancel is to the natural end, its outcome is one of the three, and the record is whole.
func TestACancelRacesTheEnd(t *testing.T) {
	var mu sync.Mutex
	over := map[string]string{} // how tasks ended
	end := func(task, state string) (got string) {
		mu.Lock()
		defer mu.Unlock()
		if over[task] == "" {
			over[task] = state
		}
		return over[task]
	}
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		var c struct {
			Method string
			Params struct {
				ID      string
				Message struct{ MessageID string }
			}
		}
		_ = json.NewDecoder(r.Body).Decode(&c)
		if c.Method == "CancelTask" {
			w.Header().Set("Content-Type", "application/json")
			if got := end(c.Params.ID, "CANCELED"); got != "CANCELED" {
				_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"over"}}`)
				return
			}
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"id":%q,"status":{"state":"TASK_STATE_CANCELED"}}}`, c.Params.ID)
			return
		}
		task := "of-" + c.Params.Message.MessageID
		send := stream(w)
		_ = send(event(fmt.Sprintf(`{"task":{"id":%q,"status":{"state":"TASK_STATE_WORKING"}}}`, task)))
		_ = send(event(fmt.Sprintf(`{"statusUpdate":{"taskId":%q,"status":{"state":"TASK_STATE_%s"}}}`, task, end(task, "COMPLETED"))))
	})
	b := newBook(t)
	p := start(t, b, peer.URL)
	t.Cleanup(p.EndCalls)
	outcomes := map[string]int{}
	for n := range 20 {
		id := fmt.Sprint("m", n)
		res, err := client(t, false).Do(newRequest(t, "POST", p.url, `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"`+id+`"}}}`))
		require.NoError(t, err)
		o := p.Intervene(t.Context(), Task{ID: "of-" + id}, cancels(id))
		outcomes[o.Outcome]++
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		mu.Lock()
		assert.Contains(t, string(text), over["of-"+id])
		assert.False(t, o.Outcome == schema.OutcomeApplied && over["of-"+id] != "CANCELED", "%v: %s", o, over["of-"+id])
		mu.Unlock()
	}
	require.Equal(t, 20, outcomes[schema.OutcomeApplied]+outcomes[schema.OutcomeStale], outcomes)
}
