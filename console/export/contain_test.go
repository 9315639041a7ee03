package export

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMessageIsContained(t *testing.T) {
	for message, want := range map[string]string{
		"plain **text**, `<b>` and a <https://x.test>": "plain **text**, `<b>` and a <https://x.test>",
		"- a\n- b\n\n1 < 2 & 3 > 2\n":                  "- a\n- b\n\n1 < 2 & 3 > 2",
		"# one\n###### six\n### three":                 "### one\n###### six\n### three",
		"one\n===\n\ntwo\n---\n\n---":                  "one\n\\===\n\ntwo\n\\---\n\n---",
		"> one\n> ===\n":                               "> one\n> \\===",
		"a <b>c</b> <!-- d -->":                        `a \<b>c\</b> \<!-- d -->`,
		"<div>\n<p>\n\n# x\n</div>":                    "\\<div>\n\\<p>\n\n### x\n\\</div>",
		"![a](https://x.test/a.png)":                   `\![a](https://x.test/a.png)`,
		"`![a](b)` \\![a](b)":                          "`![a](b)` \\![a](b)",
		"&#8238;a &amp; `&#8238;`":                     "⟨U+202E⟩a &amp; `&#8238;`",
		"[a]: https://x.test\n\n[a]":                   "\\[a]: https://x.test\n\n[a]",
		"```go\nx":                                     "```go\nx\n```",
		"a\n\n~~~~ b\nx\n~~~":                          "a\n\n~~~~ b\nx\n~~~\n~~~~",
		"   ````\nx\n```":                              "   ````\nx\n```\n````",
		"```\nx\n```\n":                                "```\nx\n```",
		"- a\n  ```\n  x":                              "- a\n  ```\n  x", // it ends with the list
		"\x1b[31mred":                                  "␛[31mred",
		"```mermaid\ngraph\n```":                       "```text mermaid\ngraph\n```",
		"~~~ GeoJSON {x}\n{}\n~~~":                     "~~~ text GeoJSON {x}\n{}\n~~~",
		"- a\n\n  ```&#109;ermaid\n  x\n  ```":         "- a\n\n  ```text &#109;ermaid\n  x\n  ```",
		"```text mermaid\nx\n```":                      "```text mermaid\nx\n```",
		"~~~ mermaid{x}\nx\n~~~":                       "~~~ text mermaid{x}\nx\n~~~",
		"```mathematica\nx\n```\n\n```stlib\nx\n```":   "```mathematica\nx\n```\n\n```stlib\nx\n```",
		"$$x$$ and $y$":                                `\$\$x\$\$ and \$y\$`,
		"$$\nx\n$$":                                    "\\$\\$\nx\n\\$\\$",
		"# $x$\n\n| a |\n|---|\n| $x *b* c$ |":         "### \\$x\\$\n\n| a |\n|---|\n| \\$x *b* c\\$ |",
		"$`x`$ and `$y$`":                              "\\$`x`\\$ and `$y$`",
		`$x \$y$, \\$z$`:                               `\$x \$y\$, \\\$z\$`,
		"$5 and $6, 7 $ and 8 $, a $":                  "$5 and $6, 7 $ and 8 $, a $",
		"- $a$\n\n      $b$\n":                         "- \\$a\\$\n\n      $b$",
	} {
		require.Equal(t, want, contain(message), message)
	}
}
