package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/consoletest"
	"github.com/steno-io/steno/console/web/webtest"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// elsewhere is where nothing listens and nobody may ask.
const elsewhere = "http://127.0.0.1:9"

// hostile is what text tries, to run or to load something, or to look like something else. What runs would
// touch window.canary.
var hostile = []string{
	`<script>canary()</script>`,
	`</script><script>canary()</script>`,
	`<img src=x onerror=canary()>`,
	`<img src=` + elsewhere + `/beacon.png>`,
	`<svg onload=canary()><script>canary()</script></svg>`,
	`<math><mtext><table><mglyph><style><img src=x onerror=canary()>`,
	`<iframe src="javascript:canary()"></iframe><object data="` + elsewhere + `/o"></object><embed src="` + elsewhere + `/e">`,
	`"><script>canary()</script>`,
	`' onfocus='canary()' autofocus='`,
	`" onmouseover="canary()" style="background:url(` + elsewhere + `/bg)"`,
	`</title></textarea></style></noscript></template><script>canary()</script>`,
	`<style>@import url(` + elsewhere + `/x.css); body { display: none }</style>`,
	`<body style="background:url(` + elsewhere + `/bg)" onpageshow=canary()>`,
	`<base href="` + elsewhere + `/"><meta http-equiv=refresh content="0;url=` + elsewhere + `/">`,
	`<link rel=stylesheet href=` + elsewhere + `/s.css><link rel=prefetch href=` + elsewhere + `/p>`,
	`<form action=` + elsewhere + `><button formaction=javascript:canary()>Allow</button></form>`,
	`<details open ontoggle=canary()><summary>x</summary></details>`,
	`<video src=` + elsewhere + `/v autoplay onerror=canary()><source onerror=canary()></video>`,
	`<a href="javascript:canary()" ping=` + elsewhere + `>here</a>`,
	`[here](javascript:canary())`,
	`[here](JaVaScRiPt&colon;canary())`,
	`[here](java&#10;script:canary())`,
	"[here](\x01javascript:canary())",
	`[here](data:text/html,<script>canary()</script>)`,
	`[here](vbscript:canary)`,
	`[here](//127.0.0.1:9/slashes) [here](\\127.0.0.1:9\slashes)`,
	`[here](` + elsewhere + `/"onclick="canary()"x=")`,
	`[here](<` + elsewhere + `/ "onclick=canary()>)`,
	"[ref] [ref][]\n\n[ref]: javascript:canary() \"title\"",
	`![beacon](` + elsewhere + `/beacon.png) ![here](/v1/transcripts) ![x](data:image/svg+xml,<svg/onload=canary()>)`,
	`[![nested](` + elsewhere + `/n.png)](javascript:canary())`,
	`<javascript:canary()> <` + elsewhere + `/auto>`,
	"```html\"><script>canary()</script>\n</code></pre><script>canary()</script>\n```",
	"`</code><script>canary()</script>`",
	"| a | <script>canary()</script> |\n|---|---|\n| <img src=x onerror=canary()> | [x](javascript:canary()) |",
	`{{constructor.constructor("canary()")()}} ${canary()} #{canary()} <%= canary() %> {% canary() %}`,
	`&lt;script&gt;canary()&lt;/script&gt; &#60;img src=x onerror=canary()&#62; &amp;lt;b&amp;gt;`,
	`javascript:canary()//` + elsewhere + `/%0A`,
	`__proto__ constructor toString hasOwnProperty`,
	"\u202egnp.exe\u202c \u2066isolated\u2069 \u200fright\u200e",
	"ad\u200bm\u2060i\ufeffn \u00adsoft \u115f\u3164\uffa0 filler",
	"\U000e0041\U000e0042 tags, \ufe0f\ufe0e selectors, \u061c mark",
	"nul \x00, bell \x07, back \x08\x08\x08, escape \x1b[31mred\x1b[0m \x1b]8;;" + elsewhere + "\x07link\x1b]8;;\x07, csi \u009b31m, del \x7f",
	"line\u2028separator\u2029paragraph\u0085next\x0bvertical\x0cform\rreturn",
	"z\u0335\u0321\u0353\u0349a\u0338\u0322\u0354l\u0337\u0328g\u0336\u0327o\u0334" + strings.Repeat("\u0301", 300),
	"\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u4f60\u597d \U0001f469\u200d\U0001f469\u200d\U0001f467 \ufdfd\ufdfd",
	strings.Repeat("W", 800),
	"https://example.org/" + strings.Repeat("a/", 300),
	strings.Repeat("> ", 100) + "deep",
	strings.Repeat("[", 300) + strings.Repeat("*a", 300) + strings.Repeat("_", 300),
	nested("- ", 30),
	strings.Repeat("`", 300) + " " + strings.Repeat("|", 100) + "\n" + strings.Repeat("-|", 100),
}

