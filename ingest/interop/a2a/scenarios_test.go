package interop

import (
	"context"
	"fmt"
)

// scenario is what is said, and the transcript that must come of it.
type scenario struct {
	name  string
	texts []string // each goes on with the task of the one before
	until string   // the state in which a client stops listening to a stream; none: it listens to the end
	want  []string
}

var looking = `note "Looking at the order list"`

// happily is how a task goes that is carried out.
var happily = []string{
	looking, `Assistant answer "Seven <b>open</b> orders in Łódź." revision 0`,
	"part data", "part raw", "part url", `stop EndTurn ""`,
}

var scenarios = []scenario{
	{name: "happy", want: happily},
	{name: "auth", until: authRequired, want: []string{looking, `Assistant answer "Sign in first" revision 0`, `note "interrupted: auth-required"`}},
	{name: "input", want: []string{looking, `Assistant answer "Which branch?" revision 0`, `note "interrupted: input-required"`}},
	{name: "reject", want: []string{looking, `Assistant answer "Out of scope" revision 0`, `stop Other "rejected"`}},
	{name: "message-only", want: []string{`Assistant answer "Only a message." revision 0`, `stop EndTurn ""`}},
	{name: "fail", want: []string{looking, `Assistant answer "Upstream said no" revision 0`, `stop Error "Upstream said no"`}},
	{name: "slow", want: happily},
	{name: "no-task-first"},
	{name: "boom", want: []string{`stop Error ""`}},
	{name: "follow-up", texts: []string{"orders input", "orders happy"}},
}

// says gives the words of a scenario.
func (s scenario) says() []string {
	if s.texts == nil {
		return []string{"orders " + s.name}
	}
	return s.texts
}

// speak says the words of a scenario, each once the one before is answered.
func (s scenario) speak(streaming bool) func(ctx context.Context, p peer) []heard {
	enough := never
	if s.until != "" {
		enough = in(s.until)
	}
	return func(ctx context.Context, p peer) (all []heard) {
		a := ask{}
		for i, text := range s.says() {
			a.text, a.message = text, fmt.Sprintf("m-%s-%d", s.name, i+1)
			var said []heard
			if streaming {
				said = p.stream(ctx, a, enough)
			} else {
				said = p.send(ctx, a)
			}
			for _, h := range said {
				a.task, a.context = h.task, h.context
			}
			all = append(all, said...)
		}
		return all
	}
}
