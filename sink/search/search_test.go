package search_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/search"
)

func words(text string) (out []string) {
	search.Words(text, func(word []byte, start, end int) bool {
		out = append(out, string(word))
		return true
	})
	return out
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"Mend the mill":               "mend the mill",
		"foo_bar.go:12":               "foo bar go 12",
		"/etc/passwd":                 "etc passwd",
		"getUserName":                 "getusername",
		"it's 3.14":                   "it s 3 14",
		"Ähre e\u0301t Łódź Straße":   "ahre et lodz strasse",
		"ΣΊΣΥΦΟΣ σίσυφος":             "σισυφοσ σισυφοσ",
		"ﬁne Ｆｕｌｌ ½ ㈱ ™":              "fine full 12 株 tm",
		"İstanbul ıssız":              "istanbul issiz",
		"今日はgoで":                      "今 日 は go て",
		"ไทย한국어":                      "ไ ท ย 한국어",
		"हिन्दी":                      "हिनदी",
		"a\x00b\xffc":                 "a b c",
		"co\u00adop z\u200dw":         "coop zw",
		"👩\u200d💻 ❤️ 👍🏽":              "👩 💻 ❤ 👍",
		"\ue000 \U0010ffff":           "",
		strings.Repeat("x", 250):      strings.Repeat("x", 120) + " " + strings.Repeat("x", 120) + " " + strings.Repeat("x", 10),
		"'); DROP TABLE words; -- \"": "drop table words",
	} {
		require.Equal(t, strings.Fields(want), append([]string{}, words(text)...), "%q", text)
	}
}

// TestWordsOfAnyText: every word is in its place, and is its own only word.
func TestWordsOfAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		before := 0
		search.Words(text, func(word []byte, start, end int) bool {
			if start < before || end <= start || end > len(text) {
				t.Fatalf("word %q at %d:%d behind %d", word, start, end, before)
			}
			if len(word) == 0 || !utf8.Valid(word) || strings.ContainsAny(string(word), " '\"\\:\ue000\x00") {
				t.Fatalf("word %q", word)
			}
			before = end
			return true
		})
	})
}

func TestParse(t *testing.T) {
	for text, want := range map[string][]search.Term{
		"mend THE mill":        {{"mend"}, {"the"}, {"mill"}},
		`"mend the" mill`:      {{"mend", "the"}, {"mill"}},
		`mill "mend the`:       {{"mill"}, {"mend", "the"}},
		`a"b c"d`:              {{"a"}, {"b", "c"}, {"d"}},
		"foo_bar.go foo":       {{"foo", "bar", "go"}, {"foo"}},
		"mill MILL míll":       {{"mill"}},
		"NEAR(a b) -c d* {e}:": {{"near", "a"}, {"b"}, {"c"}, {"d"}, {"e"}},
	} {
		q, err := search.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, q.Terms, text)
	}
	q, err := search.Parse(`a "b c"`)
	require.NoError(t, err)
	require.Equal(t, `"a" AND "b c"`, q.FTS5())
	require.Equal(t, `('a') & ('b' <-> 'c')`, q.TSQuery())
	require.Equal(t, `('a') | ('b' <-> 'c')`, q.AnyTSQuery())
	for _, text := range []string{"", `""`, " \t", "*-:", "\x00", "\xff"} {
		_, err := search.Parse(text)
		require.ErrorIs(t, err, sink.ErrNoWords, text)
	}
	_, err = search.Parse(strings.Repeat("a b ", search.MaxWords))
	require.ErrorIs(t, err, sink.ErrManyWords)
	q, err = search.Parse(`"` + strings.Repeat("w ", 70) + `end"`)
	require.NoError(t, err)
	for _, term := range q.Terms {
		require.LessOrEqual(t, len(term), 32, "an index in pieces takes no longer phrase")
	}
}

