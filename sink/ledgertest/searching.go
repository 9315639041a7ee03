package ledgertest

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// RunSearch runs the suite of the search. poison makes the index of a store that has been indexed refuse
// the second event of every transcript.
func RunSearch(t *testing.T, open Open, poison Poison) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *bench)
	}{
		{"what is said is found", found},
		{"any text may be searched for", anyText},
		{"hits in pages, the newest first", hitPages},
		{"hits of a part of the transcripts", hitsFiltered},
		{"snippets show what matches", snippets},
		{"a text is found to its end", longTexts},
		{"what a tool says again is found once", toolsOnce},
		{"the list filtered, in pages", filtered},
		{"the list of those that say something", listed},
		{"an index goes on after opening", indexResumes},
		{"an index that fails is filled again", indexFailures},
		{"indexers at once index each event once", indexersAtOnce},
		{"an event that the index does not take", func(t *testing.T, b *bench) { indexRefuses(t, b, poison) }},
		{"a sink fills its index", sinkIndexes},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := &bench{open: open, t: t}
			b.reopen()
			test.run(t, b)
		})
	}
}

// index indexes all that is stored.
func (b *bench) index() {
	b.t.Helper()
	for n := 1; n > 0; {
		var err error
		n, err = b.Index(ctx())
		require.NoError(b.t, err)
	}
	now, err := b.Indexing(ctx())
	require.NoError(b.t, err)
	require.Zero(b.t, now.Behind)
}

// hits gives what a search finds, each as run/session:seq, page by page.
func (b *bench) hits(q sink.SearchQuery) []string {
	b.t.Helper()
	out := []string{}
	for {
		page, err := b.Search(ctx(), q)
		require.NoError(b.t, err, q.Text)
		require.True(b.t, q.Limit == 0 || len(page.Hits) <= q.Limit)
		for _, h := range page.Hits {
			out = append(out, fmt.Sprintf("%s/%d:%d", h.Summary.Transcript.Run, h.Summary.Transcript.Session, h.Seq))
		}
		if page.Next == "" {
			return out
		}
		q.After = page.Next
	}
}

func says(role schema.Role, channel schema.Channel, text string) schema.Kind {
	return &schema.Message{Role: role, Text: text, MessageID: "m", Channel: channel, Boundary: schema.BoundaryWhole}
}

func found(t *testing.T, b *bench) {
	s := NewScript("one")
	s.Next(1, Prompt("Mend the Windmühle, please: it's in foo_bar.go"))                           // 1
	s.Next(1, says(schema.Assistant, schema.Thought, "Łódź, 今日は良い天気, straße, ÅNGSTRÖM, ﬁne 🙂👍🏽")) // 2
	noise := make([]byte, 900)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise) // never fails
	s.Next(1, &schema.ToolCall{Tool: "read_file", CallID: "c", Input: schema.JSON(`{"path":"/etc/passwd","limit":4711,"n":["deep"]}`)})
	s.Next(1, &schema.ToolResult{CallID: "c", Output: schema.JSON(`[{"type":"content","content":{"type":"text","text":"root:x:0\u0000:0"}}]`)})
	s.Next(1, &schema.ToolState{ToolID: "d", Name: "edit", Title: "Sharpen the millstone", State: schema.ToolPhase{Phase: schema.Streaming}})
	s.Next(1, &schema.Progress{Detail: &schema.Note{Text: "noteworthy remark"}})
	s.Next(1, &schema.Stop{Reason: schema.StopError, Detail: "quota exhausted"})
	s.Next(1, &schema.Raw{Source: "session/update/tool_call_update", Value: schema.JSON(
		`{"toolCallId":"e","title":"unsaid","content":[{"type":"diff","path":"a/wheel.txt","oldText":"before","newText":"behind"}]}`)}) // 8
	s.Next(1, Raw("hidden in a record")) // 9
	s.Next(1, &schema.Message{Role: schema.User, Text: "look", MessageID: "m", Channel: schema.Answer, Boundary: schema.BoundaryWhole,
		Content: schema.JSON(`[{"type":"text","text":"look"},{"type":"resource","resource":{"uri":"file:///mill/plan.md","text":"embedded plan"}},
{"type":"image","mimeType":"image/png","data":"` + "iVBORw0KGgoAAAANSUhEUgAA++A" + base64.RawStdEncoding.EncodeToString(noise) + `"}]`)}) // 10
	b.store(s, s.Record())
	b.index()
	for text, want := range map[string][]int{
		"mend": {1}, "MEND please": {1}, "please mend": {1}, `"mend the windmuhle"`: {1}, `"the mend"`: {}, "mend absent": {},
		"windmühle": {1}, "windmuhle": {1}, "WINDMU\u0308HLE": {1}, "foo_bar.go": {1}, "foo": {1}, "bar.go": {1}, "foo.go": {}, "it's": {1},
		"lodz": {2}, "天気": {2}, "良い天": {2}, "気天": {}, "STRASSE": {2}, "angstrom": {2}, "fine": {2}, "🙂": {2}, "👍": {2}, "🙁": {},
		"read_file": {3}, "/etc/passwd": {3}, "etc": {3}, "passwd etc": {3}, `"passwd etc"`: {}, "4711": {3}, "deep": {3}, "limit": {}, "path": {},
		"root:x": {4}, `"0 0"`: {4}, "type": {}, "millstone": {5}, "sharpen edit": {5}, `"edit sharpen"`: {},
		"noteworthy": {6}, "quota": {7}, "wheel.txt": {8}, "before": {8}, "behind": {8}, "unsaid": {}, "hidden": {},
		"look": {10}, "embedded": {10}, "plan.md": {10}, "iVBORw0KGgoAAAANSUhEUgAA": {}, "men": {}, "end": {},
	} {
		wanted := []string{}
		for _, seq := range want {
			wanted = append(wanted, fmt.Sprintf("one/1:%d", seq))
		}
		require.Equal(t, wanted, b.hits(sink.SearchQuery{Text: text}), text)
	}
	page, err := b.Search(ctx(), sink.SearchQuery{Text: "read_file passwd"})
	require.NoError(t, err)
	hit := page.Hits[0]
	require.Equal(t, s.Transcript(1).String(), hit.Summary.Key)
	require.Equal(t, "ToolCall", hit.Kind)
	require.Equal(t, "read_file", hit.Tool)
	require.Equal(t, At(3), hit.At)
	page, err = b.Search(ctx(), sink.SearchQuery{Text: "lodz"})
	require.NoError(t, err)
	require.Equal(t, schema.Assistant, page.Hits[0].Role)
	require.Equal(t, schema.Thought, page.Hits[0].Channel)
}