// extreme is what costs readers of Markdown much that are made badly.
var extreme = []string{
	strings.Repeat("W", 100_000),
	strings.Repeat("https://example.org/", 5000),
	strings.Repeat("> ", 20_000) + "deep",
	strings.Repeat("[", 30_000), strings.Repeat("![", 20_000), strings.Repeat("[a](", 20_000), strings.Repeat("[a]", 20_000) + ":",
	strings.Repeat("*a", 20_000), strings.Repeat("_a*", 20_000), strings.Repeat("**a __", 10_000), strings.Repeat("*", 50_000), strings.Repeat("~~a", 20_000),
	strings.Repeat("`", 20_000) + " ", strings.Repeat("` `` ", 10_000), strings.Repeat("<", 30_000), strings.Repeat("<a@", 20_000), strings.Repeat("&", 30_000), strings.Repeat("\\", 30_000),
	nested("- ", 300), nested("1. ", 300), strings.Repeat("- ", 5000) + "a", strings.Repeat("- a\n", 10_000), strings.Repeat("# a\n", 10_000),
	strings.Repeat("|", 20_000) + "\n" + strings.Repeat("-|", 20_000), strings.Repeat("| a ", 2000) + "\n" + strings.Repeat("|-", 2000) + strings.Repeat("\n| b", 500),
	strings.Repeat("a\n|-|\n", 5000), strings.Repeat("a\n", 10_000) + "---", strings.Repeat("[a]: b\n", 10_000), strings.Repeat("a  \n", 10_000), strings.Repeat("a@b.", 10_000), strings.Repeat("www.", 10_000),
	strings.Repeat("*a ", 10_000) + strings.Repeat("a* ", 10_000), "![" + strings.Repeat("*a ", 10_000) + strings.Repeat("a* ", 10_000) + "](b)",
	strings.Repeat("![", 10_000) + strings.Repeat("](a)", 10_000), strings.Repeat("[", 50_000) + strings.Repeat("[a](b)", 5000), strings.Repeat("*a ", 50_000) + strings.Repeat("[a](b)", 5000),
	strings.Repeat("-a\n", 50_000), strings.Repeat("a\n", 10_000) + "a|b\n-|-\n" + strings.Repeat("---\n", 10_000), strings.Repeat("a\n\n[a]: b\n\n", 5000),
	"# a" + strings.Repeat(" ", 100_000) + "b", "a" + strings.Repeat(" ", 100_000) + "b\nc", "a\n:-" + strings.Repeat(" ", 100_000) + "x",
	"http://a.b" + strings.Repeat(")", 50_000), "a@b.c " + strings.Repeat("w", 100_000), strings.Repeat("a.", 50_000) + "@", "http://a.b" + strings.Repeat("&a;", 50_000),
}

// nested is a list in a list in a list.
func nested(mark string, depth int) string {
	var b strings.Builder
	for i := range depth {
		fmt.Fprintf(&b, "%s%slevel %d\n", strings.Repeat("  ", i), mark, i)
	}
	return b.String()
}

// deep is JSON inside JSON.
func deep(n int) any {
	var v any = "core"
	for range n {
		v = consoletest.Object{"<b>": []any{v}}
	}
	return v
}

