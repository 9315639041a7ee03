package export_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	dom "golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/console/export"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// hostile are texts that would be more than text, where they may be.
var hostile = []string{
	`<script>alert(1)</script>`,
	"a <script\nsrc=//x.test/a.js></script> b",
	`<img src=x onerror=alert(1)>`,
	"text <img src=\"https://x.test/p.png\"> text",
	`<svg/onload=alert(1)>`,
	"<iframe src=https://x.test></iframe>",
	"<style>*{display:none}</style>",
	"<link rel=stylesheet href=https://x.test/a.css>",
	"<meta http-equiv=refresh content=0;url=https://x.test>",
	"<base href=https://x.test/>",
	"<form action=https://x.test><input name=q></form>",
	"<!-- hidden",
	"<!-- a -->\n\n<b>x</b>",
	"<![CDATA[ x ]]>\n<?php x ?>\n<!DOCTYPE x>",
	"</div></article></main></body></html>",
	"</details>\n\n</details>\n\n</summary>",
	"</style><script>alert(1)</script>",
	"</pre></code><b>x",
	"<pre>\n```\n<script>\n</pre>",
	"<div>\n\n# x\n\n</div>",
	`![a](https://x.test/pixel.png)`,
	"![a *b*][r]\n\n[r]: https://x.test/pixel.png \"t\"",
	"[![a](https://x.test/a.png)](https://x.test)",
	`[x](javascript:alert(1))`,
	`[x](java&#115;cript:alert(1))`,
	"[x](JaVaScRiPt:alert(1))",
	"[x](data:text/html;base64,PHNjcmlwdD4=)",
	"[x](vbscript:x) [y](file:///etc/passwd) [z](//x.test/a) [w](/etc) [v](#e1) [u](http:x)",
	"<javascript:alert(1)> <https://x.test/?\"onclick=x> <a@x.test>",
	`[x](https://x.test "a\" onclick=\"x")`,
	"[x](<https://x.test/\" onclick=\"x>)",
	"[r]: javascript:alert(1)\n\n[r]",
	"https://x.test/<b> www.x.test ftp://x.test/a",
	"# one\n## two\n### three\n###### six",
	"one\n===\n\ntwo\n---",
	"> one\n> ===\n\n- two\n  ---",
	"```\nno end",
	"~~~~ a\nno end ```",
	"````\n```\n````\n\n`````html onclick=x\nno end",
	"- a\n  ```\n  no end",
	"> ```\n> no end",
	"    indented\n\n\tcode <b>",
	"`` a ` b <b> ``",
	"`no end <b>",
	"| a | b |\n|--|:-:|\n| <b> | x \\| y |",
	"- [x] done\n- [ ] not <b>",
	"1. a\n2. b\n\n10) c",
	"***\n---\n___",
	"a  \nb\\\nc",
	"~~a~~ **b** _c_ `d`",
	"---\ntitle: x\n---",
	"$$x$$ :smile: @nobody #1",
	"\x1b]0;owned\a \x1b[2J \u009b31m \b \x7f",
	"a\u202eb\u2066c\u200bd\ufeffe\U000E0041",
	"&#8238;a &#x202e;b &rlm;c &ZeroWidthSpace;d &#27;[2J &#0; &lt;script&gt; &amp;lt;",
	"`&#8238;`\n\n[x](https://x.test \"&#8238;\")\n\n```&#8238;\n&#8238;\n```",
	"\xff\xfe bad utf-8 \xc3",
	"a\rb\r\nc",
	"{{.Policy}} {{template \"head\"}} <%= x %>",
	"[^1] text\n\n[^1]: foot",
	strings.Repeat("[", 500) + strings.Repeat("](x)", 500),
	strings.Repeat("> ", 300) + "deep",
	strings.Repeat("*a ", 300),
	strings.Repeat("<b>", 300),
	"",
	" \n\n ",
}

