package intervene

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/headless"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
)

var capture = schema.Identity{Namespace: "default", Workflow: "mill", Run: "r-1", Attempt: 1}

type line struct {
	t    *testing.T
	conn *nats.Conn
	a    *Approvals
}

func listen(t *testing.T) *line {
	t.Helper()
	conn, err := nats.Connect(natstest.Start(t).URL())
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	a, err := Listen(conn, capture)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return &line{t, conn, a}
}

func (l *line) say(command string) string {
	l.t.Helper()
	m, err := l.conn.Request("steno.intervene.default.mill.r-1.0.1", []byte(command), 20*time.Second)
	require.NoError(l.t, err)
	return string(m.Data)
}

func approve(id, call, decision string) string {
	return fmt.Sprintf(`{"id":%q,"issued_by":"miller","kind":{"kind":"RespondToApproval","call_id":%q,"decision":{"decision":%q},"note":"so"}}`, id, call, decision)
}

type answer struct {
	d   headless.Decision
	err error
}

// ask has a question waiting before it returns.
func (l *line) ask(ctx context.Context, q headless.Question) <-chan answer {
	l.t.Helper()
	count := func() (n int) {
		l.a.mu.Lock()
		defer l.a.mu.Unlock()
		for _, list := range l.a.waiting {
			n += len(list)
		}
		return n
	}
	before := count()
	c := make(chan answer, 1)
	go func() {
		d, err := l.a.Ask(ctx, q)
		c <- answer{d, err}
	}()
	require.Eventually(l.t, func() bool { return count() > before }, 20*time.Second, time.Millisecond)
	return c
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	l := listen(t)
	require.Equal(t, `{"outcome":"StaleTarget","detail":"no tool call \"t1\" waits for an approval"}`, l.say(approve("1", "t1", "Approve")))

	asked := l.ask(t.Context(), headless.Question{Request: "7", CallID: "t1"})
	require.Equal(t, `{"outcome":"StaleTarget","detail":"no tool call \"t1\" waits for an approval"}`, l.say(approve("1", "t1", "Approve")),
		"a repeated id gets the first outcome, and does nothing")
	require.Equal(t, `{"outcome":"Applied"}`, l.say(approve("2", "t1", "Approve")))
	require.Equal(t, answer{d: headless.Decision{Approved: true, By: "miller", Note: "so", Intervention: "2"}}, <-asked)
	require.Equal(t, `{"outcome":"Applied"}`, l.say(approve("2", "t1", "Approve")))

	asked = l.ask(t.Context(), headless.Question{Request: `"q"`}) // it names no tool call
	require.Equal(t, `{"outcome":"Applied"}`, l.say(approve("3", `"q"`, "Deny")))
	require.Equal(t, answer{d: headless.Decision{By: "miller", Note: "so", Intervention: "3"}}, <-asked)

	for _, kind := range []string{"Cancel", "InjectMessage", "PauseResume", "UpdateBudget"} {
		require.Equal(t, `{"outcome":"CapabilityNotSupported","primitive":{"primitive":"`+kind+`"}}`, l.say(`{"id":"`+kind+`","kind":{"kind":"`+kind+`"}}`))
	}
	for _, bad := range []string{
		"", "[]", `{"id":"9"}`, approve("a b", "t1", "Approve"), approve("9", "t1", "Perhaps"), `{"id":"9","kind":{"kind":"Burn"}}`,
		approve("9", strings.Repeat("x", maxCommand), "Approve"),
	} {
		require.Contains(t, l.say(bad), `{"error":"read intervention: `)
	}
}

// Of two questions about one tool call the older one is answered first; one that has gone is none.
func TestQuestionsInTheirOrder(t *testing.T) {
	t.Parallel()
	l := listen(t)
	ctx, leave := context.WithCancel(t.Context())
	first := l.ask(ctx, headless.Question{CallID: "t1"})
	second := l.ask(t.Context(), headless.Question{CallID: "t1"})
	third := l.ask(t.Context(), headless.Question{CallID: "t1"})
	leave()
	require.ErrorIs(t, (<-first).err, context.Canceled)
	require.Equal(t, `{"outcome":"Applied"}`, l.say(approve("1", "t1", "Approve")))
	require.Equal(t, `{"outcome":"Applied"}`, l.say(approve("2", "t1", "Deny")))
	require.True(t, (<-second).d.Approved)
	require.False(t, (<-third).d.Approved)
	require.Empty(t, l.a.waiting)
}

// Whoever was told Applied has decided, however close the deadline was.
func TestDeadlineAgainstDecision(t *testing.T) {
	t.Parallel()
	a := &Approvals{waiting: map[string][]question{}, answered: map[string][]byte{}}
	for i := range 200 {
		ctx, end := context.WithCancel(t.Context())
		c := make(chan answer, 1)
		go func() {
			d, err := a.Ask(ctx, headless.Question{CallID: "t1"})
			c <- answer{d, err}
		}()
		go end()
		var command command
		command.ID, command.Kind.Kind, command.Kind.CallID = fmt.Sprint("i", i), respond, "t1"
		command.Kind.Decision.Decision = "Approve"
		said := string(a.apply(command))
		got := <-c
		require.Equal(t, strings.Contains(said, "Applied"), got.err == nil, said)
		require.Equal(t, got.err == nil, got.d.Approved)
	}
	require.Empty(t, a.waiting)
}

func TestOutcomesAreForgottenInTheEnd(t *testing.T) {
	t.Parallel()
	a := &Approvals{waiting: map[string][]question{}, answered: map[string][]byte{}}
	for i := range maxAnswered + 10 {
		var c command
		c.ID, c.Kind.Kind = fmt.Sprint(i), "Cancel"
		a.apply(c)
	}
	require.Len(t, a.answered, maxAnswered)
	require.Contains(t, a.answered, fmt.Sprint(maxAnswered+9))
}
