package stage_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/translate/stage"
)

// between is a JetStream of which one publish of a record fails, and something happens before its
// worker hears of that.
type between struct {
	jetstream.JetStream
	at        int // which publish
	what      how
	meanwhile func()
	n         int // publishes so far
}

func (b *between) PublishMsg(ctx context.Context, msg *nats.Msg, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if !strings.HasPrefix(msg.Subject, "steno.event.") {
		return b.JetStream.PublishMsg(ctx, msg, opts...)
	}
	if b.n++; b.n != b.at {
		return b.JetStream.PublishMsg(ctx, msg, opts...)
	}
	if b.what == lost {
		if _, err := b.JetStream.PublishMsg(ctx, msg, opts...); err != nil {
			return nil, err
		}
	}
	b.meanwhile()
	return nil, errInjected
}

// A record is stored and its answer lost, or it is refused, and before its worker hears of that another
// one has stored the records behind it.
func TestAnotherRecordBetweenAnAppendAndItsAnswer(t *testing.T) {
	t.Parallel()
	for name, what := range map[string]how{"answer lost": lost, "refused": refused} {
		for at := 1; at <= 3; at++ {
			t.Run(name, func(t *testing.T) {
				s := natstest.Start(t)
				_, otherJS := s.Connect(t)
				tp := newTap(t, s.JS, identity(1))
				var mu sync.Mutex // the tap is one writer
				say := func(lines ...string) uint64 {
					mu.Lock()
					defer mu.Unlock()
					tp.say(t, lines...)
					return uint64(len(tp.frames))
				}
				js := &between{JetStream: s.JS, at: at, what: what, meanwhile: func() {
					other, stop := run(t, stage.Options{JS: otherJS, Partitions: alone(tp)})
					require.NoError(t, other.Committed(bounded(t), tp.id, say(script...)))
					stop()
				}}
				w, _ := run(t, stage.Options{JS: js, InFlight: 1, Partitions: alone(tp)})
				for range 3 {
					for _, line := range script {
						require.NoError(t, w.Committed(bounded(t), tp.id, say(line)))
					}
				}
				require.NoError(t, w.Committed(bounded(t), tp.id, say()))
				require.GreaterOrEqual(t, js.n, js.at, "nothing happened in between")
				progress, err := w.Progress(bounded(t))
				require.NoError(t, err)
				require.Zero(t, progress.Parked)
				check(t, s.JS, tp)
			})
		}
	}
}
