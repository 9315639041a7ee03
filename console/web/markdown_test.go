package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"github.com/steno-io/steno/console/web"
	"github.com/steno-io/steno/console/web/webtest"
)

// oracle is another implementation of what the page reads: CommonMark with GitHub's tables, strikethrough,
// tasks and bare links, in which raw HTML is text.
var oracle = goldmark.New(
	goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(without(parser.DefaultBlockParsers(), 900)...),
		parser.WithInlineParsers(without(parser.DefaultInlineParsers(), 400)...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)),
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithRendererOptions(html.WithUnsafe()), // addresses as they are: the comparison knows which are refused
)

// without leaves one parser out, by its priority: those of HTML.
func without(all []util.PrioritizedValue, priority int) (rest []util.PrioritizedValue) {
	for _, p := range all {
		if p.Priority != priority {
			rest = append(rest, p)
		}
	}
	return rest
}

// shape writes a tree of elements as text, so that the page's and the oracle's can be compared: what differs
// by intent is evened out.
const shape = `
const safe = (href) => {
	if (!/^(https?:\/\/|mailto:)/i.test(href)) return null;
	try { return new URL(href).href; } catch { return null; }
};
const squeeze = (s) => s.replace(/\s+/g, " ");
const quote = (s) => s.trim() === "" ? "" : JSON.stringify(s.trim());
const shapeOf = (root, asHTML) => {
	const out = [];
	let words = "";
	const flush = () => { const q = quote(squeeze(words)); if (q) out.push(q); words = ""; };
	const inside = (name, e) => { flush(); out.push(name + "("); walk(e); flush(); out.push(")"); };
	const walk = (parent) => {
		for (const e of parent.childNodes) {
			if (e.nodeType === 3) { words += e.data; continue; }
			if (e.nodeType !== 1) continue;
			const tag = e.tagName.toLowerCase();
			if (/^h\d$/.test(tag)) inside("h" + (e.dataset.level ?? tag[1]), e);
			else if (tag === "pre") { // HTML has a line feed behind the last line
				flush();
				out.push("pre(" + JSON.stringify(asHTML ? e.textContent.replace(/\n$/, "") : e.textContent) + ")");
			}
			else if (tag === "code") { flush(); out.push("code(" + JSON.stringify(squeeze(e.textContent)) + ")"); }
			else if (tag === "br") { flush(); out.push("br"); }
			else if (tag === "hr") { flush(); out.push("hr"); }
			else if (tag === "input") { flush(); out.push(e.checked ? "[x]" : "[ ]"); }
			else if (tag === "img") { flush(); out.push("image(" + JSON.stringify(squeeze(e.alt).trim()) + ")"); }
			else if (e.classList.contains("image")) {
				const alt = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join("");
				flush(); out.push("image(" + JSON.stringify(squeeze(alt).trim()) + ")");
			}
			else if (tag === "a") {
				const href = safe(e.getAttribute("href") ?? "");
				inside(href === null ? "refused" : "a<" + href + ">", e);
			}
			else if (e.classList.contains("no-link")) {
				const copy = e.cloneNode(true);
				const last = copy.lastChild;
				if (last && last.nodeType === 3) last.data = last.data.replace(/ \([^]*\)$/, "");
				inside("refused", copy);
			}
			else if (tag === "th" || tag === "td") {
				const to = e.textContent === "" ? "" : e.className.match(/to-(\w+)/)?.[1] ?? e.style.textAlign ?? "";
				inside(tag + (to ? "-" + to : ""), e);
				for (let n = 1; n < e.colSpan; n++) out.push(tag + "( )");
			}
			else if (tag === "ol") inside("ol" + (e.getAttribute("start") ?? "1"), e);
			else if (["p", "blockquote", "ul", "li", "em", "strong", "del", "table", "thead", "tbody", "tr"].includes(tag)) inside(tag, e);
			else walk(e);
		}
	};
	walk(root);
	flush();
	return out.join(" ");
};`

// blank is an empty page without a policy that has the page's modules.
func blank(t *testing.T) *webtest.Tab {
	mux := http.NewServeMux()
	mux.Handle("/static/", web.Handler())
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, err := io.WriteString(w, "<!doctype html><link rel=icon href=data:,><title>t</title>")
		require.NoError(t, err)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return webtest.Open(t, s.URL)
}

// renderer is blank, and gives the shapes of texts.
func renderer(t *testing.T) *webtest.Tab {
	tab := blank(t)
	tab.Do(`(async () => {
		const { markdown } = await import("/static/markdown/render.js");
		const { Growing } = await import("/static/markdown/growing.js");
		` + shape + `
		window.ours = (source) => {
			const e = document.createElement("div");
			e.append(...markdown(source));
			return shapeOf(e);
		};
		window.theirs = (html) => shapeOf(new DOMParser().parseFromString(html, "text/html").body, true);
		window.grown = (source) => {
			const e = document.createElement("div"), g = new Growing(e);
			document.body.append(e);
			for (let i = 1, step = 1; i < source.length; i += step, step = step % 7 + 1) g.set(source.slice(0, i));
			g.set(source);
			const s = shapeOf(e);
			e.remove();
			return s;
		};
	})()`)
	return tab
}

