package interop

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// Notifications reach the client's webhook as the agent sent them, and no secret is recorded.
func TestNotificationsAreTheSameWithTheProxy(t *testing.T) {
	const token, credentials = "interop-token-7f3a", "interop-credentials-91bc"
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := f.server(t, options{push: true})
			p := startTap(t, s.url, "--push-listen", "127.0.0.1:0")
			posts := &arrivals{}
			hooks := serve(t, posts.before(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {})))
			speak := func(ctx context.Context, client peer) []heard {
				said := client.send(ctx, ask{
					text: "orders happy", message: "m-push",
					push: &hook{hooks + "/hooks/orders?of=mine", token, credentials},
				})
				return append(said, client.pushConfig(ctx, said[0].task)...)
			}
			direct := f.talk(t, s, s.url, false, speak)
			without := posts.count()
			proxied := f.talk(t, s, p.url, false, speak)
			hears(t, s, p, direct, proxied)
			// The agent posts before it says that the task is done.
			require.Equal(t, 8, without)
			for _, post := range posts.since(0) {
				require.Contains(t, post.request.header.Get("Authorization"), credentials)
			}
			bare, tapped := newMask(), newMask()
			require.Equal(t, bare.exchanges(posts.since(0)[:without]), tapped.exchanges(posts.since(without)))
			want := f.told(scenario{name: "happy", want: happily}, false)
			if f.name == "v0.3 REST" { // where the SDK's own answer encodes the bytes in base64 twice, they are others than the push's
				want = append(want, "part raw")
			}
			p.hasTold(t, []transcript{want})
			p.keepsSecret(t, token, credentials)
		})
	}
}