func anyText(t *testing.T, b *bench) {
	s := NewScript("one")
	s.Next(1, Prompt("near or not and title foo col umn a b"))
	b.store(s, s.Record())
	b.index()
	for _, text := range []string{
		"NEAR(foo col, 5)", "foo NEAR col", "OR", "NOT", "AND", "foo OR nothing", "foo AND", "(foo", "foo)", "foo*", "fo*", "^near", "title:foo", "-foo", "foo -col",
		"+foo", `foo"`, `"foo`, `""foo""`, `"foo" "col`, "foo\x00col", "a & b", "a | b", "!a", "a <-> b", "'foo'", `\foo\`, "foo:*", "a:b", "{line}: foo", "💥 foo",
		"foo\xffcol", "%s", "$1", "?1", "foo; DROP TABLE words", strings.Repeat("foo ", 200), strings.Repeat("x", 10_000),
	} {
		_, err := b.Search(ctx(), sink.SearchQuery{Text: text})
		require.NoError(t, err, text)
		_, err = b.Transcripts(ctx(), sink.Query{Text: text})
		require.NoError(t, err, text)
	}
	for _, text := range []string{"foo*", "-foo", `foo"`, "'foo'", "(foo)", "foo OR col", "near not"} {
		require.Equal(t, []string{"one/1:1"}, b.hits(sink.SearchQuery{Text: text}), "%q has words only", text)
	}
	for _, text := range []string{"fo*", "foo OR nothing", "foo -nothing", "title:foo NEAR nothing"} {
		require.Empty(t, b.hits(sink.SearchQuery{Text: text}), text)
	}
	for _, text := range []string{"", " ", `"`, `""`, "*", "-", "\x00", "\xff", "\u0301", ":", "…"} {
		_, err := b.Search(ctx(), sink.SearchQuery{Text: text})
		require.ErrorIs(t, err, sink.ErrNoWords, text)
		if text != "" {
			_, err = b.Transcripts(ctx(), sink.Query{Text: text})
			require.ErrorIs(t, err, sink.ErrNoWords, text)
		}
	}
	_, err := b.Search(ctx(), sink.SearchQuery{Text: strings.Repeat("a ", 100_000)})
	require.ErrorIs(t, err, sink.ErrManyWords)
	for _, cursor := range []string{"no cursor", "1.2", "1.2.3.4", "1.2.x", "99999999999999999999.1.1"} {
		_, err := b.Search(ctx(), sink.SearchQuery{Text: "foo", After: cursor})
		require.ErrorIs(t, err, sink.ErrCursor, cursor)
	}
}

