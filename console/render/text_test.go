package render

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/console/reading"
)

func block(t require.TestingT, width int, pieces ...string) string {
	var out bytes.Buffer
	p := newPage(&out, Options{Width: width})
	f := p.flow("  ", plain, plain)
	for _, piece := range pieces {
		f.feed(piece)
	}
	f.end()
	require.NoError(t, p.flush())
	return out.String()
}

func TestFlowWrapsBetweenWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"one":                        "  one\n",
		"one two three four":         "  one two three\n  four\n",
		"a\n\n  code  here\n\n\n":    "  a\n\n    code  here\n",
		"\n\nfirst":                  "  first\n",
		"abcdefghijklmnopqrstuvwxyz": "  abcdefghijklmn\n  opqrstuvwxyz\n",
		"- one two three four":       "  - one two\n    three four\n",
		"10. one two three":          "  10. one two\n      three\n",
		"日本語日本語日本":                   "  日本語日本語日\n  本\n",
		"👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧": "  👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧\n  👨‍👩‍👧\n",
		"a\tb":             "  a   b\n",
		"end\r\nof line\r": "  end\n  of line␍\n",
	} {
		require.Equal(t, want, block(t, 16, text), "%q", text)
	}
}

func TestFlowLosesNoWordAndKeepsTheWidth(t *testing.T) {
	letters := rapid.RuneFrom([]rune("ab-·日é👩\u200d\u0301\x1b\u202e"))
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"", " ", "\n", "  ", "\t"}).Draw(t, "space") + string(rapid.SliceOfN(letters, 0, 30).Draw(t, "letters"))
		})).Draw(t, "pieces")
		width := rapid.IntRange(12, 40).Draw(t, "width")
		out := block(t, width, pieces...)
		bare := func(s string) string {
			return strings.Join(strings.FieldsFunc(s, unicode.IsSpace), "")
		}
		require.Equal(t, bare(reading.Visible(strings.Join(pieces, ""))), bare(out))
		for line := range strings.Lines(out) {
			require.LessOrEqual(t, columns(strings.TrimSuffix(line, "\n")), width+1, "a piece may end inside a character: %q", line)
		}
	})
}

// Whatever comes to the page, a terminal does not obey it.
func TestNothingOnAPageIsObeyed(t *testing.T) {
	var out bytes.Buffer
	p := newPage(&out, Options{})
	p.put(plain, "a\x1b[2J\u202e")
	require.NoError(t, p.flush())
	require.Equal(t, "a␛[2J⟨U+202E⟩", out.String())
}

func TestFitCutsByColumns(t *testing.T) {
	require.Equal(t, "abc", fit("abc", 3))
	require.Equal(t, "ab…", fit("abcd", 3))
	require.Equal(t, "日…", fit("日本", 3))
	require.Equal(t, "…", fit("👩‍👩‍👧👩‍👩‍👧", 2))
}

type broken struct{}

var errBroken = errors.New("broken pipe")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestWriterErrorsAreReturned(t *testing.T) {
	r := New(broken{}, Options{})
	require.ErrorIs(t, r.Notice("x"), errBroken)
	require.ErrorIs(t, r.Close(), errBroken)
	require.ErrorIs(t, List(broken{}, Options{}, r.first, nil), errBroken)
}
