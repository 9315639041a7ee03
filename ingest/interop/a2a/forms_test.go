package interop

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every scenario in every form: with the proxy as without it, and with the transcript that it must have.
func TestEveryFormIsTheSameWithTheProxy(t *testing.T) {
	for _, f := range forms {
		for _, streaming := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/streaming=%v", f.name, streaming), func(t *testing.T) {
				t.Parallel()
				plain := f.server(t, options{})
				alive, taps := plain, map[*server]*tap{plain: startTap(t, plain.url)}
				if streaming {
					alive = f.server(t, options{alive: true})
					taps[alive] = startTap(t, alive.url)
				}
				told := map[*server][]transcript{}
				for _, s := range scenarios {
					peer, leaves := plain, streaming && s.until != ""
					if s.name == "slow" {
						peer = alive
					}
					direct := f.talk(t, peer, peer.url, leaves, s.speak(streaming))
					proxied := f.talk(t, peer, taps[peer].url, leaves, s.speak(streaming))
					if peer.alive {
						require.Positive(t, direct.calm(), "keep-alives without the proxy")
						require.Positive(t, proxied.calm(), "keep-alives with the proxy")
					}
					same(t, peer, taps[peer], direct, proxied)
					told[peer] = append(told[peer], f.told(s, streaming))
				}
				for peer, p := range taps {
					p.hasTold(t, told[peer])
				}
			})
		}
	}
}