func hitPages(t *testing.T, b *bench) {
	var scripts []*Script
	for i := range 4 {
		s := NewScript(fmt.Sprintf("run-%d", i))
		scripts = append(scripts, s)
		for range 5 { // frames of all captures come at the same times
			s.Next(1, Prompt("the same words"))
			s.Next(1, Prompt("other ones"))
		}
		b.store(s, s.Record())
	}
	b.index()
	want := b.hits(sink.SearchQuery{Text: "same"})
	require.Len(t, want, 20)
	require.Equal(t, []string{"run-3/1:9", "run-2/1:9", "run-1/1:9", "run-0/1:9", "run-3/1:7"}, want[:5])
	for _, limit := range []int{1, 3, 20, 21, 100_000} {
		require.Equal(t, want, b.hits(sink.SearchQuery{Text: "same", Limit: limit}), "limit %d", limit)
	}
	page, err := b.Search(ctx(), sink.SearchQuery{Text: "same", Limit: 7})
	require.NoError(t, err)
	scripts[0].Next(1, Prompt("the same words, later"))
	b.store(scripts[0], scripts[0].Record())
	b.index()
	require.Equal(t, want[7:], b.hits(sink.SearchQuery{Text: "same", After: page.Next}), "what comes meanwhile shifts nothing")
}

func hitsFiltered(t *testing.T, b *bench) {
	for i, agent := range []string{"Goose", "codex"} {
		s := NewScript(fmt.Sprintf("run-%d", i))
		s.Next(1, Prompt("words"))
		s.Next(1, Prompt("words"))
		r := s.Record()
		r.About = map[uint32]schema.About{1: {Agent: agent, Labels: map[string]string{"n": fmt.Sprint(i)}, Status: schema.StatusEnded}}
		b.store(s, r)
	}
	elsewhere := NewScript("run-9")
	elsewhere.ID.Namespace = "other"
	elsewhere.Source.Protocol = schema.A2A
	elsewhere.Next(0, Prompt("words"))
	b.store(elsewhere, elsewhere.Record())
	b.index()
	for _, c := range []struct {
		filter sink.Filter
		want   []string
	}{
		{sink.Filter{Agent: "goose"}, []string{"run-0/1:2", "run-0/1:1"}},
		{sink.Filter{Namespace: "other"}, []string{"run-9/0:1"}},
		{sink.Filter{Namespaces: []string{"nobody", "other"}}, []string{"run-9/0:1"}},
		{sink.Filter{Namespaces: []string{"other", "default"}, Agent: "goose"}, []string{"run-0/1:2", "run-0/1:1"}},
		{sink.Filter{Namespaces: []string{"default"}, Namespace: "other"}, []string{}},
		{sink.Filter{Namespaces: []string{"defaul", "othe"}}, []string{}},
		{sink.Filter{Protocol: schema.A2A}, []string{"run-9/0:1"}},
		{sink.Filter{Status: schema.StatusEnded, Labels: map[string]string{"n": "1"}}, []string{"run-1/1:2", "run-1/1:1"}},
		{sink.Filter{Status: schema.StatusEnded, Parked: map[schema.Identity]bool{NewScript("run-1").ID: true}}, []string{"run-0/1:2", "run-0/1:1"}},
		{sink.Filter{Status: schema.StatusParked, Parked: map[schema.Identity]bool{NewScript("run-1").ID: true}}, []string{"run-1/1:2", "run-1/1:1"}},
		{sink.Filter{Since: At(2)}, []string{"run-1/1:2", "run-0/1:2"}},
		{sink.Filter{Until: At(2), Namespace: "default"}, []string{"run-1/1:1", "run-0/1:1"}},
		{sink.Filter{Namespace: "nobody"}, []string{}},
		{sink.Filter{Agent: "nobody"}, []string{}},
		{sink.Filter{Agent: "o"}, []string{"run-1/1:2", "run-0/1:2", "run-1/1:1", "run-0/1:1"}},
	} {
		for _, limit := range []int{0, 1} {
			require.Equal(t, c.want, b.hits(sink.SearchQuery{Text: "words", Filter: c.filter, Limit: limit}), "%+v", c.filter)
		}
	}
}

