package reach

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/headless"
	"github.com/steno-io/steno/ingest/intervene"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
)

var capture = schema.Identity{Namespace: "default", Workflow: "mill", Run: "r-1", Attempt: 1}

type line struct {
	t    *testing.T
	conn *nats.Conn
	a    *Approvals
	fate error // of each decision
}

func listen(t *testing.T) *line {
	t.Helper()
	conn, err := nats.Connect(natstest.Start(t).URL())
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	a := &Approvals{}
	serve(t, conn, a)
	return &line{t: t, conn: conn, a: a}
}

// serve serves a target until the test ends.
func serve(t *testing.T, conn *nats.Conn, target intervene.Target) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	served, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- intervene.NewDesk(target).Serve(ctx, conn, capture, func() { close(served) }) }()
	<-served
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
}

func (l *line) say(command string) string {
	l.t.Helper()
	m, err := l.conn.Request("steno.intervene.default.mill.r-1.0.1.miller", []byte(command), 20*time.Second)
	require.NoError(l.t, err)
	return string(m.Data)
}

func approve(id, call, decision string) string {
	return fmt.Sprintf(`{"id":%q,"issued_by":"the king","kind":{"kind":"RespondToApproval","call_id":%q,"decision":{"decision":%q},"note":"so"}}`, id, call, decision)
}

type answer struct {
	d   headless.Decision
	err error
}

// settled tells who has decided what becomes of it.
func settled(d headless.Decision, err, fate error) answer {
	if err == nil {
		d.Settled(fate)
		d.Settled = nil
	}
	return answer{d, err}
}

// ask has a question waiting before it returns.
func (l *line) ask(ctx context.Context, q headless.Question) <-chan answer {
	l.t.Helper()
	count := func() int {
		l.a.mu.Lock()
		defer l.a.mu.Unlock()
		return len(l.a.waiting)
	}
	before := count()
	c := make(chan answer, 1)
	go func() {
		d, err := l.a.Ask(ctx, q)
		c <- settled(d, err, l.fate)
	}()
	require.Eventually(l.t, func() bool { return count() > before }, 20*time.Second, time.Millisecond)
	return c
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	l := listen(t)
	require.Equal(t, `{"outcome":"StaleTarget","detail":"no tool call \"t1\" waits for an approval"}`, l.say(approve("1", "t1", "Approve")))

	require.Equal(t, `{"supported":[]}`, l.say(`{"capabilities":true}`))
	asked := l.ask(t.Context(), headless.Question{Request: "7", CallID: "t1", Once: true})
	require.Equal(t, `{"supported":[{"primitive":"RespondToApproval"}]}`, l.say(`{"capabilities":true}`))
	require.Equal(t, `{"outcome":"StaleTarget","detail":"no tool call \"t1\" waits for an approval"}`, l.say(approve("1", "t1", "Approve")),
		"a repeated id gets the first outcome, and does nothing")
	require.Equal(t, `{"outcome":"Applied"}`, l.say(approve("2", "t1", "Approve")))
	require.Equal(t, answer{d: headless.Decision{Approved: true, By: "miller", Note: "so", Intervention: "2"}}, <-asked)
	require.Equal(t, `{"outcome":"Applied"}`, l.say(approve("2", "t1", "Approve")))

	asked = l.ask(t.Context(), headless.Question{Request: `"q"`}) // it names no tool call
	require.Equal(t, `{"outcome":"Applied"}`, l.say(approve("3", `"q"`, "Deny")))
	require.Equal(t, answer{d: headless.Decision{By: "miller", Note: "so", Intervention: "3"}}, <-asked)

	require.Equal(t, `{"outcome":"CapabilityNotSupported","primitive":{"primitive":"Cancel"}}`, l.say(`{"id":"4","kind":{"kind":"Cancel"}}`))
}

func named(id, members, decision string, session ...string) string {
	return fmt.Sprintf(`{"id":%q,"session":%q,"kind":{"kind":"RespondToApproval",%s,"decision":{"decision":%q}}}`,
		id, strings.Join(session, ""), members, decision)
}