func TestWhatCanBeFoundOfAnEvent(t *testing.T) {
	output := `["grain",2]`
	for _, tt := range []struct {
		kind schema.Kind
		want search.Texts
	}{
		{&schema.ToolCall{Tool: "sh", Input: schema.JSON(`{"cmd":["ls","-l"],"n":-1.50,"deep":{"cmd":"x"},"t":true,"z":null}`)}, search.Texts{"sh", "ls", "-l", "-1.50", "x"}},
		{&schema.ToolResult{Output: schema.JSON(`"plain"`)}, search.Texts{"plain"}},
		{&schema.ToolResult{}, nil},
		{&schema.ToolState{Name: "n", Title: "t", State: schema.ToolPhase{Phase: schema.Completed, Output: &output}}, search.Texts{"n", "t", "grain", "2"}},
		{&schema.Progress{Detail: &schema.UsageEstimate{}}, nil},
		{&schema.Stop{Reason: schema.StopEndTurn}, nil},
		{&schema.Raw{Source: "session/update/plan", Value: schema.JSON(`{"entries":["x"]}`)}, nil},
		{&schema.Raw{Source: "session/update/tool_call", Value: schema.JSON(`{"content":[{"type":"content"},{"newText":"new","type":"diff","path":"p"}]}`)}, search.Texts{"new", "p"}},
		{&schema.Raw{Source: "session/update/tool_call_update", Value: schema.JSON(`{"content":[{"type":"diff","changes":[{"operation":"move","oldPath":"a","path":"b"}],"patch":{"format":"git_patch","text":"+new"}}]}`)}, search.Texts{"a", "b", "+new"}},
		{&schema.Raw{Source: "session/update/tool_call", Value: schema.JSON(`[1]`)}, nil},
		{&schema.Unknown{Name: "New", Value: schema.JSON(`{"kind":"New","text":"x"}`)}, nil},
	} {
		e := schema.Event{Kind: tt.kind}
		require.Equal(t, tt.want, search.Of(&e), "%+v", tt.kind)
		encoded := e.AppendJSON(nil)
		if search.Silent(encoded) {
			require.Empty(t, tt.want)
		}
	}
	raw := schema.Event{Flags: []schema.Flag{`,"kind":{"kind":"Message`}, Kind: &schema.Raw{Source: `x"`, Value: schema.JSON(`{"a":1,"kind":{"kind":"Message"}}`)}}
	require.True(t, search.Silent(raw.AppendJSON(nil)))
	said := schema.Event{Kind: &schema.Message{Text: `,"kind":{"kind":"Raw","source":"x"`}}
	require.False(t, search.Silent(said.AppendJSON(nil)))
}

func TestBase64IsNoText(t *testing.T) {
	noise := make([]byte, 3001)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise) // never fails
	lines := func(text string, n int, end string) string {
		var b strings.Builder
		for line := range slices.Chunk([]byte(text), n) {
			b.Write(line)
			b.WriteString(end)
		}
		return b.String()
	}
	padded := base64.StdEncoding.EncodeToString(noise)
	for _, data := range []string{
		padded, base64.RawURLEncoding.EncodeToString(noise), lines(padded, 76, "\n"), lines(padded, 64, "\r\n"),
		strings.TrimSpace(lines(padded, 76, "\n")), padded[:600],
	} {
		require.Empty(t, searchable(t, data), data)
	}
	list := func(format string, sep string) string {
		var items []string
		for i := range 200 {
			items = append(items, fmt.Sprintf(format, i*7919%1000))
		}
		return strings.Join(items, sep)
	}
	for _, text := range []string{
		list("Some_Identifier%03d", "\n"), list("feature/JIRA-%d-mend-the-mill", "\n"), list("src/Main/handler%04d", "\n"), list("Handler%d", "\r\n"),
		list("x%063dY", "\n"), "Z9" + strings.Repeat("a", 1000), "/" + list("Dir%d", "/"), list("A=%d", "\n"), list("OnlyName%d", "_"), list("some-Name-%d", "-"),
		strings.Repeat("One2 ", 200),
	} {
		require.Equal(t, search.Texts{text}, searchable(t, text))
	}
}

// searchable is what is found of a tool that gives a text back.
func searchable(t *testing.T, text string) search.Texts {
	t.Helper()
	output, err := json.Marshal(map[string]string{"data": text})
	require.NoError(t, err)
	return search.Of(&schema.Event{Kind: &schema.ToolResult{Output: output}})
}

func TestMemory(t *testing.T) {
	var m search.Memory
	fresh := func(transcript int64, tool string, texts ...string) bool {
		t.Helper()
		got := m.Fresh(transcript, tool, texts)
		if got != nil {
			require.Equal(t, search.Texts(texts), got, "all of it")
		}
		return got != nil
	}
	require.True(t, fresh(1, "c", "a", "b"))
	require.True(t, fresh(1, "c", "x"))
	require.True(t, fresh(1, "c", "a", "b", "x"), "each was said, and not by one event")
	require.False(t, fresh(1, "c", "x", "a", "b"))
	require.False(t, fresh(1, "c", "b", "x"))
	require.True(t, fresh(1, "c", "a", "d", "b"))
	require.False(t, fresh(1, "c", "x"), "what was said earlier is known still")
	require.True(t, fresh(1, "other", "a"))
	require.True(t, fresh(2, "c", "a"))
	require.True(t, fresh(1, "", "a"))
	require.True(t, fresh(1, "", "a"), "of no tool")
	for i := range 100_000 {
		fresh(3, "c", "name", fmt.Sprint(i))
	}
	require.False(t, fresh(3, "c", "name", "99999"))
	m.Forget()
	require.True(t, fresh(1, "c", "a"))
}

func TestLineKeepsTextsApart(t *testing.T) {
	require.Empty(t, search.Texts{"", "-"}.Line())
	line := search.Texts{"One, two", "…", "three"}.Line()
	require.Equal(t, "one two \ue000 three ", line)
	require.Equal(t, []string{"'one':1 'three':4 'two':2 "}, search.Texts{"One, two", "three"}.Pieces())
	require.Empty(t, search.Texts{"-"}.Pieces())
}

