package interop

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A client of v0.3 talks to a server that speaks v1.0 alone, and hears what the new line's own layer for
// old clients would tell it.
func TestAnOldClientIsServedByANewServer(t *testing.T) {
	f := form{"served", v10server, dialV03, wrongRPC}
	for _, streaming := range []bool{false, true} {
		t.Run(fmt.Sprintf("streaming=%v", streaming), func(t *testing.T) {
			t.Parallel()
			both, pure := v10server(t, options{}), v10server(t, options{pure: true})
			p := startTap(t, pure.url, "--serve-v03")
			var told []transcript
			for _, s := range scenarios {
				leaves := streaming && s.until != ""
				layer := f.talk(t, both, both.url, leaves, s.speak(streaming))
				served := f.talk(t, pure, p.url, leaves, s.speak(streaming))
				// The first is the card: the layer's names an address of its own for v0.3.
				bare, tapped := newMask(), newMask()
				require.Equal(t, bare.heard(layer.heard[1:]), tapped.heard(served.heard[1:]), s.name)
				for _, x := range served.arrived[1:] {
					require.Equal(t, []string{"1.0"}, x.request.header["A2a-Version"], x.request.line)
				}
				told = append(told, f.told(s, streaming))
			}
			p.hasTold(t, told)
		})
	}
}
