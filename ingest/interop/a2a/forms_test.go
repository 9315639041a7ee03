package interop

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every scenario in every form: with the proxy as without it, and with the transcript that it should have.
func TestEveryFormIsTheSameWithTheProxy(t *testing.T) {
	for _, f := range forms {
		for _, streaming := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/streaming=%v", f.name, streaming), func(t *testing.T) {
				t.Parallel()
				plain, alive := f.server(t, options{}), f.server(t, options{alive: streaming})
				at := map[*server]string{plain: standIn(t, plain.url), alive: standIn(t, alive.url)}
				for _, s := range scenarios {
					peer, leaves := plain, streaming && s.until != ""
					if s.name == "slow" {
						peer = alive
					}
					direct := f.talk(t, peer, peer.url, leaves, s.speak(streaming))
					proxied := f.talk(t, peer, at[peer], leaves, s.speak(streaming))
					if peer.alive {
						require.Positive(t, direct.calm(), "keep-alives without the proxy")
						require.Positive(t, proxied.calm(), "keep-alives with the proxy")
					}
					same(t, peer, at[peer], direct, proxied)
				}
			})
		}
	}
}