// spoken is a transcript in which a text stands wherever a peer's may.
func spoken(text string) *export.Transcript {
	start := time.Date(2026, 11, 29, 20, 0, 0, 0, time.UTC)
	key := schema.Transcript{Identity: schema.Identity{Namespace: "n", Workflow: "w", Run: "r", Attempt: 1}, Session: 1}
	quoted := schema.JSON(schema.AppendString(nil, text))
	j := func(format string) schema.JSON { return schema.JSON(strings.ReplaceAll(format, "$", string(quoted))) }
	output := text
	kinds := []schema.Kind{
		&schema.Message{Role: schema.User, Channel: schema.Answer, MessageID: text, Text: text},
		&schema.Message{Role: schema.Assistant, Channel: schema.Thought, MessageID: "t", Text: text},
		&schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: "a", Text: text, Revision: 2, Content: j(
			`[{"type":"text","text":$},{"type":"image","name":$,"uri":$},{"type":"resource","resource":{"uri":$,"text":$}}]`)},
		&schema.ToolCall{Tool: text, CallID: "c", Input: j(`{"a":$,"b":$}`)},
		&schema.ToolState{ToolID: "c", Name: text, Title: text + " title", State: schema.ToolPhase{Phase: schema.WaitingConfirmation, Description: text}},
		&schema.Raw{Source: "session/update/tool_call_update", Value: j(`{"toolCallId":"c","content":[{"type":"diff","path":$,"oldText":$,"newText":"x"}]}`)},
		&schema.Raw{Source: "session/request_permission", Value: j(`{"toolCall":{"toolCallId":"c"},"options":[{"optionId":"y","name":$}]}`)},
		&schema.Raw{Source: "session/request_permission/decision", Value: j(`{"toolCallId":"c","policy":$,"offered":[{"optionId":"y","name":$}],"outcome":{"outcome":"selected","optionId":"y"}}`)},
		&schema.ToolState{ToolID: "c", Name: text, State: schema.ToolPhase{Phase: schema.Executing, Progress: text}},
		&schema.ToolResult{CallID: "c", Output: quoted, IsError: true},
		&schema.ToolState{ToolID: "c", Name: text, State: schema.ToolPhase{Phase: schema.Completed, Output: &output, ConfirmedBy: schema.ConfirmedBy(text)}},
		&schema.Raw{Source: "session/request_permission", Value: j(`{"options":[{"optionId":"y","name":$}]}`)},
		&schema.Raw{Source: "session/update/plan", Value: j(`{"entries":[{"content":$,"status":$},{"content":$,"status":"completed"},{"content":$,"status":"in_progress"}]}`)},
		&schema.Raw{Source: "acp/noise", Value: schema.JSON(`{"base64":"` + base64.StdEncoding.EncodeToString([]byte(text)) + `"}`)},
		&schema.Raw{Source: text, Value: j(`{"x":$}`)},
		&schema.Raw{Source: text, Value: j(`{"x":$,"long":"` + strings.Repeat("long ", 60) + `"}`)},
		&schema.Raw{Source: "refused/" + text, Value: j(`{"reason":$}`)},
		&schema.Progress{Detail: &schema.Note{Text: text}},
		&schema.Progress{Detail: &schema.Note{Text: text + "\n" + text}},
		&schema.Stop{Reason: schema.StopError, Detail: text},
	}
	of := &export.Transcript{}
	var stored []sink.Event
	for i, k := range kinds {
		at := start.Add(time.Duration(i) * time.Second)
		e := schema.Event{
			Transcript: key, EmittedAt: at, WorkerSeq: uint64(i + 1), StoreSeq: uint64(i + 1), Frames: []schema.Range{{uint64(i + 1), uint64(i + 1)}},
			Source: schema.Source{Protocol: schema.ACP, Dialect: text, SessionID: text, Translator: "acp/1"}, Flags: []schema.Flag{schema.Flag(text)}, Kind: k,
			AgentRole: text,
		}
		of.Events = append(of.Events, e)
		stored = append(stored, sink.Event{Seq: e.StoreSeq, Bytes: e.AppendJSON(nil)})
	}
	of.Summary = sink.Summary{
		Key: key.String(), Protocol: schema.ACP, Dialect: text, Agent: text, Title: text, Cwd: text, Status: schema.StatusOpen,
		Frames: 20, Events: 20, FirstAt: start, LastAt: start.Add(time.Minute),
	}
	of.Stored = func(yield func(sink.Event, error) bool) {
		for _, e := range stored {
			if !yield(e, nil) {
				return
			}
		}
	}
	return of
}

// heads are the items of spoken that begin with a heading of their own in both exports.
const heads = 5 // user, agent, the tool, a permission, a plan

// elements that a page may have, and the attributes of each.
var elements = map[string][]string{
	"html": {"lang"}, "head": nil, "title": nil, "style": nil, "meta": {"charset", "http-equiv", "content", "name"}, "body": nil,
	"header": nil, "main": {"id"}, "footer": nil, "article": {"class", "id"}, "h1": nil, "h2": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil,
	"p": {"class", "role", "id"}, "div": {"class", "id"}, "span": {"class", "aria-hidden"}, "dl": nil, "dt": nil, "dd": nil, "time": {"datetime"},
	"a": {"class", "href", "rel", "title"}, "details": {"id", "class", "open"}, "summary": nil, "pre": {"class", "tabindex", "data-info"}, "code": nil,
	"ol": {"class", "aria-label", "start"}, "ul": nil, "li": {"class"}, "del": nil, "ins": nil, "em": nil, "strong": nil, "q": nil, "hr": nil, "br": nil, "blockquote": nil,
	"table": nil, "thead": nil, "tbody": nil, "tr": nil, "th": {"align"}, "td": {"align"}, "input": {"checked", "disabled", "type"},
}

