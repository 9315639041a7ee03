package export

import (
	"html"
	"regexp"
	"strings"

	"github.com/steno-io/steno/console/reading"
)

// inline is text on one line of Markdown, in which nothing means anything.
func inline(text string) string {
	text = reading.OneLine(text)
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if strings.IndexByte("\\`*[]<|~&#$", c) >= 0 || c == '_' && !isInside(text, i) {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// isInside reports whether a character of text stands between letters or digits.
func isInside(text string, i int) bool {
	is := func(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }
	return i > 0 && i+1 < len(text) && is(text[i-1]) && is(text[i+1])
}

// code is text on one line as inline code of Markdown.
func code(text string) string {
	text = reading.OneLine(text)
	if text == "" {
		return ""
	}
	ticks := strings.Repeat("`", longest(text, '`')+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

// fence is text as a block of code of Markdown, whatever fences it holds itself.
func fence(info, text string) string {
	text = strings.TrimSuffix(reading.Visible(text), "\n")
	ticks := strings.Repeat("`", max(3, longest(text, '`')+1))
	return ticks + info + "\n" + text + "\n" + ticks + "\n"
}

// longest is the length of the longest run of a character.
func longest(text string, of rune) (most int) {
	n := 0
	for _, r := range text {
		if r != of {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}

// element is text on one line in HTML, which stands in Markdown for what that has no word for.
func element(text string) string { return html.EscapeString(reading.OneLine(text)) }

var reference = regexp.MustCompile(`&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[0-9A-Za-z]+);`)

// hiddenReferences replaces character references that stand for what nobody would see, or what a program
// might obey.
func hiddenReferences(text string) string {
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		of := html.UnescapeString(ref)
		if shown := reading.Visible(of); shown != of {
			return shown
		}
		return ref
	})
}