type pair struct{ Source, HTML string }

// compare gives ours and the oracle's shapes of texts.
func compare(t *testing.T, tab *webtest.Tab, sources []string) (ours, theirs []string) {
	t.Helper()
	for len(sources) > 0 {
		n := min(len(sources), 200)
		var pairs []pair
		for _, s := range sources[:n] {
			var b bytes.Buffer
			require.NoError(t, oracle.Convert([]byte(s), &b))
			pairs = append(pairs, pair{s, b.String()})
		}
		encoded, err := json.Marshal(pairs)
		require.NoError(t, err)
		both := webtest.Eval[[][2]string](tab, fmt.Sprintf(`%s.map((p) => [ours(p.Source), theirs(p.HTML)])`, encoded))
		for _, b := range both {
			ours, theirs = append(ours, b[0]), append(theirs, b[1])
		}
		sources = sources[n:]
	}
	return ours, theirs
}

// TestMarkdownIsReadAsOthersReadIt holds the page's renderer against the oracle.
func TestMarkdownIsReadAsOthersReadIt(t *testing.T) {
	tab := renderer(t)
	ours, theirs := compare(t, tab, snippets)
	for i, s := range snippets {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			require.Equal(t, theirs[i], ours[i], "%q", s)
		})
	}
}

// TestRandomMarkdown does so with texts that nobody thought of, the same ones each time.
func TestRandomMarkdown(t *testing.T) {
	tab := renderer(t)
	n := 1000
	if *long {
		n = 20_000
	}
	sources := random(n, plainPieces)
	ours, theirs := compare(t, tab, sources)
	differ := 0
	for i := range sources {
		if ours[i] != theirs[i] {
			if differ++; differ <= 5 {
				t.Logf("%q\nours   %s\ntheirs %s", sources[i], ours[i], theirs[i])
			}
		}
	}
	t.Logf("%d of %d texts differ", differ, n)
	require.LessOrEqual(t, differ, n/200, "the oracle has faults of its own: it puts a table before the heading above it")
}

// TestMarkdownThatGrows feeds texts in pieces, as they are typed: in the end they are what they are at once.
func TestMarkdownThatGrows(t *testing.T) {
	tab := renderer(t)
	var sources []string
	for _, s := range append(random(400, plainPieces), snippets...) {
		if !strings.Contains(s, "]:") { // a definition behind its use is known once the message is whole
			sources = append(sources, s+"\n\nend") // code that is being written keeps its last line feed
		}
	}
	encoded, err := json.Marshal(sources)
	require.NoError(t, err)
	for i, both := range webtest.Eval[[][2]string](tab, fmt.Sprintf(`%s.map((s) => [ours(s), grown(s)])`, encoded)) {
		require.Equal(t, both[0], both[1], "%q", sources[i])
	}
}

// TestALongListGrows types lists and a table: what stands in them stays, and in the end all is as if it had come at once.
func TestALongListGrows(t *testing.T) {
	tab := renderer(t)
	numbered := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, source := range map[string]string{
		"tight":          numbered("- item **%d**\n", 60),
		"loose":          numbered("- item **%d**\n\n", 60),
		"ordered":        numbered("1. item `%d`\n   with a second line\n", 60),
		"loose at last":  numbered("- item %d\n", 60) + "\n- the last one",
		"another list":   numbered("- item %d\n", 40) + numbered("* item %d\n", 40),
		"nested":         numbered("- item %d\n  - in\n    - it\n", 40),
		"code":           numbered("- item %d\n  ```\n  code\n  ```\n", 40),
		"tasks":          numbered("- [x] item %d\n", 40),
		"a rule":         numbered("- item %d\n", 40) + "---\n" + numbered("- more %d\n", 10),
		"lazy":           numbered("- item %d\ngoes on\n", 40) + "to its end",
		"table":          "| a | b |\n|---|:-:|\n" + numbered("| cell **%d** | `x` |\n", 60),
		"table and text": "| a |\n|---|\n" + numbered("| cell %d |\n", 40) + "\ntext\n\n" + numbered("- item %d\n", 10),
	} {
		t.Run(name, func(t *testing.T) {
			got := webtest.Eval[struct {
				Same bool
				Kept bool
			}](tab, fmt.Sprintf(`(async () => {
				const { Growing } = await import("/static/markdown/growing.js");
				const source = %s + "\n\nend", e = document.createElement("div"), g = new Growing(e);
				document.body.replaceChildren(e);
				const entries = () => e.querySelectorAll("li, tbody tr");
				let first = null;
				for (let n = 1; n < source.length; n += 13) {
					g.set(source.slice(0, n));
					if (entries().length > 2) first ??= entries()[0];
					if (g.isBehind) await new Promise((tell) => setTimeout(tell, 20));
				}
				g.set(source);
				while (g.isBehind) await new Promise((tell) => setTimeout(tell, 20));
				const all = document.createElement("div"), once = new Growing(all);
				once.set(source);
				return { Same: e.innerHTML === all.innerHTML, Kept: first !== null && entries()[0] === first };
			})()`, webtest.Quote(source)))
			require.True(t, got.Same, "it is as if it had come at once")
			require.Equal(t, name != "loose at last", got.Kept, "the first entry is the one that was made first")
		})
	}
}

