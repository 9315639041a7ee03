package stage_test

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/translate/stage"
)

// TestStraysHoldNobody puts messages on raw subjects that are no capture's: they stay stored, are counted,
// and the captures beside them go on.
func TestStraysHoldNobody(t *testing.T) {
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	home := tp.id.Partition(schema.Partitions)
	for _, subject := range []string{
		schema.RawPartition(home)[:len(schema.RawPartition(home))-1] + "nonsense",
		schema.RawPartition(home)[:len(schema.RawPartition(home))-1] + "default.words.run-1.00.1",
		schema.RawPartition(home + 1)[:len(schema.RawPartition(home+1))-1] + tp.id.Subject(), // another partition's
	} {
		_, err := s.JS.PublishMsg(bounded(t), &nats.Msg{Subject: subject, Data: []byte("x")})
		require.NoError(t, err)
	}
	tp.say(t, script...)
	w, _ := run(t, stage.Options{JS: s.JS})
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	for whole := bounded(t); ; { // the other partition may be later
		progress, err := w.Progress(whole)
		require.NoError(t, err)
		if progress.Strays == 3 {
			break
		}
	}
	check(t, s.JS, tp)
}