// tame checks that a page runs nothing, loads nothing and hides nothing.
func tame(t require.TestingT, page string, elements map[string][]string) {
	for _, r := range page {
		require.True(t, r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d' || unicode.IsGraphic(r), "%q", r)
	}
	n, err := dom.Parse(strings.NewReader(page))
	require.NoError(t, err)
	for d := range n.Descendants() {
		require.NotEqual(t, dom.CommentNode, d.Type, "%s", d.Data)
		if d.Type == dom.TextNode && (d.Parent == nil || d.Parent.Data != "style") {
			for _, r := range d.Data {
				require.True(t, r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d' || unicode.IsGraphic(r), "%q in %q", r, d.Data)
			}
		}
		if d.Type != dom.ElementNode {
			continue
		}
		allowed, ok := elements[d.Data]
		require.True(t, ok, "element %s", d.Data)
		for _, a := range d.Attr {
			require.Contains(t, allowed, a.Key, "of %s", d.Data)
			if a.Key == "href" && !strings.HasPrefix(a.Val, "#") {
				u, err := url.Parse(a.Val)
				require.NoError(t, err)
				require.Contains(t, []string{"http", "https", "mailto"}, u.Scheme)
				require.Contains(t, attribute(d, "rel"), "noreferrer")
			}
		}
	}
}

func TestHostileTextStaysTextInHTML(t *testing.T) {
	for i, text := range hostile {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			page := html(t, spoken(text))
			tame(t, page, elements)
			n := parsed(t, page)
			require.Equal(t, 1, count(n, "h1"))
			require.Equal(t, 1, count(n, "main"))
			require.Equal(t, heads+1, count(n, "h2"), "and the thought")
			require.Equal(t, heads+1, count(n, "article"))
			require.Equal(t, 1, count(n, "style"))
		})
	}
}

func count(n *dom.Node, element string) (all int) {
	for d := range n.Descendants() {
		if d.Type == dom.ElementNode && d.Data == element {
			all++
		}
	}
	return all
}

// The policy lets the page's own style apply, and nothing else do anything.
func TestThePolicyAllowsTheStyleAlone(t *testing.T) {
	n := parsed(t, html(t, sacks(t)))
	var policy, style string
	for d := range n.Descendants() {
		if d.Data == "meta" && attribute(d, "http-equiv") == "Content-Security-Policy" {
			policy = attribute(d, "content")
		}
		if d.Data == "style" {
			style = d.FirstChild.Data
		}
	}
	sum := sha256.Sum256([]byte(style))
	require.Equal(t, "default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'; base-uri 'none'; form-action 'none'", policy)
	require.NotContains(t, style, "url(")
	require.NotContains(t, style, "@import")
	require.NotContains(t, style, "\r", "a browser would hash another text")
}

// viewedElements are those that Markdown makes, and those of the page around it.
var viewedElements = func() map[string][]string {
	all := map[string][]string{"s": nil}
	for name, attributes := range elements {
		all[name] = append(slices.Clone(attributes), "style", "class") // of a table's cells, of a block's language
	}
	for _, name := range []string{"style", "meta", "article", "main", "header", "footer", "time", "dl", "title", "img", "span", "div"} {
		delete(all, name)
	}
	return all
}()

func TestHostileTextStaysTextInMarkdown(t *testing.T) {
	for i, text := range hostile {
		t.Run(fmt.Sprint(i), func(t *testing.T) { stands(t, text) })
	}
}

