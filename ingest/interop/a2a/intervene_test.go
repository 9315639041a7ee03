package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"os/user"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shown is the transcript in which all that is said, once it is there: its key, and its events.
func (p *tap) shown(t *testing.T, words ...string) (key string, events []string) {
	t.Helper()
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		for _, line := range p.command(t, "ls", "--json") {
			var l listed
			if line == "" || json.Unmarshal([]byte(line), &l) != nil || l.Empty {
				continue
			}
			events = p.command(t, "show", l.Key, "--json")
			text := strings.Join(events, "\n")
			if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) }) {
				return l.Key, events
			}
		}
		require.True(t, time.Now().Before(until), "nobody has said %q", words)
	}
}

// A cancel during a streaming answer ends the task of a real peer, and a message answers what it has asked, in every
// wire form; the client sees what it would have seen, had it done that itself.
func TestInterventionsReachEveryPeer(t *testing.T) {
	me, err := user.Current()
	require.NoError(t, err)
	for _, f := range forms {
		if strings.Contains(f.name, "new") { // the same wire
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := f.server(t, options{})
			p := startTap(t, s.url)
			p.start(t, []string{"up", "--listen", "off"}, &bytes.Buffer{}, func(line string) bool { return strings.HasPrefix(line, "steno up: data in ") })
			var said, ended []heard
			f.talk(t, s, p.url, false, func(ctx context.Context, client peer) []heard {
				said = client.stream(ctx, ask{text: "orders hold", message: "m-hold"}, func(h heard) bool {
					if h.task != "" && h.state == "" { // the first piece of its answer
						key, _ := p.shown(t, "orders hold")
						p.command(t, "cancel", key)
					}
					return false
				})
				asked := client.send(ctx, ask{text: "orders input", message: "m-input"})
				key, _ := p.shown(t, "orders input", "input-required")
				p.command(t, "inject", key, "orders happy")
				require.Eventually(t, func() bool {
					ended = client.get(ctx, asked[0].task)
					return ended[0].state == completed
				}, patience, 20*time.Millisecond)
				return nil
			})
			require.Equal(t, canceled, said[len(said)-1].state, "the stream's last word")
			_, holds := p.shown(t, "orders hold", `"stop":"Cancelled"`)
			_, input := p.shown(t, "orders input", `"stop":"EndTurn"`)
			require.Equal(t, transcript{
				`User answer "orders hold" revision 0`, `note "cancel by ` + me.Username + `"`, looking, `Assistant answer "Seven <b>open</b> orders" revision 0`, `stop Cancelled ""`,
			}, read(t, holds))
			got := slices.DeleteFunc(read(t, input), func(line string) bool {
				return line == `note "resumed: working"` // who asks in between hears of it, who asks later does not
			})
			require.Equal(t, append(transcript{
				`User answer "orders input" revision 0`, looking, `Assistant answer "Which branch?" revision 0`,
				`note "interrupted: input-required"`, `note "inject_message by ` + me.Username + `"`, `User answer "orders happy" revision 0`,
			}, happily...), got)
			require.Contains(t, strings.Join(p.command(t, "verify"), "\n"), " 0 unaccounted")
		})
	}
}