// attack says a text wherever an agent can say one.
func attack(c *consoletest.Talk, i int, text string) {
	id := fmt.Sprintf("t%d", i)
	in := consoletest.Object{text: text, "list": []any{text, consoletest.Object{"inner": text}}}
	c.Prompt("prompt " + text)
	c.Thought("thought " + text)
	c.Plan("entry "+text, "pending", text, "in_progress")
	c.Chunk("answer " + text)
	c.Update("tool_call", consoletest.Object{"toolCallId": id, "title": "title " + text, "name": text, "kind": text, "status": "pending",
		"rawInput": in, "locations": []any{consoletest.Object{"path": text, "line": 1}}})
	c.Agent(consoletest.Object{"id": "ask" + id, "method": "session/request_permission", "params": consoletest.Object{
		"sessionId": c.Session, "toolCall": consoletest.Object{"toolCallId": id, "title": "asked " + text},
		"options": []consoletest.Object{{"optionId": text, "name": "option " + text, "kind": text}, {"optionId": "n", "name": text, "kind": "reject_once"}},
	}})
	c.Client(consoletest.Object{"id": "ask" + id, "result": consoletest.Object{"outcome": consoletest.Object{"outcome": "selected", "optionId": text}}})
	c.ToolIs(id, "completed", consoletest.Object{"rawOutput": in, "content": []any{
		consoletest.Diff("/w/"+text, "old "+text+"\n", "new "+text+"\n"),
		consoletest.Object{"type": "content", "content": consoletest.Text("content " + text)},
		consoletest.Object{"type": "content", "content": consoletest.Object{"type": "resource_link", "uri": text, "name": text}},
		consoletest.Object{"type": "content", "content": consoletest.Object{"type": "image", "data": "R0lGODlhAQABAAAAACw=", "mimeType": text, "uri": text}},
		consoletest.Object{"type": "terminal", "terminalId": text},
	}})
	c.Update("agent_message_chunk", consoletest.Object{"content": consoletest.Object{"type": "image", "data": "PHN2Zz4=", "mimeType": "image/svg+xml", "uri": elsewhere + "/chunk.svg"}})
	c.Update("notice", consoletest.Object{"severity": text, "title": text, "description": text})
	c.Update("current_mode_update", consoletest.Object{"currentModeId": text})
	c.Update("session_info_update", consoletest.Object{"title": "named " + text})
	c.Update("unheard_of_"+text, consoletest.Object{"field": text, text: "field"})
	c.Update("usage_update", consoletest.Object{"used": 1, "size": 2, "cost": consoletest.Object{"amount": 1, "currency": text}})
	c.Agent(consoletest.Object{"method": "_" + text, "params": consoletest.Object{text: text}})
	c.Line(schema.FromAgent, "noise "+strings.NewReplacer("\n", " ", "\r", " ").Replace(text))
	c.Line(schema.FromStderr, "stderr "+text)
	if i%2 == 0 {
		c.Stop("end_turn")
	} else {
		c.Agent(consoletest.Object{"id": c.LastPrompt(), "error": consoletest.Object{"code": -32000, "message": "error " + text, "data": text}})
	}
}

// attacks is a conversation of nothing but that.
func attacks(s *consoletest.Site) *consoletest.Talk {
	labels := consoletest.Object{}
	for i, text := range hostile[:10] {
		labels[fmt.Sprintf("l%d", i)] = text
	}
	tap := s.Tap(s.Identity("hostile"))
	c := s.TalkOn(tap, labels)
	c.Together(func() {
		for i, text := range hostile {
			attack(c, i, text)
		}
		c.Update("tool_call", consoletest.Object{"toolCallId": "deep", "title": "deep", "status": "pending", "rawInput": deep(60)})
		c.Line(schema.FromAgent, strings.Repeat(`<img src=x onerror=canary()> `, 2<<20/29))
		c.Line(schema.FromAgent, "not \xff\xfe UTF-8 \xc3\x28 <script>canary()</script>")
		c.Close()
	})
	s.Stored(c.Key, consoletest.Ended)
	return c
}

// sound lists what must not be in a page, wherever it came from.
const sound = `(() => {
	const bad = [];
	const forbidden = "script, iframe, frame, object, embed, base, img, picture, video, audio, source, link, meta, style, form, portal, applet";
	for (const e of document.body.querySelectorAll(forbidden)) bad.push("element " + e.outerHTML.slice(0, 200));
	for (const e of document.querySelectorAll("[data-text] *")) {
		if (e.namespaceURI !== "http://www.w3.org/1999/xhtml") bad.push("namespace " + e.outerHTML.slice(0, 200));
	}
	for (const e of document.querySelectorAll("*")) {
		for (const a of e.attributes) {
			const name = a.name.toLowerCase();
			if (name.startsWith("on") || ["srcdoc", "formaction", "ping", "background", "xlink:href", "action"].includes(name)) {
				bad.push("attribute " + name + " on " + e.tagName);
			}
			if (name === "href" && e.tagName === "A") {
				const u = new URL(a.value, location.href);
				if (!["http:", "https:", "mailto:"].includes(u.protocol)) bad.push("link to " + a.value.slice(0, 200));
				if (u.origin !== location.origin && !(e.relList.contains("noreferrer") && e.relList.contains("noopener"))) bad.push("link without rel " + a.value.slice(0, 200));
			}
		}
	}
	return bad;
})()`

