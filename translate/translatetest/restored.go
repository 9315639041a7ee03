package translatetest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// placesToRestore is at how many places of a long capture a fold is restored, and aboutSessions how many
// of its sessions are asked about.
const (
	placesToRestore = 100
	aboutSessions   = 8
)

// restored folds the capture twice: once without a stop, and once with a fold that is saved and restored
// before the first frame and behind each one, so that what is lost at any place is missed at every later
// one. Long captures are restored at about a hundred places, the first and the last among them. Both
// give the same events and know the same, to the last byte of their states, and end alike.
func restored(t testing.TB, tr translate.Translator, frames []schema.Frame) {
	t.Helper()
	step := max(1, len(frames)/placesToRestore)
	whole, other := tr.Fold(testIdentity), restore(t, tr, tr.Fold(testIdentity))
	for i := range frames {
		f := &frames[i]
		require.Equal(t, string(Encode(whole.Step(nil, f))), string(Encode(other.Step(nil, f))), "a restored fold gives other events of frame %d", f.Seq)
		if i > 0 && i%step != 0 && i < len(frames)-1 {
			continue
		}
		require.Equal(t, whole.AppendState(nil), other.AppendState(nil), "a fold restored before frame %d has another state behind it", f.Seq)
		other = restore(t, tr, other)
		require.Equal(t, whole.Open(), other.Open(), "what is open behind frame %d", f.Seq)
		for session := range uint32(aboutSessions) {
			require.Equal(t, whole.About(session), other.About(session), "what is known behind frame %d", f.Seq)
		}
	}
	endings(t, tr, frames)
}

// placesToEnd is at how many places a capture is ended.
const placesToEnd = 8

// endings cuts the capture at some places, the last among them, and ends it there: by the fold that got
// there, and by a restored one.
func endings(t testing.TB, tr translate.Translator, frames []schema.Frame) {
	t.Helper()
	step := max(1, len(frames)/placesToEnd)
	for cut := len(frames); cut >= 0; cut -= step {
		whole := tr.Fold(testIdentity)
		for i := range frames[:cut] {
			whole.Step(nil, &frames[i])
		}
		other := restore(t, tr, whole)
		require.Equal(t, string(Encode(whole.End(nil))), string(Encode(other.End(nil))), "a fold restored behind frame %d ends otherwise", cut)
		require.Equal(t, whole.AppendState(nil), other.AppendState(nil), "a fold restored behind frame %d knows other things at its end", cut)
	}
}

// restore saves a fold and restores it from bytes that are overwritten at once, since a fold may keep
// none of them. Saved again it gives the same bytes.
func restore(t testing.TB, tr translate.Translator, fold translate.Fold) translate.Fold {
	t.Helper()
	state := fold.AppendState([]byte("before"))
	require.Equal(t, "before", string(state[:6]))
	state = state[6:]
	given := slices.Clone(state)
	other, err := tr.Restore(testIdentity, given)
	require.NoError(t, err)
	for i := range given {
		given[i] = 'x'
	}
	require.Equal(t, state, other.AppendState(nil), "saved again a state gives other bytes")
	return other
}