// TestHostileMarkdown renders attacks and random pieces of them under the page's own policy.
func TestHostileMarkdown(t *testing.T) {
	s := site(t)
	tab := open(t, s.URL+"/")
	n := 2000
	if *long {
		n = 40_000
	}
	sources := append(append(random(n, hostilePieces), hostile...), extreme...)
	var slow []string
	for len(sources) > 0 {
		part := sources[:min(len(sources), 500)]
		sources = sources[len(part):]
		encoded, err := json.Marshal(part)
		require.NoError(t, err)
		found := webtest.Eval[struct {
			Bad  []string
			Slow []string
		}](tab, fmt.Sprintf(`(async () => {
			const { markdown } = await import("/static/markdown/render.js");
			const into = document.createElement("div"), bad = [];
			into.dataset.text = "";
			document.body.append(into);
			const slow = [];
			for (const s of %s) {
				const began = performance.now();
				into.replaceChildren(...markdown(s));
				const took = performance.now() - began;
				if (took > 100) slow.push(took.toFixed(0) + " ms for " + s.slice(0, 30) + " … of " + s.length);
				if (took > 2500) bad.push(s.slice(0, 30) + " … of " + s.length + " takes " + took.toFixed(0) + " ms");
				const found = %s;
				if (found.length) bad.push(s + " gives " + found);
			}
			into.remove();
			return { Bad: bad, Slow: slow };
		})()`, encoded, sound))
		require.Empty(t, found.Bad)
		slow = append(slow, found.Slow...)
	}
	require.Empty(t, tab.Problems())
	t.Logf("%d texts; those that took 100 ms or more: %q", n, slow)
}

// random makes texts of pieces, always the same.
func random(n int, pieces []string) (all []string) {
	r := rand.New(rand.NewPCG(7, 11))
	for range n {
		var b strings.Builder
		for range 1 + r.IntN(14) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		all = append(all, b.String())
	}
	return all
}

var plainPieces = []string{
	"oats", " rye ", "barley and wheat", ".", "!", " ", "  ", "\n", "\n", "\n\n", "\n\n", "  \n", "\\\n", "\t",
	"*", "**", "***", "_", "__", "~~", "`", "``", "`code`", "*em*", "**strong**", "~~gone~~", "\\*", "\\", "&amp;", "&copy;", "&", "<", ">", "<b>",
	"# ", "## ", "###### ", "#", "\n---\n", "\n***\n", "- ", "* ", "+ ", "1. ", "7) ", "\n- a\n- b\n", "\n1. one\n2. two\n", "\n  - in\n", "- [x] done\n", "- [ ] open\n",
	"> ", "> said\n", "\n> more\n> lines\n", "\n    indented\n", "\n```\nfenced\n```\n", "\n~~~go\nx := 1\n~~~\n", "```",
	"[text](https://example.org/a)", "[t](<https://example.org/b c> \"title\")", "[", "]", "(", ")", "![alt](https://example.org/i.png)", "<https://example.org/auto>",
	"\n| a | b |\n|---|:-:|\n| 1 | 2 |\n", "|", "\u00e4\u00f6", "\u4f60\u597d", "\U0001f33e", "snake_case_word", "2*3*4",
}

var hostilePieces = append([]string{
	"<script>", "</script>", "<img src=x onerror=canary()>", "<svg onload=canary()>", "javascript:canary()", "JAVASCRIPT:", "data:text/html,<b>", "vbscript:",
	"](javascript:canary())", "](data:x)", "[x](", "![x](", elsewhere + "/x.png)", "<" + elsewhere + "/>", "<javascript:canary()>", "\" onclick=\"canary()\"", "' onfocus='canary()'",
	"\x00", "\u202e", "\u200b", "\x1b[31m", "&colon;", "&#58;", "&#x6a;", "&NewLine;", "&Tab;", "\x01", "\u2028", "<iframe srcdoc='", "<style>", "</style>", "[a]: javascript:canary()\n", "[a]",
	"| <script> |\n|-|\n| [x](javascript:canary()) |\n", "mailto:a@b?subject=<script>", "https://a@b:c@127.0.0.1:9/", "ht\ntp://x", "\ufeff", "\U000e0041",
}, plainPieces...)
