package interop

import (
	"context"
	"encoding/json"
	"os/user"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// key is the transcript of the conversation in which that was said, once it is there.
func (p *tap) key(t *testing.T, words string) string {
	t.Helper()
	var found string
	require.Eventually(t, func() bool {
		for _, line := range p.command(t, "ls", "--json") {
			var l listed
			if json.Unmarshal([]byte(line), &l) == nil && !l.Empty && strings.Contains(strings.Join(p.command(t, "show", l.Key, "--json"), "\n"), words) {
				found = l.Key
			}
		}
		return found != ""
	}, patience, 50*time.Millisecond)
	return found
}

// A cancel during a streaming answer ends the task of a real peer, and a message answers what it has asked, in every
// form; the client sees what it would have seen, had it done that itself.
func TestInterventionsReachEveryPeer(t *testing.T) {
	me, err := user.Current()
	require.NoError(t, err)
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := f.server(t, options{})
			p := startTap(t, s.url)
			over := p.start(t, []string{"up", "--listen", "off"}, p.said, func(line string) bool { return strings.HasPrefix(line, "steno up: data in ") })
			var said, ended []heard
			f.talk(t, s, p.url, false, func(ctx context.Context, client peer) []heard {
				said = client.stream(ctx, ask{text: "orders hold", message: "m-hold"}, func(h heard) bool {
					if h.task != "" && h.state == "" { // the first piece of its answer
						p.command(t, "cancel", p.key(t, "orders hold"))
					}
					return false
				})
				asked := client.send(ctx, ask{text: "orders input", message: "m-input"})
				p.command(t, "inject", p.key(t, "orders input"), "orders happy")
				require.Eventually(t, func() bool {
					ended = client.get(ctx, asked[0].task)
					return ended[0].state == completed
				}, patience, 20*time.Millisecond)
				return nil
			})
			require.Equal(t, canceled, said[len(said)-1].state, "the stream's last word")
			over()
			p.hasTold(t, []transcript{
				{`User answer "orders hold" revision 0`, `note "cancel by ` + me.Username + `"`, looking, `Assistant answer "Seven <b>open</b> orders" revision 0`, `stop Cancelled ""`},
				append(transcript{`User answer "orders input" revision 0`, looking, `Assistant answer "Which branch?" revision 0`,
					`note "interrupted: input-required"`, `User answer "orders happy" revision 0`}, happily...),
			})
		})
	}
}
