package publish

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// An append is stored and its answer lost, or it is not stored, and before its writer hears of that
// another one has appended behind it.
func TestAnotherAppendBetweenAnAppendAndItsAnswer(t *testing.T) {
	for name, lost := range map[string]bool{"answer lost": true, "refused": false} {
		for _, batchFrom := range []int{1000, 2} {
			t.Run(name, func(t *testing.T) {
				r := newRig(t)
				a := r.appender(t, "a", func(o *AppenderOptions) { o.BatchFrom = batchFrom })
				b := r.appender(t, "b")
				others, calls := frames(3), 0
				a.store = func(ctx context.Context, m []*nats.Msg) (uint64, error) {
					if calls++; calls != 2 {
						return a.publish(ctx, m)
					}
					if lost {
						_, err := a.publish(ctx, m)
						require.NoError(t, err)
					}
					require.NoError(t, b.Append(deadline(t), others))
					return 0, context.DeadlineExceeded
				}
				in := frames(12)
				for from := 0; from < len(in); from += 4 {
					require.NoError(t, a.Append(deadline(t), in[from:from+4]))
				}
				var own, foreign []string
				for _, text := range texts(r.stored(t, capture)) { // it checks number order and chain
					if text[0] == 'a' {
						own = append(own, text)
					} else {
						foreign = append(foreign, text)
					}
				}
				require.Equal(t, numbers("a", 12), own)
				require.Equal(t, numbers("b", 3), foreign)
				require.NoError(t, b.Append(deadline(t), frames(3)), "nothing is left to append")
				require.Len(t, r.stored(t, capture), 15)
			})
		}
	}
}
