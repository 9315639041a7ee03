package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/wire/a2a"
)

func TestWhatIsRememberedOfTasks(t *testing.T) {
	t.Parallel()
	var all tasks
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	sends, reads := &way{sends: true, tenant: "sends"}, &way{tenant: "reads"}
	hear := func(task string, state a2a.State, w *way, began time.Time) {
		now = now.Add(time.Second)
		all.hear(word{task: task, context: "c", state: state}, w, began, now)
	}
	hear("pushed", a2a.Working, nil, now)
	hear("over", a2a.Completed, sends, now)
	hear(strings.Repeat("x", maxTaskID+1), a2a.Working, sends, now)
	require.Empty(t, all.all(now), "how it is called is not known, or nothing is to be done there")

	hear("t", a2a.Working, reads, now)
	require.Equal(t, reads, all.called("t"))
	hear("t", a2a.InputRequired, sends, now)
	hear("t", "", reads, now)
	require.Equal(t, sends, all.called("t"), "who may only read does not take the place of who speaks")
	require.Equal(t, []Task{{"t", "c", true}}, all.all(now))
	hear("t", a2a.Completed, nil, now)
	require.Nil(t, all.called("t"), "credentials are forgotten at the end")
	require.Equal(t, []Task{{"t", "c", false}}, all.all(now))
	hear("t", a2a.Working, sends, now.Add(-time.Minute))
	hear("t", a2a.Working, reads, now)
	require.Nil(t, all.called("t"), "that was late, and this is only asking")
	hear("t", a2a.Working, sends, now.Add(time.Second))
	require.NotNil(t, all.called("t"))

	for n := range maxTasks + 10 {
		hear(fmt.Sprint("short-", n), a2a.Working, sends, now)
		hear("t", "", nil, now)
		hear(fmt.Sprint("short-", n), a2a.Completed, nil, now)
	}
	require.NotNil(t, all.called("t"), "those that end leave those that go on")
	require.LessOrEqual(t, all.ended.Len(), maxTasks)
	for n := range maxTasks + 10 {
		all.hear(word{task: fmt.Sprint("long-", n)}, sends, now, now)
	}
	require.Nil(t, all.called("t"), "the one of which nothing was heard for the longest")
	require.Equal(t, maxTasks, all.open.Len())
	require.Len(t, all.by, all.open.Len()+all.ended.Len())
	require.Len(t, all.all(now.Add(endedFor+time.Second)), maxTasks)
	require.Empty(t, all.all(now.Add(openFor+time.Second)))
	require.Empty(t, all.by)
}

func TestHeadersThatAreKept(t *testing.T) {
	t.Parallel()
	h := http.Header{"Authorization": {"Bearer x"}, "X-Own": {"1"}, "Content-Length": {"3"}, "If-Match": {"x"}, "X-Forwarded-For": {"x"}, "Range": {"x"}}
	require.Equal(t, http.Header{"Authorization": {"Bearer x"}, "X-Own": {"1"}}, keptHeaders(h))
	h.Set("X-Own", strings.Repeat("x", maxKept))
	require.Nil(t, keptHeaders(h))
	require.Len(t, h, 6, "the request's own stay")
}

// A task that is called at great length is not remembered: neither in part, nor by as many bytes as its client likes.
func TestWaysThatAreTooLong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxKept+1)
	require.Len(t, readTenant([]byte(`{"params":{"tenant":"`+long+long+`"}}`)), maxKept+1)
	for name, c := range map[string]struct{ path, tenant string }{
		"its tenant": {"/", long}, "its query": {"/?x=" + long, ""}, "its path": {"/" + long, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, b := startMill(t), newBook(t)
			p := start(t, b, m.URL)
			converse(t, p, c.path, strings.ReplaceAll(sending, "oats", c.tenant))
			require.Empty(t, p.Tasks())
		})
	}
}

// What an answer says of its task is found in each form in which it comes, however it is cut.
func TestWhatIsSeenOfTasks(t *testing.T) {
	const (
		task = `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t-1","contextId":"c-1","status":{"state":"STATE"}}}`
		old  = `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"m","parts":[]}}}`
	)
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter)
		open   []bool
	}{
		"an answer": {func(w http.ResponseWriter) { fmt.Fprint(w, strings.ReplaceAll(task, "STATE", "working")) }, []bool{true}},
		"an end":    {func(w http.ResponseWriter) { fmt.Fprint(w, strings.ReplaceAll(task, "STATE", "completed")) }, nil},
		"a stream, in pieces": {func(w http.ResponseWriter) {
			send := stream(w)
			for _, c := range "data: " + strings.ReplaceAll(task, "STATE", "working") + "\n\n: alive\n\ndata: x\n\n" {
				_ = send(string(c))
			}
		}, []bool{true}},
		"a stream to its end": {func(w http.ResponseWriter) {
			_ = stream(w)("data: " + strings.ReplaceAll(task, "STATE", "working") + "\n\ndata: " + strings.ReplaceAll(task, "STATE", "failed") + "\n\n")
		}, []bool{false}},
		"too long a stream's item": {func(w http.ResponseWriter) {
			send := stream(w)
			_ = send("data: " + strings.Repeat("x", maxWatched+1) + "\n\n")
			_ = send("data: " + strings.ReplaceAll(task, "STATE", "working") + "\n\n")
		}, []bool{true}},
		"too long an answer": {func(w http.ResponseWriter) {
			fmt.Fprint(w, strings.ReplaceAll(task, "STATE", "working")+strings.Repeat(" ", maxWatched))
		}, nil},
		"a message": {func(w http.ResponseWriter) {
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{"kind":"message","taskId":"t-1","metadata":{"state":1},"parts":[]}}`)
		}, nil},
		"an error": {func(w http.ResponseWriter) {
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"data":{"state":"t-1"}}}`)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peer := upstream(t, func(w http.ResponseWriter, _ *http.Request) { c.answer(w) })
			b := newBook(t)
			p := start(t, b, peer.URL)
			ask(t, client(t, false), newRequest(t, "POST", p.url, old))
			b.only(t)
			var open []bool
			for _, task := range p.Tasks() {
				require.Equal(t, "t-1", task.ID)
				open = append(open, task.Open)
			}
			require.Equal(t, c.open, open)
		})
	}
}
