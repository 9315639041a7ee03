package interop

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A client that goes away in the middle of a stream is gone for the server, too; the task goes on, and
// whoever asks for it later hears how it ended.
func TestAClientThatLeavesIsGoneForTheServer(t *testing.T) {
	begun := func(h heard) bool { return h.task != "" && h.state == "" }
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := f.server(t, options{})
			p := startTap(t, s.url)
			leave := func(url string) (left, later talk) {
				left = f.talk(t, s, url, true, func(ctx context.Context, client peer) []heard {
					return client.stream(ctx, ask{text: "orders hold", message: "m-hold"}, begun)
				})
				select {
				case <-left.arrived[1].done:
				case <-time.After(patience):
					t.Fatal("the server still writes to a client that has left")
				}
				task := left.heard[len(left.heard)-1].task
				s.resume <- struct{}{}
				f.talk(t, s, s.url, false, func(ctx context.Context, client peer) (said []heard) {
					require.Eventually(t, func() bool {
						said = client.get(ctx, task)
						return said[0].state == completed
					}, patience, 5*time.Millisecond)
					return said
				})
				return left, f.talk(t, s, url, false, func(ctx context.Context, client peer) []heard { return client.get(ctx, task) })
			}
			left, later := leave(s.url)
			leftProxy, laterProxy := leave(p.url)
			same(t, s, p, left, leftProxy)
			same(t, s, p, later, laterProxy)
			require.Equal(t, completed, laterProxy.heard[1].state)
			p.hasTold(t, []transcript{{
				`User answer "orders hold" revision 0`, looking, `Assistant answer "Seven <b>open</b> orders" revision 0`,
				`note "stream ended without a terminal state: client went away"`,
				`Assistant answer "Seven <b>open</b> orders in Łódź." revision 2`,
				"part data", "part raw", "part url", `stop EndTurn ""`,
			}})
		})
	}
}
