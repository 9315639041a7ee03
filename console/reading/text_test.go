package reading

import (
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestVisibleLetsNothingThrough(t *testing.T) {
	require.Equal(t, "␛]0;owned␇ ␛[2J ⟨U+009B⟩31m ␈ ␡ ⟨FF⟩", Visible("\x1b]0;owned\a \x1b[2J \u009b31m \b \x7f \xff"))
	require.Equal(t, "a⟨U+202E⟩b⟨U+2066⟩⟨U+E0041⟩⟨U+FEFF⟩⟨U+200B⟩", Visible("a\u202eb\u2066\U000E0041\ufeff\u200b"))
	require.Equal(t, "日本\n\té👩‍👩‍👧 \u00a0�", Visible("日本\r\n\té👩‍👩‍👧 \u00a0�"))
	rapid.Check(t, func(t *rapid.T) {
		for _, r := range Visible(string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))) {
			require.True(t, shown(r), "%q", r)
			require.False(t, r != '\n' && r != '\t' && unicode.IsControl(r), "%q", r)
		}
	})
}