// whole has every item of a transcript in the page for a moment, unfolded, and looks at each page with look. A page that
// is high needs fewer looks.
func whole(tab *webtest.Tab, look func()) {
	tab.Size(1440, 6000)
	tab.Do(`document.querySelector("[data-scroller]").scrollTop = 0`)
	for end := false; !end; {
		tab.Do(`(() => { for (const d of document.querySelectorAll("details:not([open])")) d.open = true; })()`)
		tab.Do("new Promise((tell) => requestAnimationFrame(() => requestAnimationFrame(tell)))")
		tab.Gone("[data-items][data-short]")
		look()
		end = webtest.Eval[bool](tab, `(() => {
			const s = document.querySelector("[data-scroller]"), was = s.scrollTop;
			s.scrollTop = was + s.clientHeight * 0.9;
			return s.scrollTop <= was + 1;
		})()`)
		tab.Do("new Promise((tell) => requestAnimationFrame(() => requestAnimationFrame(tell)))")
		tab.Gone("[data-items][data-short]")
	}
	tab.Size(1440, 900)
}

// TestHostileTextStaysText shows a transcript of nothing but attacks, all of it and unfolded. The tab itself
// fails the test where a script ran, the policy blocked something, or anybody else was asked for anything.
func TestHostileTextStaysText(t *testing.T) {
	s := site(t)
	c := attacks(s)
	tab := open(t, address(s, c.Key))
	tab.There("[data-items][data-complete], [data-complete]")
	if webtest.Eval[bool](tab, `!!document.querySelector('[data-action="records"]')`) {
		tab.Press("r") // all records, too
	}
	seen := map[string]bool{}
	whole(tab, func() {
		require.Empty(t, webtest.Eval[[]string](tab, sound))
		for _, text := range webtest.Eval[[]string](tab, `[...document.querySelectorAll("[data-item]")].map((e) => e.innerText)`) {
			for _, want := range []string{"<script>canary()</script>", "<img src=x onerror=canary()>", "⟨U+202E⟩", "⟨U+200B⟩", "{{constructor.constructor("} {
				if strings.Contains(text, want) {
					seen[want] = true
				}
			}
		}
	})
	tab.Shot("end")
	require.Len(t, seen, 5, "what is said must be seen: %v", seen)
	require.Empty(t, tab.Problems())
}

// TestHostileTextIsInspected opens each kind of hostile item beside its frames.
func TestHostileTextIsInspected(t *testing.T) {
	s := site(t)
	c := s.Talk(s.Namespace, "inspect")
	c.Together(func() {
		for i, text := range hostile[:6] {
			attack(c, i, text)
		}
		c.Close()
	})
	s.Stored(c.Key, consoletest.Ended)
	tab := open(t, address(s, c.Key))
	tab.Press("g")
	for range 12 {
		tab.Press("j")
		tab.Press(webtest.Enter)
		tab.There("[data-inspector] [data-event]")
		tab.There("[data-inspector] [data-frame]")
		require.Empty(t, webtest.Eval[[]string](tab, sound))
		tab.Press(webtest.Escape)
	}
	tab.Press("g")
	tab.Press("j")
	tab.Press(webtest.Enter)
	tab.Shows("[data-inspector] [data-bytes]", "canary()")
	tab.Shot("inspector")
}

// TestHostileList has the list, its filters and the search show what agents call themselves.
func TestHostileList(t *testing.T) {
	s := site(t)
	for i, text := range hostile[:30] {
		labels := consoletest.Object{"team": text}
		c := s.TalkOn(s.Tap(s.Identity(fmt.Sprintf("h%d", i))), labels)
		c.Together(func() {
			c.Title("named " + text)
			c.Prompt("needle " + text)
			c.Chunk("needle in " + text)
			c.Stop("end_turn")
			c.Close()
		})
		s.Stored(c.Key, consoletest.Ended)
	}
	s.Indexed()
	tab := open(t, s.URL+"/")
	tab.Await(`document.querySelectorAll("[data-key]").length >= 10`)
	tab.Shows("[data-list]", "<img src=x onerror=canary()>")
	require.Empty(t, webtest.Eval[[]string](tab, sound))
	tab.Shot("list")
	tab.Go(s.URL + "/search?q=needle")
	tab.There("[data-hit] mark")
	tab.Shows("[data-hit]", "canary()")
	require.Empty(t, webtest.Eval[[]string](tab, sound))
	tab.Shot("search")
	// An address is text from elsewhere, too.
	tab.Allow("status of 400", "status of 404")
	tab.Go(s.URL + "/search?q=%3Cscript%3Ecanary()%3C/script%3E&status=%3Cimg%20src=x%20onerror=canary()%3E")
	tab.There("body[data-view]")
	tab.Go(s.URL + "/t/%3Cscript%3Ecanary()%3C/script%3E/w/r/0/1/1?seq=%3Cimg%20src=x%3E#%3Cscript%3E")
	tab.There("body[data-view]")
	require.Empty(t, webtest.Eval[[]string](tab, sound))
}

