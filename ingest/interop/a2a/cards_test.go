package interop

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A card that comes through the proxy leads back to the proxy, and so does the extended one.
func TestCardsLeadThroughTheProxy(t *testing.T) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := f.server(t, options{})
			p := startTap(t, s.url)
			speak := func(ctx context.Context, client peer) []heard {
				return append(client.extendedCard(ctx), client.send(ctx, ask{text: "orders happy", message: "m-card"})...)
			}
			direct, proxied := f.talk(t, s, s.url, false, speak), f.talk(t, s, p.url, false, speak)
			same(t, s, p, direct, proxied)
			require.Len(t, proxied.exchanges, 3)
			for i, x := range proxied.exchanges {
				require.Contains(t, x.request.line, " "+p.url+"/")
				if i < 2 { // the two cards
					require.Contains(t, x.answered.String(), p.url)
					require.NotContains(t, x.answered.String(), strings.TrimPrefix(s.url, "http://"))
				}
			}
			p.hasTold(t, []transcript{f.told(scenario{name: "happy", want: happily}, false)})
		})
	}
}
