package a2a

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/translatetest"
)

// statuses folds frames and gives the status behind each. A status that changes is told only by a frame
// that has a durable event, since it travels with one; only a task that goes on after it had broken off may
// be told of by the next.
func statuses(t testing.TB, frames []schema.Frame) (all []schema.Status) {
	t.Helper()
	fold, last := Translator{}.Fold(testIdentity), schema.StatusOpen
	for i := range frames {
		durable := false
		for _, e := range fold.Step(nil, &frames[i]) {
			durable = durable || !e.Ephemeral
		}
		now := fold.About(0).Status
		require.True(t, durable || now == last || last == schema.StatusAbandoned && now == schema.StatusOpen, "frame %d: %s becomes %s without a durable event", i+1, last, now)
		all, last = append(all, now), now
	}
	return all
}

func TestHowAConversationStands(t *testing.T) {
	const open, ended, abandoned = schema.StatusOpen, schema.StatusEnded, schema.StatusAbandoned
	died := `{"reason":"writer died","exchange":"e1"}`
	get := `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`
	bye := `{"message":{"messageId":"m","role":"agent","parts":[{"text":"Bye"}]}}`
	begin := "o - " + `{"protocol":"a2a"}`
	for name, c := range map[string]struct {
		lines []string
		died  bool // the last close is that of a dead writer
		want  []schema.Status
	}{
		"nothing yet":              {[]string{begin}, false, []schema.Status{open}},
		"a task that completes":    {[]string{begin, "> e1 " + asks("m", "x"), "~ e1 " + standing("working", ""), "~ e1 " + standing("completed", ""), "x e1"}, false, []schema.Status{open, open, open, open, ended}},
		"an answer is not its end": {[]string{"> e1 " + asks("m", "x"), "< e1 " + standing("completed", ""), "x e1"}, false, []schema.Status{open, open, ended}},
		"a stream that broke off":  {[]string{"> e1 " + asks("m", "x"), "~ e1 " + standing("working", ""), "x e1"}, false, []schema.Status{open, open, abandoned}},
		"a stream that waits":      {[]string{"> e1 " + asks("m", "x"), "~ e1 " + standing("auth-required", ""), "x e1"}, false, []schema.Status{open, open, open}},
		"a poll goes on":           {[]string{"> e1 " + asks("m", "x"), "< e1 " + standing("working", ""), "x e1", "> e2 " + get, "< e2 " + standing("working", ""), "x e2"}, false, []schema.Status{open, open, open, open, open, open}},
		"taken up by a poll": {
			[]string{"> e1 " + asks("m", "x"), "~ e1 " + standing("working", ""), "x e1", "> e2 " + get, "< e2 " + standing("working", ""), "x e2"},
			false, []schema.Status{open, open, abandoned, open, open, open},
		},
		"asked after in vain": {
			[]string{"> e1 " + asks("m", "x"), "~ e1 " + standing("working", ""), "x e1", "> e2 " + get, `< e2 {"error":{"code":-32001,"message":"no"}}`, "x e2"},
			false, []schema.Status{open, open, abandoned, open, open, abandoned},
		},
		"broke off and stopped since": {
			[]string{"> e1 " + asks("m", "x"), "~ e1 " + standing("working", ""), "x e1", "! p1 " + standing("completed", ""), "x p1"},
			false, []schema.Status{open, open, abandoned, open, ended},
		},
		"one of two streams broke off": {
			[]string{"> e1 " + asks("m", "x"), "~ e1 " + standing("working", ""), "> e2 " + get, "~ e2 " + standing("working", ""), "x e1", "x e2"},
			false, []schema.Status{open, open, open, open, open, abandoned},
		},
		"another task waits": {
			[]string{"> e1 " + asks("m", "x"), "~ e1 " + standing("working", ""), "x e1", "> e2 " + asks("n", "y"), "~ e2 " + anotherStanding("u", "input-required"), "x e2", "> e3 " + asks("o", "z"), "~ e3 " + anotherStanding("u", "completed"), "x e3"},
			false, []schema.Status{open, open, abandoned, open, open, open, open, open, abandoned},
		},
		"waits, and the tap died in a card": {
			[]string{"> e0 " + asks("m", "x"), "~ e0 " + standing("input-required", ""), "x e0", "> e1 ", "x e1"}, true, []schema.Status{open, open, open, open, open},
		},
		"a task that waits, and a follow-up": {
			[]string{"> e1 " + asks("m", "x"), "~ e1 " + standing("input-required", ""), "x e1", "> e2 " + asks("n", "y"), "~ e2 " + standing("completed", ""), "x e2", "> e3 " + asks("o", "z"), "~ e3 " + standing("completed", ""), "x e3"},
			false, []schema.Status{open, open, open, open, open, ended, open, open, ended},
		},
		"a poll ends it": {
			[]string{"> e1 " + asks("m", "x"), "< e1 " + standing("working", ""), "x e1", "> e2 " + get, "< e2 " + standing("completed", ""), "x e2"},
			false, []schema.Status{open, open, open, open, open, ended},
		},
		"two exchanges": {
			[]string{"> e1 " + asks("m", "x"), "> e2 " + get, "~ e1 " + standing("completed", ""), "x e1", "< e2 " + standing("completed", ""), "x e2"},
			false, []schema.Status{open, open, open, open, open, ended},
		},
		"a message alone":           {[]string{"> e1 " + sends, "~ e1 " + bye, "x e1"}, false, []schema.Status{open, open, ended}},
		"an error":                  {[]string{"> e1 " + sends, `< e1 {"error":{"code":1,"message":"no"}}`, "x e1"}, false, []schema.Status{open, open, ended}},
		"a task asked after":        {[]string{"> e1 " + get, `< e1 {"error":{"code":-32001,"message":"no"}}`, "x e1"}, false, []schema.Status{open, open, ended}},
		"a card":                    {[]string{begin, "# e1 {}"}, false, []schema.Status{open, ended}},
		"a card that was asked for": {[]string{"> e1 ", "# e1 {}", "x e1", "> e2 " + get}, false, []schema.Status{open, open, ended, open}},
		"a list":                    {[]string{`> e1 {"jsonrpc":"2.0","id":1,"method":"ListTasks"}`, `< e1 {"jsonrpc":"2.0","id":1,"result":{"tasks":[]}}`, "x e1"}, false, []schema.Status{open, open, ended}},
		"pushes":                    {[]string{"! p1 " + standing("working", ""), "x p1", "! p2 " + standing("completed", ""), "x p2"}, false, []schema.Status{open, open, open, ended}},
		"a chunk comes late": {
			[]string{"> e1 " + asks("m", "x"), "~ e1 " + standing("completed", ""), "x e1", "~ e1 " + chunk("a", "late", ""), "x e1"},
			false, []schema.Status{open, open, ended, open, ended},
		},
		"a push of another task's": {
			[]string{"# c {}", "! p1 " + chunk("a", "new", ""), "x p1"}, false, []schema.Status{ended, open, open},
		},
		"died in a task":            {[]string{"> e1 " + asks("m", "x"), "~ e1 " + standing("working", ""), "x e1"}, true, []schema.Status{open, open, abandoned}},
		"died before any answer":    {[]string{"> e1 " + sends, "x e1"}, true, []schema.Status{open, abandoned}},
		"died behind the stop":      {[]string{"> e1 " + asks("m", "x"), "~ e1 " + standing("completed", ""), "x e1"}, true, []schema.Status{open, open, ended}},
		"died, and others go on":    {[]string{"> e2 " + asks("m", "x"), "~ e2 " + standing("working", ""), "> e1 " + get, "x e1"}, true, []schema.Status{open, open, open, open}},
		"the capture closes":        {[]string{"> e1 " + asks("m", "x"), "~ e1 " + standing("working", ""), "X -"}, false, []schema.Status{open, open, ended}},
		"the capture closes first":  {[]string{"> e1 " + sends, "X -", "x e1", "> e2 " + get, "x e2"}, false, []schema.Status{open, ended, ended, open, ended}},
		"the capture's writer died": {[]string{"> e1 " + sends, "X -"}, true, []schema.Status{open, abandoned}},
	} {
		t.Run(name, func(t *testing.T) {
			frames := talk(c.lines...)
			if last := &frames[len(frames)-1]; c.died && last.Exchange == "" {
				last.Data = []byte(`{"reason":"writer died"}`)
			} else if c.died {
				last.Data = []byte(died)
			}
			translatetest.Properties(t, Translator{}, frames)
			require.Equal(t, c.want, statuses(t, frames))
		})
	}
}