// Of several questions that a command may mean it must say which; one that has gone is none.
func TestWhichQuestionIsMeant(t *testing.T) {
	t.Parallel()
	l := listen(t)
	ctx, leave := context.WithCancel(t.Context())
	const several = `{"outcome":"StaleTarget","detail":"several wait: name the request"}`
	first := l.ask(ctx, headless.Question{Request: "1", Session: "a", CallID: "t1", Once: true})
	second := l.ask(t.Context(), headless.Question{Request: "2", Session: "a", CallID: "t1", Once: true})
	third := l.ask(t.Context(), headless.Question{Request: `"3"`, Session: "b", CallID: "t1", Once: true})
	require.Equal(t, several, l.say(approve("1", "t1", "Approve")))
	require.Equal(t, several, l.say(named("2", `"call_id":"t1"`, "Approve", "a")))
	require.Equal(t, `{"outcome":"Applied"}`, l.say(named("3", `"call_id":"t1"`, "Deny", "b")))
	require.False(t, (<-third).d.Approved)
	require.Contains(t, l.say(named("4", `"call_id":"t1","request":"3"`, "Approve")), "no tool call")
	nameless := l.ask(ctx, headless.Question{Request: "9", Session: "c", Once: true})
	require.Contains(t, l.say(named("nobody", `"note":"so"`, "Approve", "c")), "no tool call", "it says of nothing what it means")
	require.Contains(t, l.say(named("5", `"request":"4"`, "Approve")), `no tool call \"4\"`)
	leave()
	require.ErrorIs(t, (<-first).err, context.Canceled)
	require.ErrorIs(t, (<-nameless).err, context.Canceled)
	require.Equal(t, `{"outcome":"Applied"}`, l.say(approve("6", "t1", "Approve")))
	require.True(t, (<-second).d.Approved)

	fourth := l.ask(t.Context(), headless.Question{Request: `"4"`, Session: "a", CallID: "t1", Once: true})
	fifth := l.ask(t.Context(), headless.Question{Request: "5", Session: "a", CallID: "t1", Once: true})
	require.Equal(t, `{"outcome":"Applied"}`, l.say(approve("7", "5", "Approve")), "as the transcript shows it")
	require.True(t, (<-fifth).d.Approved)
	require.Equal(t, `{"outcome":"Applied"}`, l.say(named("8", `"request":"\"4\""`, "Deny")))
	require.False(t, (<-fourth).d.Approved)
	require.Empty(t, l.a.waiting)
}

// What cannot be allowed once nobody approves: it goes on waiting.
func TestApprovalOfWhatIsNotOffered(t *testing.T) {
	t.Parallel()
	l := listen(t)
	asked := l.ask(t.Context(), headless.Question{Request: "1", CallID: "t1"})
	require.Equal(t, `{"outcome":"StaleTarget","detail":"the agent does not offer to allow this once"}`, l.say(approve("1", "t1", "Approve")))
	require.Equal(t, `{"outcome":"Applied"}`, l.say(approve("2", "t1", "Deny")))
	require.False(t, (<-asked).d.Approved)
}

// A decision that does not count is not Applied.
func TestApprovalThatDoesNotCount(t *testing.T) {
	t.Parallel()
	l := listen(t)
	l.fate = errors.New("the decision cannot be recorded: no room")
	asked := l.ask(t.Context(), headless.Question{Request: "1", CallID: "t1", Once: true})
	require.Equal(t, `{"outcome":"StaleTarget","detail":"the decision cannot be recorded: no room"}`, l.say(approve("1", "t1", "Approve")))
	require.True(t, (<-asked).d.Approved)
}

// Whoever was told Applied has decided, however close the deadline was.
func TestDeadlineAgainstDecision(t *testing.T) {
	t.Parallel()
	a := &Approvals{}
	for i := range 200 {
		ctx, end := context.WithCancel(t.Context())
		c := make(chan answer, 1)
		go func() {
			d, err := a.Ask(ctx, headless.Question{CallID: "t1", Once: true})
			c <- settled(d, err, nil)
		}()
		go end()
		said := a.Deliver(t.Context(), schema.Intervention{ID: fmt.Sprint("i", i), Kind: schema.InterventionKind{
			Kind: schema.PrimitiveRespond, CallID: "t1", Decision: &schema.Decision{Decision: schema.DecisionApprove},
		}})
		got := <-c
		require.Equal(t, said == schema.Applied(), got.err == nil, said)
		require.Equal(t, got.err == nil, got.d.Approved)
	}
	require.Empty(t, a.waiting)
}