// TestHostilePeer has a peer of A2A attack in the names, keys, addresses and texts of what it sends.
func TestHostilePeer(t *testing.T) {
	s := site(t)
	var file bytes.Buffer
	at, no := time.Date(2026, 11, 29, 20, 0, 0, 0, time.UTC), 0
	frame := func(from, channel string, o, http consoletest.Object) {
		text, err := json.Marshal(o)
		require.NoError(t, err)
		line := consoletest.Object{"at": at, "from": from, "protocol": "a2a", "exchange": "x1", "chan": channel, "http": http, "text": string(text)}
		if channel == "stream" {
			no++
			line["no"], line["text"] = no, "data: "+string(text)+"\n\n"
		}
		at = at.Add(time.Millisecond)
		require.NoError(t, json.NewEncoder(&file).Encode(line))
	}
	tell := func(result consoletest.Object) {
		frame("agent", "stream", consoletest.Object{"jsonrpc": "2.0", "id": "r", "result": result}, consoletest.Object{"status": 200, "content_type": "text/event-stream"})
	}
	said := func(text string) consoletest.Object {
		return consoletest.Object{"messageId": "m" + text, "role": "ROLE_AGENT", "taskId": "t1", "contextId": "c1", "parts": []any{consoletest.Object{"text": "said " + text}},
			"metadata": consoletest.Object{text: text}}
	}
	frame("client", "request", consoletest.Object{"jsonrpc": "2.0", "id": "r", "method": "SendStreamingMessage", "params": consoletest.Object{
		"message": consoletest.Object{"messageId": "m0", "role": "ROLE_USER", "parts": []any{consoletest.Object{"text": hostile[0]}}}}},
		consoletest.Object{"method": "POST", "path": "/v1rpc", "a2a_version": "1.0"})
	tell(consoletest.Object{"task": consoletest.Object{"id": "t1", "contextId": "c1", "status": consoletest.Object{"state": "TASK_STATE_SUBMITTED"}}})
	for i, text := range hostile {
		tell(consoletest.Object{"artifactUpdate": consoletest.Object{"taskId": "t1", "contextId": "c1", "artifact": consoletest.Object{
			"artifactId": fmt.Sprintf("a%d", i), "name": text, "description": text, "metadata": consoletest.Object{text: text},
			"parts": []any{consoletest.Object{"text": "part " + text}, consoletest.Object{"data": consoletest.Object{text: []any{text}}},
				consoletest.Object{"url": text, "filename": text, "mediaType": text}, consoletest.Object{"raw": "AAAA", "filename": text, "mediaType": "image/svg+xml"}}}}})
		tell(consoletest.Object{"statusUpdate": consoletest.Object{"taskId": "t1", "contextId": "c1",
			"status": consoletest.Object{"state": "TASK_STATE_WORKING", "message": said(text)}}})
	}
	tell(consoletest.Object{"statusUpdate": consoletest.Object{"taskId": "t1", "contextId": "c1",
		"status": consoletest.Object{"state": "TASK_STATE_FAILED", "message": said(hostile[0])}}})
	path := filepath.Join(t.TempDir(), "peer.jsonl")
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o600))
	key := s.Import(path).Transcript(0)
	s.Stored(key, func(s sink.Summary) bool { return s.Head > uint64(len(hostile)) })
	tab := open(t, address(s, key))
	tab.There("[data-complete]")
	shown := ""
	whole(tab, func() {
		require.Empty(t, webtest.Eval[[]string](tab, sound))
		shown += tab.Text("[data-items]")
	})
	for _, want := range []string{"part <script>canary()</script>", "said <img src=x onerror=canary()>"} {
		require.Contains(t, shown, want)
	}
	tab.Shot("peer")
}