// anotherStanding is a status of another task.
func anotherStanding(task, state string) string {
	return `{"statusUpdate":{"taskId":"` + task + `","contextId":"c","status":{"state":"` + state + `"}}}`
}

func TestAnExchangeThatTheTapCouldNotEnd(t *testing.T) {
	frames := talk("> e1 "+asks("m", "x"), "< e1 "+standing("working", ""), "x e1", "> e2 "+asksTask("t"), "x e2", "> e3 "+asksTask("t"), "< e3 "+standing("working", ""), "x e3")
	frames[4].Data = []byte(`{"reason":"eof","exchange":"e2","error":"upstream: connection refused"}`)
	translatetest.Properties(t, Translator{}, frames)
	require.Equal(t, []schema.Status{"open", "open", "open", "open", "abandoned", "open", "open", "open"}, statuses(t, frames))
}

func asksTask(id string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"` + id + `"}}`
}

func TestWhatIsAbandonedReopens(t *testing.T) {
	frames := talk("> e1 "+asks("m", "x"), "~ e1 "+standing("working", ""), "x e1", "> e2 "+asks("n", "y"), "~ e2 "+standing("completed", ""), "x e2")
	frames[2].Data = []byte(`{"reason":"writer died","exchange":"e1"}`)
	require.Equal(t, []schema.Status{"open", "open", "abandoned", "open", "open", "ended"}, statuses(t, frames))
}

func TestWhatTheTapCouldNotDoIsSaid(t *testing.T) {
	fail := func(lines ...string) []string {
		frames := talk(lines...)
		frames[len(frames)-1].Data = []byte(`{"reason":"eof","exchange":"e1","error":"upstream: connection refused"}`)
		translatetest.Properties(t, Translator{}, frames)
		return durable(translatetest.Fold(Translator{}, frames))
	}
	require.Equal(t, []string{`stop Error "upstream: connection refused"`}, fail("> e1 "+sends, "x e1"))
	require.Equal(t, []string{`stop Error "upstream: connection refused"`}, fail("> e1 "+sends, `< e1 {"jsonrpc":"2.0","resu`, "x e1"), "an answer that broke off")
	require.Empty(t, fail(`> e1 {"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`, "x e1"))
	require.Equal(t, []string{`note "stream ended without a terminal state: upstream: connection refused"`}, fail("> e1 "+sends, "~ e1 "+standing("working", ""), "x e1"))
	require.Equal(t, []string{`Assistant answer "By" revision 0`},
		fail("> e1 "+sends, `~ e1 {"message":{"messageId":"m","role":"agent","parts":[{"text":"By"}]}}`, "x e1"), "a message that broke off is no end of turn")
	require.Equal(t, []string{`stop Error "502 Bad Gateway"`}, fail("> e1 "+sends, `< e1 {"error":{"code":502,"message":"Bad Gateway"}}`, "x e1"), "one Stop only")
	require.Equal(t, []string{`User answer "x" revision 0`, `note "interrupted: input-required"`, `User answer "y" revision 0`, `note "stream error upstream: connection refused"`},
		fail("> e0 "+asks("m", "x"), "~ e0 "+standing("input-required", ""), "x e0", "> e1 "+asks("n", "y"), "x e1"), "the task goes on")
}