// stands checks that a text is nowhere more than a part of the page that it is in.
func stands(t require.TestingT, said string) {
	page := markdown(t, spoken(said))
	for _, r := range page {
		require.True(t, r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d' || unicode.IsGraphic(r), "%q", r)
	}
	n := viewed(t, page)
	for d := range n.Descendants() {
		require.NotEqual(t, dom.CommentNode, d.Type, "%s\n%s", d.Data, page)
		if d.Type == dom.ElementNode {
			allowed, ok := viewedElements[d.Data]
			require.True(t, ok, "element %s\n%s", d.Data, page)
			for _, a := range d.Attr {
				if a.Key != "href" && a.Key != "title" {
					require.Contains(t, allowed, a.Key, "of %s\n%s", d.Data, page)
				}
			}
		}
	}
	require.Equal(t, 1, count(n, "h1"), page)
	require.Equal(t, heads, count(n, "h2"), page)
	if len(said) < 200 && strings.TrimSpace(said) != "" { // else more of them are folded, or fewer
		require.Equal(t, 4, count(n, "details"), "the thought, a resource, noise, a long record\n%s", page)
	}
	body := n.FirstChild.LastChild
	last := body.LastChild
	for last.Type == dom.TextNode {
		last = last.PrevSibling
	}
	require.Equal(t, "p", last.Data, page)
	require.Contains(t, text(last), "Written by steno.")
	require.Same(t, body, last.Parent)
}

// Whatever is said, the page around it is what it is.
func TestNoTextBreaksThePage(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
			"\n", "\n\n", " ", "    ", "\t", "a", "b c", "#", "# ", "=", "===", "---", "```", "~~~", "`", "``", ">", "> ", "- ", "1. ", "* ", "|", "| - |", "<", "</", "<b>", "<!--", "-->", "<div>", "</details>", "<script>",
			"<pre>", "![", "[", "](", "x)", ")", "]: ", "[x]: ", "&#8238;", "\\", "\\\n", "*", "**", "_", "~~", "https://x.test", "<https://x.test>", "é", "\u202e", "\x1b", "\r", ":", "$", "[^1]", "[ ] ",
		}), 0, 24).Draw(r, "pieces")
		stands(r, strings.Join(pieces, ""))
	})
}

// A message that would take a reader of Markdown hours is text; the next one is not.
func TestWhatTakesTooLongToReadStandsAsItIs(t *testing.T) {
	for name, message := range map[string]string{
		"long":   strings.Repeat("All of the sacks. ", 20_000),
		"marks":  strings.Repeat("_a*", 50_000),
		"links":  strings.Repeat("[a](b", 40_000),
		"nested": strings.Repeat("> ", 10_000) + "a",
		"lists":  strings.Repeat("- ", 5_000) + "a",
		"counts": strings.Repeat("1. ", 10_000) + "x" + strings.Repeat("\n", 30_000) + "y",
		"deeper": deeper(200) + strings.Repeat("\n", 8_000) + "y",
	} {
		t.Run(name, func(t *testing.T) {
			of := sacks(t)
			n := 0
			for i := range of.Events {
				if k, ok := of.Events[i].Kind.(*schema.Message); ok && k.Channel == schema.Answer {
					if n++; n == 2 {
						k.Text = message
					} else {
						k.Text = "**bold**"
					}
				}
			}
			require.Contains(t, markdown(t, of), "\n```text\n"+message+"\n```\n")
			page := parsed(t, html(t, of))
			require.Contains(t, text(page), message)
			require.Equal(t, n-1, count(page, "strong"))
		})
	}
}

// deeper is lists within lists, one a line.
func deeper(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	return b.String()
}

// What is long and orderly is read as Markdown, in the time that its bounds leave.
func TestWhatIsTameIsRead(t *testing.T) {
	for name, message := range map[string]string{
		"rules":  "**bold**\n\n" + strings.Repeat("-", 200) + "\n",
		"lines":  "**bold**\n" + strings.Repeat("1. a\n   - b\n", 1_000),
		"deeper": deeper(60) + strings.Repeat("\n", 1_000) + "**bold**",
		"counts": strings.Repeat("1. ", 60) + "x" + strings.Repeat("\n", 1_000) + "**bold**",
	} {
		t.Run(name, func(t *testing.T) {
			of := spoken(message)
			require.Equal(t, 3, count(parsed(t, html(t, of)), "strong"))
			require.Contains(t, markdown(t, of), "**bold**")
		})
	}
}

// What a message says holds for no other one.
func TestMessagesDoNotReachEachOther(t *testing.T) {
	for _, message := range []string{
		"see [x] and [^n]\n\n[x]: https://x.test 'hidden'\n[^n]: foot\n",
		"> [x]: https://x.test\n\n- [x]: https://x.test\n  [^n]: a foot\n\n[^n]: a foot of words\n",
	} {
		page := markdown(t, spoken(message))
		require.NotRegexp(t, `(?m)^[> -]*\[(x|\^n)\]:`, regexp.MustCompile("(?s)```.*?```").ReplaceAllString(page, ""))
		n := viewed(t, page)
		for d := range n.Descendants() {
			require.False(t, d.Data == "a" && text(d) == "x", page)
		}
		require.Contains(t, text(n), "hidden"[:len("hidden")*strings.Count(message, "hidden")], "a definition is said, too")
	}
}
