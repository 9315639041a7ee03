package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

func hits() []sink.Hit {
	r := rows()
	return []sink.Hit{
		{Summary: r[0], Seq: 118, At: now, Kind: schema.TagMessage, Role: schema.Assistant, Channel: schema.Answer,
			Snippet: "…the parser keeps its comments and its white space where the parser's table says so…", Matches: [][2]int{{7, 13}, {67, 75}}},
		{Summary: r[2], Seq: 4, At: now, Kind: schema.TagToolCall, Tool: "read\x1b[31m", Snippet: "日本 parser", Matches: [][2]int{{7, 13}}},
		{Summary: r[0], Seq: 9, At: now, Kind: schema.TagMessage, Role: schema.Assistant, Channel: schema.Thought, Snippet: "parser", Matches: [][2]int{{0, 6}}},
	}
}

func TestHits(t *testing.T) {
	var page bytes.Buffer
	require.NoError(t, render.Hits(&page, render.Options{Width: 48}, hits()))
	require.Equal(t, `Refactor the parser so that it keeps comments a…
default/acp/0197a3b0-7d1c-7c10-9c1e-3f2a1b9c0d10/0/1/0
    9  thought  2026-11-29 20:00:00 UTC
       parser
  118  agent  2026-11-29 20:00:00 UTC
       …the parser keeps its comments and its
       white space where the parser's table says
       so…

日本語のとても長いタイトルがここにあります
default/acp/0197a3b0-7d1c-7c10-9c1e-3f2a1b9c0d12/0/1/0
  4  tool read␛[31m  2026-11-29 20:00:00 UTC
     日本 parser
`, page.String())

	page.Reset()
	require.NoError(t, render.Hits(&page, render.Options{Colour: true, Width: 48}, hits()))
	require.Contains(t, page.String(), "the \x1b[1;31mparser\x1b[0m keeps")
	require.Equal(t, 4, strings.Count(page.String(), "\x1b[1;31m"), "a match in each, and two in one")

	page.Reset()
	require.NoError(t, render.Hits(&page, render.Options{}, nil))
	require.Empty(t, page.String())
}

func TestHitsFitTheWidth(t *testing.T) {
	for width := 40; width < 140; width += 7 {
		var page bytes.Buffer
		require.NoError(t, render.Hits(&page, render.Options{Width: width}, hits()))
		for line := range strings.Lines(page.String()) {
			if !strings.HasPrefix(line, "default/") { // a key is written whole
				require.LessOrEqual(t, uniseg.StringWidth(strings.TrimSuffix(line, "\n")), width)
			}
		}
	}
}
