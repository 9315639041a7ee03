package web_test

// snippets are texts of which the page and another reader of Markdown must make the same.
var snippets = []string{
	"", " ", "\n\n", "a", "a\nb", "a\n\nb", "a  \nb", "a\\\nb", "  a\n  b", "a\n\n\n\nb",
	"# One", "## Two ##", "### Three ### not", "#### Four", "##### Five", "###### Six", "####### seven", "#no", "#", "# \n# x",
	"One\n===", "Two\n---", "Two lines\nof it\n===", "a\n\n---", "---\n---", "***", "___", "* * *", "- - -", "--", " ---", "    ---",
	"*em*", "_em_", "**strong**", "__strong__", "***both***", "*a **b** c*", "**a *b* c**", "* no *", "a*b*c", "a_b_c", "_a_b", "**a*", "*a**", "**", "****", "*a\nb*",
	"~~gone~~", "~one~", "~~a\n\nb~~", "a ~~b *c* d~~ e", "~~~not~~~",
	"`code`", "`` a ` b ``", "` `", "``", "`a", "`a\nb`", "`a` b `c`", "`*a*`", "*`a*`", "\\`a`",
	"\\*a\\*", "\\# a", "\\a", "a\\", "\\\\", "\\<b\\>", "1\\. a", "\\- a",
	"&amp;", "&lt;b&gt;", "&copy;", "&nosuch;", "&#65;", "&#x42;", "&#0;", "a & b", "&amp", "AT&T",
	"- a", "- a\n- b", "* a\n* b", "+ a", "- a\n\n- b", "- a\n  b", "- a\nb", "- a\n\n  b", "- a\n  - b\n    - c", "- a\n* b", "-a", "- ", "-\n  a", "- a\n\n\n  b",
	"1. a\n2. b", "3. a\n1. b", "1) a", "1. a\n1) b", "10. a", "1234567890. a", "1. a\n   - b\n   - c\n2. d", "a\n1. b", "a\n2. b", "0. a",
	"- [ ] a", "- [x] b\n- [X] c", "- [] d", "1. [x] a", "- a [x] b",
	"> a", "> a\n> b", "> a\nb", "> a\n\n> b", "> > a", "> # a\n> - b", ">a", "> ```\n> x\n> ```", "- > a\n  > b", "> - a\n> - b\n>\n> c",
	"```\na\n```", "```go\nfunc f() {}\n```", "~~~\na\n~~~", "```\na", "````\n```\n````", "```\n\n\n```", "  ```\n  a\n  ```", "```a`b\n```", "``` js x=1\n<b>\n```", "a\n```\nb\n```\nc",
	"    a\n    b", "    a\n\n    b", "a\n    b", "\ta", "- a\n\n      code", "    <b>",
	"[a](https://example.org)", "[a](https://example.org \"t\")", "[a](<https://example.org/b c>)", "[a]()", "[](https://example.org)", "[a](https://example.org/(b))", "[a] (b)", "[a](b)", "[*a*](https://example.org)", "[a [b](https://example.org/b) c](https://example.org/c)", "[a](mailto:a@example.org)", "[a](javascript:x)", "[a](https://example.org/?a=1&b=2)", "[a\nb](https://example.org)",
	"[a][b]\n\n[b]: https://example.org", "[a][]\n\n[a]: https://example.org 'title'", "[a]\n\n[a]: <https://example.org>", "[A]\n\n[a]: https://example.org", "[a][c]", "[b]: https://example.org", "[a]: \nb",
	"![a](https://example.org/a.png)", "![*a* b](c.png \"t\")", "[![a](https://example.org/a.png)](https://example.org)", "!a", "![a]", "\\![a](b)",
	"<https://example.org>", "<a@example.org>", "<notalink>", "<https://example.org/a b>",
	"https://example.org", "see https://example.org/a?b=c, and", "(https://example.org/a)", "https://example.org.", "www.example.org", "a@example.org", "http://", "https://example.org/a_b_c", "*https://example.org*", "xhttps://example.org",
	"| a | b |\n|---|---|\n| 1 | 2 |", "a | b\n--|--\n1 | 2", "| a |\n|:-:|\n| b |", "|a|b|\n|:--|--:|\n|1|2|\n|3|", "| a |\n|---|\n\nb", "| a | b |\n|---|\n| 1 | 2 |", "| `a\\|b` | c |\n|---|---|", "| *a* | [b](https://example.org) |\n|-|-|\n| ~~c~~ | d |", "a\n| b |\n|---|\n| c |", "| a |\n| - |\n| b | c | d |\n> e",
	"<b>bold</b>", "<script>x</script>", "a <b c=\"d\"> e", "<!-- a -->", "<div>\n*a*\n</div>", "a < b > c", "<br>",
	"a*\"b\"*c", "**\"a\"**b", "*(a)*", "**a**.", "a**b**c", "\u00e4*b*", "*\u4f60*\u597d", "\U0001f33e **x**",
	"- a\n\n      b\n- c", "1. a\n\n   ```\n   b\n   ```\n2. c", "> 1. a\n>    b\n> 2. c", "# a\nb\n## c\n- d\n> e\n```\nf\n```", "- a\n---\nb", "a\n***\nb",
	"Here is the plan:\n1. Read `main.go`\n2. Change **one** line:\n   ```diff\n   -a\n   +b\n   ```\n3. Run it\n\nThat is *all*.",
}
