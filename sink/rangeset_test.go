package sink

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
)

func TestRangeSetIsASetOfNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s RangeSet
		want := map[uint64]bool{}
		for range rapid.IntRange(0, 30).Draw(t, "ranges") {
			first := rapid.Uint64Range(1, 60).Draw(t, "first")
			last := rapid.Uint64Range(first, min(first+8, 64)).Draw(t, "last")
			fresh := uint64(0)
			for n := first; n <= last; n++ {
				if !want[n] {
					fresh++
				}
				want[n] = true
			}
			require.Equal(t, fresh, s.add(schema.Range{first, last}))
		}
		got := map[uint64]bool{}
		for i, r := range s {
			require.True(t, i == 0 || s[i-1][1]+1 < r[0], "%v: ranges touch", s)
			for n := r[0]; n <= r[1]; n++ {
				got[n] = true
			}
		}
		require.Equal(t, want, got)
	})
}
