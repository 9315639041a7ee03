package verify

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
)

func TestFrameSetIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s frameSet
		want := map[uint64]bool{}
		for range rapid.IntRange(0, 20).Draw(t, "ranges") {
			first := rapid.Uint64Range(1, 300).Draw(t, "first")
			last := rapid.Uint64Range(first, first+200).Draw(t, "last")
			s.add(schema.Range{first, last})
			for n := first; n <= last; n++ {
				want[n] = true
			}
		}
		last := rapid.Uint64Range(0, 600).Draw(t, "covered")
		count, unnamed := uint64(0), uint64(0)
		for n := uint64(1); n <= last; n++ {
			require.Equal(t, want[n], s.has(n))
			if want[n] {
				count++
			} else if unnamed == 0 {
				unnamed = n
			}
		}
		require.Equal(t, count, s.count(last))
		require.Equal(t, unnamed, s.firstUnnamed(last))
	})
}
