package translatetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// placesToDamage is at how many places a state is cut off, and in how many a bit of it is turned over.
const placesToDamage = 40

// damaged cuts the state behind the last frame off, and turns bits of it over, at places all over it. A
// state that is cut off is refused; one that holds another bit is refused, or is that of another fold.
func damaged(t testing.TB, tr translate.Translator, frames []schema.Frame) {
	t.Helper()
	fold := tr.Fold(testIdentity)
	for i := range frames {
		fold.Step(nil, &frames[i])
	}
	state := fold.AppendState(nil)
	step := max(1, len(state)/placesToDamage)
	for n := 0; n < len(state); n += step {
		Refused(t, tr, state[:n])
		bit := byte(1) << (n / step % 8)
		state[n] ^= bit
		Unsure(t, tr, state)
		state[n] ^= bit
	}
	Refused(t, tr, append(state, 0))
}

// Refused checks that a state is refused.
func Refused(t testing.TB, tr translate.Translator, state []byte) {
	t.Helper()
	_, err := tr.Restore(testIdentity, state)
	require.ErrorIs(t, err, translate.ErrState)
}

// Unsure restores what may be a state. What is not refused is a fold, and can be saved.
func Unsure(t testing.TB, tr translate.Translator, state []byte) {
	t.Helper()
	fold, err := tr.Restore(testIdentity, state)
	if err != nil {
		require.ErrorIs(t, err, translate.ErrState)
		return
	}
	_, err = tr.Restore(testIdentity, fold.AppendState(nil))
	require.NoError(t, err, "what was restored cannot be saved")
}