func snippets(t *testing.T, b *bench) {
	s := NewScript("one")
	s.Next(1, Prompt(strings.Repeat("chaff ", 500)+"the\n\n golden\x00\x1b[31m \t Ähre stands\n"+strings.Repeat("chaff ", 500)))
	b.store(s, s.Record())
	b.index()
	page, err := b.Search(ctx(), sink.SearchQuery{Text: `ahre "the golden"`})
	require.NoError(t, err)
	require.Len(t, page.Hits, 1)
	h := page.Hits[0]
	require.Contains(t, h.Snippet, "chaff the golden [31m Ähre stands chaff")
	require.True(t, strings.HasPrefix(h.Snippet, "…") && strings.HasSuffix(h.Snippet, "…"), h.Snippet)
	require.Less(t, len(h.Snippet), 400)
	var marked []string
	for _, m := range h.Matches {
		marked = append(marked, h.Snippet[m[0]:m[1]])
	}
	require.Equal(t, []string{"the golden", "Ähre"}, marked)
}

// longTexts holds what no one tsvector takes: more than a MiB, more places than it counts, more of one
// word than it counts.
func longTexts(t *testing.T, b *bench) {
	var text strings.Builder
	text.WriteString("needle at the beginning ")
	for i := range 120_000 {
		fmt.Fprintf(&text, "straw%d ", i)
		if i%100 == 0 {
			text.WriteString("often ")
		}
	}
	text.WriteString("in the middle ")
	for i := range 40_000 {
		fmt.Fprintf(&text, "often hay%d ", i)
	}
	text.WriteString("pin at the end")
	require.Greater(t, text.Len(), 3<<19)
	long := strings.Repeat("ab", 1500) + "c"
	s := NewScript("one")
	s.Next(1, Prompt(text.String()))
	s.Next(1, Prompt("needle, but no other"))
	s.Next(1, &schema.ToolResult{CallID: "c", Output: schema.JSON(`"` + long + `"`)})
	b.store(s, s.Record())
	b.index()
	for _, text := range []string{
		"pin", "needle pin", "needle middle pin", `"in the middle"`, `"straw11999 straw12000 often"`, `"straw119998 straw119999 in the middle often"`,
		`"often hay39999 pin"`, `"hay300 often hay301"`, "straw0 hay39999", "needle straw77777 often",
	} {
		require.Equal(t, []string{"one/1:1"}, b.hits(sink.SearchQuery{Text: text}), text)
		list, err := b.Transcripts(ctx(), sink.Query{Text: text})
		require.NoError(t, err)
		require.Len(t, list.Transcripts, 1, text)
	}
	for i := range 120_000 - 1 { // all over it
		if i%30011 == 1 {
			phrase := fmt.Sprintf(`"straw%d straw%d"`, i, i+1)
			require.Equal(t, []string{"one/1:1"}, b.hits(sink.SearchQuery{Text: phrase}), phrase)
		}
	}
	require.Equal(t, []string{"one/1:2", "one/1:1"}, b.hits(sink.SearchQuery{Text: "needle"}))
	for _, text := range []string{"needle pin nothing", `"pin needle"`, `"straw5 straw7"`, "straw120000"} {
		require.Empty(t, b.hits(sink.SearchQuery{Text: text}), text)
	}
	require.Equal(t, []string{"one/1:3"}, b.hits(sink.SearchQuery{Text: long}), "a long word")
	require.Empty(t, b.hits(sink.SearchQuery{Text: long + "d"}))
	page, err := b.Search(ctx(), sink.SearchQuery{Text: "pin"})
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(page.Hits[0].Snippet, "pin at the end"), page.Hits[0].Snippet)
}

func toolsOnce(t *testing.T, b *bench) {
	s := NewScript("one")
	input := schema.JSON(`{"command":"grind the corn"}`)
	output := "flour"
	s.Next(1, &schema.ToolCall{Tool: "mill", CallID: "c", Input: input})
	for _, phase := range []schema.ToolPhase{
		{Phase: schema.Streaming, PartialInput: input}, {Phase: schema.Executing}, {Phase: schema.Completed, Success: true, Output: &output},
	} {
		if phase.Phase == schema.Completed {
			s.Next(1, &schema.ToolResult{CallID: "c", Output: schema.JSON(`"flour"`)})
		}
		s.Next(1, &schema.ToolState{ToolID: "c", Name: "mill", Title: "Grind", Input: input, State: phase})
	}
	s.Next(1, &schema.ToolCall{Tool: "mill", CallID: "d", Input: input})
	b.store(s, s.Record())
	b.index()
	require.Equal(t, []string{"one/1:6", "one/1:5", "one/1:2", "one/1:1"}, b.hits(sink.SearchQuery{Text: "corn"}), "not where it only says the same again")
	require.Equal(t, []string{"one/1:5"}, b.hits(sink.SearchQuery{Text: "grind flour"}), "all words of one event")
	require.Equal(t, []string{"one/1:2"}, b.hits(sink.SearchQuery{Text: `"Grind" grind`, Filter: sink.Filter{Since: At(2), Until: At(3)}}), "its title")
}
