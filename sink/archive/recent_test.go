package archive

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatIsKept is what was used last, as much as may be.
func TestWhatIsKept(t *testing.T) {
	r := &recent[string, int]{}
	kept := func() (out []string) {
		out = append(out, r.order...)
		weight := 0
		for key, w := range r.kept {
			require.Contains(t, out, key)
			weight += w.weight
		}
		require.Equal(t, weight, r.weight)
		require.Len(t, r.kept, len(out))
		return out
	}
	r.put("a", 1, 4, 10)
	r.put("b", 2, 4, 10)
	v, ok := r.get("a")
	require.True(t, ok)
	require.Equal(t, 1, v)
	r.put("c", 3, 4, 10)
	require.Equal(t, []string{"a", "c"}, kept())
	_, ok = r.get("b")
	require.False(t, ok)
	r.put("a", 5, 6, 10)
	require.Equal(t, []string{"c", "a"}, kept())
	v, _ = r.get("a")
	require.Equal(t, 5, v)
	r.put("large", 6, 99, 10)
	require.Equal(t, []string{"large"}, kept(), "one more than there may be")
	r.put("d", 7, 1, 10)
	require.Equal(t, []string{"d"}, kept())
}
