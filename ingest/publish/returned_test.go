package publish

import (
	"context"
	"errors"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// giveBack takes a capture's frames before the last one away, as the keeper does, and says what journals
// had stored by then.
func (r *rig) giveBack(t testing.TB, id schema.Identity, said topology.Returned) {
	t.Helper()
	there, err := topology.ReadReturned(deadline(t), r.JS, id)
	require.NoError(t, err)
	said.Revision = there.Revision
	require.NoError(t, topology.WriteReturned(deadline(t), r.JS, id, said))
	subject := schema.RawSubject(id, r.Info.Partitions)
	m, ok, err := topology.Last(deadline(t), r.JS, topology.Raw, subject)
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, topology.Purge(deadline(t), r.JS, topology.Raw, subject, m.Seq, func(topology.Message) error { return nil }))
}

// What a journal stored and was given back is not stored again, though only another journal's frame is left
// and no mark says anything: neither by a publisher that begins anew, nor by one that was away meanwhile.
func TestWhatWasGivenBackIsNotStoredAgain(t *testing.T) {
	for _, exclusive := range []bool{false, true} {
		r := newRig(t)
		change := func(o *AppenderOptions) { o.Exclusive = exclusive }
		require.NoError(t, r.appender(t, "j").Append(deadline(t), frames(2)))
		away := r.appender(t, "j", change)
		_, err := away.Resume(deadline(t))
		require.NoError(t, err)
		require.NoError(t, r.appender(t, "j").Append(deadline(t), frames(4)))
		require.NoError(t, r.appender(t, "operator").Append(deadline(t), frames(1)))
		r.giveBack(t, capture, topology.Returned{Frame: 4, Writers: map[string]uint64{"j": start + 4}})

		a := r.appender(t, "j", change)
		head, err := a.Resume(deadline(t))
		require.NoError(t, err)
		require.Equal(t, Head{Frames: 5, Sequence: head.Sequence, Chain: head.Chain, Own: true, Offset: start + 4, Foreign: true}, head)
		require.NoError(t, a.Append(deadline(t), frames(4)))
		require.Equal(t, uint64(5), a.Head().Frames)

		require.NoError(t, away.Append(deadline(t), frames(4)))
		require.Equal(t, uint64(5), away.Head().Frames, "its append was refused, and what it finds is a gap")
		require.NoError(t, away.Append(deadline(t), frames(5)))
		require.Equal(t, uint64(6), away.Head().Frames)
	}
}

// A journal that stored nothing of what was given back is a stranger there.
func TestWhatWasGivenBackWasSomebodys(t *testing.T) {
	r := newRig(t)
	require.NoError(t, r.appender(t, "first").Append(deadline(t), frames(3)))
	r.giveBack(t, capture, topology.Returned{Frame: 2, Writers: map[string]uint64{"first": start + 2}})
	err := r.appender(t, "second", func(o *AppenderOptions) { o.Exclusive = true }).Append(deadline(t), frames(1))
	require.ErrorIs(t, err, ErrTaken)
	require.NoError(t, r.appender(t, "second").Append(deadline(t), frames(1)))
}

// A gap of which nobody says that it was given back is damage, and one that is longer is, too.
func TestAGapIsNotTakenForWhatWasGivenBack(t *testing.T) {
	r := newRig(t)
	away := r.appender(t, "j")
	require.NoError(t, away.Append(deadline(t), frames(1)))
	require.NoError(t, r.appender(t, "j").Append(deadline(t), frames(5)))
	r.giveBack(t, capture, topology.Returned{Frame: 3, Writers: map[string]uint64{"j": start + 3}})
	require.ErrorIs(t, away.Append(deadline(t), frames(6)), ErrSubject)
}

// The bytes of a large frame are deleted when the append has found them, and before its frame, which names them,
// is stored.
func TestBytesThatWentAreThereAgain(t *testing.T) {
	for _, lost := range []bool{false, true} { // the answer
		r := newRig(t)
		in := frames(2)
		in[0].Data, in[1].Data = make([]byte, schema.MaxInline+1), make([]byte, schema.MaxInline+1)
		require.NoError(t, r.appender(t, "j").Append(deadline(t), in[:1]))
		a := r.appender(t, "j")
		store, n := a.store, 0
		a.store = func(ctx context.Context, messages []*nats.Msg) (uint64, error) {
			if n++; n == 1 {
				require.NoError(t, r.blobs.Delete(ctx, capture, messages[0].Header.Get(schema.HeaderBlob)))
			}
			seq, err := store(ctx, messages)
			if lost && n == 1 {
				err = errors.New("the answer is lost")
			}
			return seq, err
		}
		require.NoError(t, a.Append(deadline(t), in))
		require.Equal(t, 1, n)
		require.Len(t, r.stored(t, capture), 2)
	}
}
