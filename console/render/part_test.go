package render_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// parted is a renderer whose lines are written with what they are a part of.
func parted(o render.Options) (*render.Renderer, func() string) {
	var page bytes.Buffer
	var parts []render.Part
	o.Ends = func(p render.Part) { parts = append(parts, p) }
	r := render.New(&page, o)
	return r, func() string {
		var b strings.Builder
		for i, line := range strings.SplitAfter(page.String(), "\n") {
			if line != "" {
				b.WriteString([]string{"text    ", "thought ", "body    "}[parts[i]] + line)
			}
		}
		return b.String()
	}
}

func TestEachLineSaysWhatItIsAPartOf(t *testing.T) {
	r, page := parted(render.Options{Width: 30})
	s := &screen{Renderer: r, t: t}
	s.thinks("t", 0, "First the store.\n\nThen ")
	s.thinks("t", 1, "the mill, which is a long way off.")
	s.stores(&schema.ToolCall{Tool: "count", CallID: "c", Input: schema.JSON(`{"where":"store"}`)})
	s.stores(&schema.ToolResult{CallID: "c", Output: schema.JSON(`"14\nsacks"`)})
	s.stores(answer("m", "  │ is no body"))
	require.NoError(t, r.Settle())
	require.Equal(t, `text    thought
thought     First the store.
thought 
thought     Then the mill, which is a
thought     long way off.
text    
text    ○ count                 called
body      │ where: store
text    ✓ count                   done
body      ├─
body      │ 14
body      │ sacks
text    
text    agent
text        │ is no body
`, page())
}

func TestATranscriptIsTakenUpInItsMiddle(t *testing.T) {
	r, page := parted(render.Options{Times: true})
	s := &screen{Renderer: r, t: t}
	first := s.next(answer("m", "x")).EmittedAt
	s.seq = 10
	r.Resume(sink.Summary{Protocol: schema.A2A, Agent: "orders", FirstAt: first})
	s.stores(answer("n", "There are 14."))
	require.Equal(t, "text    \ntext    agent · orders  +10.0 s\ntext      There are 14.\n", page())
}

// TestEveryLineIsCounted holds the parts against the lines of pages of all kinds.
func TestEveryLineIsCounted(t *testing.T) {
	for _, dir := range []string{captures, capturesA2A} {
		files, err := filepath.Glob(dir + "/*.golden")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			for _, events := range goldenIn(t, dir, strings.TrimSuffix(filepath.Base(file), ".golden")) {
				for _, raw := range []bool{false, true} {
					var page bytes.Buffer
					parts := 0
					r := render.New(&page, render.Options{Width: 50, Raw: raw, Ends: func(render.Part) { parts++ }})
					for _, e := range events {
						if e.Ephemeral {
							require.NoError(t, r.Delta(e))
						} else {
							require.NoError(t, r.Event(e))
						}
						require.Equal(t, bytes.Count(page.Bytes(), []byte("\n")), parts, file)
					}
				}
			}
		}
	}
}
