package schema

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// What an intervention says may be long; what is said of it is not, and is text whichever byte its bound falls on.
func TestWhatIsQuotedIsCut(t *testing.T) {
	t.Parallel()
	for head := range 4 {
		long := strings.Repeat("x", head) + strings.Repeat("\U0001F33E", MaxInterventionText/4)
		quoted := Quoted(long)
		require.Less(t, len(quoted), 300)
		require.True(t, utf8.ValidString(quoted))
		require.NotContains(t, quoted, `\x`, "no character is cut in two")
		require.True(t, strings.HasSuffix(quoted, `…"`), quoted)
		detail := Stale("%s", long).Detail
		require.LessOrEqual(t, len(detail), maxDetail+len("…"))
		require.True(t, utf8.ValidString(detail))
		require.True(t, strings.HasSuffix(detail, "…"))
		for _, i := range []Intervention{
			{ID: long}, {ID: "1", Kind: InterventionKind{Kind: Primitive(long)}},
			{ID: "1", Kind: InterventionKind{Kind: PrimitiveInject, Text: "x", Priority: &Priority{long}}},
		} {
			require.Less(t, len(i.Validate().Error()), 400)
		}
	}
	require.Equal(t, fmt.Sprintf("%q", `a "b"`), Quoted(`a "b"`))
	require.Equal(t, Outcome{Outcome: OutcomeStale, Detail: "as it is"}, Stale("as it is"))
}