// TestPiecesHoldEveryPhrase cuts texts in ways that pass each of the bounds.
func TestPiecesHoldEveryPhrase(t *testing.T) {
	for name, word := range map[string]func(i int) string{
		"places":       func(i int) string { return fmt.Sprint("w", i) },
		"one word":     func(int) string { return "same" },
		"long words":   func(i int) string { return fmt.Sprint(strings.Repeat("l", 100), i) },
		"two of three": func(i int) string { return fmt.Sprint("w", i%3) },
	} {
		t.Run(name, func(t *testing.T) {
			const n = 30_000
			var text []string
			for i := range n {
				text = append(text, word(i))
			}
			pieces := search.Texts{strings.Join(text, " ")}.Pieces()
			require.Greater(t, len(pieces), 1)
			for _, p := range pieces {
				require.Less(t, len(p), 1<<20)
				for at := range strings.SplitSeq(p, "':") {
					places := strings.Count(at, ",") + 1
					require.LessOrEqual(t, places, 255)
				}
			}
		})
	}
}

func TestSnippet(t *testing.T) {
	snippet := func(query string, texts ...string) (string, []string) {
		q, err := search.Parse(query)
		require.NoError(t, err)
		s, matches := search.Texts(texts).Snippet(q)
		require.True(t, utf8.ValidString(s))
		marked := []string{}
		for _, m := range matches {
			marked = append(marked, s[m[0]:m[1]])
		}
		return s, marked
	}
	s, marked := snippet("mill", "Mend the Mill, please. A mill!")
	require.Equal(t, "Mend the Mill, please. A mill!", s)
	require.Equal(t, []string{"Mill", "mill"}, marked)
	s, marked = snippet(`"the mill"`, "no mill here", "mend the\t\r\n mill")
	require.Equal(t, "mend the mill", s)
	require.Equal(t, []string{"the mill"}, marked)
	s, marked = snippet("a b", strings.Repeat("a ", 200)+strings.Repeat("x ", 200)+"a b")
	require.True(t, strings.HasPrefix(s, "…x x"), s)
	require.Equal(t, []string{"a", "b"}, marked)
	s, marked = snippet("far apart", "far", "apart")
	require.Equal(t, "far", s)
	require.Equal(t, []string{"far"}, marked)
	s, marked = snippet("x", "no such word")
	require.Equal(t, "no such word", s)
	require.Empty(t, marked)
	s, marked = snippet("x")
	require.Empty(t, s)
	require.Empty(t, marked)
	s, marked = snippet("天気", strings.Repeat("今日は良い天気", 100))
	require.Contains(t, s, "天気")
	require.Equal(t, "天気", marked[0])
	_, marked = snippet(`"a b" "b c"`, "a b c d")
	require.Equal(t, []string{"a b c"}, marked, "what overlaps is one")
}

// TestSnippetIsShort where a match spans very much that is no word.
func TestSnippetIsShort(t *testing.T) {
	for _, between := range []string{"-", "—", " ", "\n", "«»"} {
		long := "the beginning " + strings.Repeat("before ", 20) + "mend" + strings.Repeat(between, 1<<20) + "mill and the end"
		for _, text := range []string{`"mend mill"`, `before "mend mill"`, `beginning "mend mill and"`} {
			q, err := search.Parse(text)
			require.NoError(t, err)
			s, matches := search.Texts{long}.Snippet(q)
			require.Less(t, len(s), 1200)
			require.True(t, utf8.ValidString(s))
			require.NotEmpty(t, matches)
			for _, m := range matches {
				require.Less(t, m[0], m[1])
				require.LessOrEqual(t, m[1], len(s))
				require.True(t, utf8.ValidString(s[m[0]:m[1]]))
			}
			last := matches[len(matches)-1]
			if text == `"mend mill"` {
				require.True(t, strings.HasPrefix(s[last[0]:], "mend"), "%q: %v", s, matches)
				require.Equal(t, strings.TrimSuffix(s, "…"), s[:last[1]], "as far as it goes")
			}
		}
	}
}

func TestSnippetOfAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		query := rapid.String().Draw(t, "query")
		q, err := search.Parse(query)
		if err != nil {
			return
		}
		s, matches := search.Texts{text, query + " " + text}.Snippet(q)
		end := 0
		for _, m := range matches {
			if m[0] < end || m[1] <= m[0] || m[1] > len(s) {
				t.Fatalf("matches %v of %q", matches, s)
			}
			end = m[1]
		}
		if len(matches) == 0 || !utf8.ValidString(s) || strings.ContainsAny(s, "\n\r\t\x00\x1b") {
			t.Fatalf("matches %v of %q", matches, s)
		}
	})
}
