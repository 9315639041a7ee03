package interop

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// cancels listens to a task until its answer begins, cancels it, and then what is over already.
func cancels(ctx context.Context, p peer) []heard {
	var answers []heard
	said := p.stream(ctx, ask{text: "orders hold", message: "m-hold"}, func(h heard) bool {
		if h.task != "" && h.state == "" { // the first piece of its answer
			answers = p.cancel(ctx, h.task)
		}
		return false
	})
	over := p.send(ctx, ask{text: "orders happy", message: "m-over"})
	answers = append(answers, p.cancel(ctx, over[0].task)...)
	return append(append(append(said, over...), answers...), p.get(ctx, "no-such-task")...)
}

func TestCancelIsTheSameWithTheProxy(t *testing.T) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := f.server(t, options{})
			p := startTap(t, s.url)
			direct, proxied := f.talk(t, s, s.url, false, cancels), f.talk(t, s, p.url, false, cancels)
			same(t, s, p, direct, proxied)
			require.Equal(t, canceled, proxied.heard[4].state, "the stream's last word")
			p.hasTold(t, []transcript{
				{`User answer "orders hold" revision 0`, looking, `Assistant answer "Seven <b>open</b> orders" revision 0`, `stop Cancelled ""`},
				f.told(scenario{name: "happy", want: happily}, false),
			})
		})
	}
}
