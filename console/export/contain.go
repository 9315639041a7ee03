package export

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/steno-io/steno/console/reading"
)

// headingsFrom is the level that the highest heading of a message has on a page.
const headingsFrom = 3

// footnote is how one begins, for code hosts.
var footnote = regexp.MustCompile(`^[ \t]*\[\^[^\]]*\]:`)

// passes bounds how often a message is gone through: what an escape uncovers may be in need of one.
const passes = 32

var commonMark = goldmark.New(goldmark.WithExtensions(extension.GFM))

// contain gives a message's Markdown as it may stand between the parts of a page of Markdown: HTML is text,
// images are links, headings stand below those of the page, what would hold for other messages is text, a block
// that it leaves open is closed, and what would be drawn, a block or a formula, is shown. What cannot be told to be
// like that, or takes too long to be read, is given as a block of code.
func contain(message string) string {
	source := []byte(strings.TrimRight(reading.Visible(message), "\n"))
	for range passes {
		if !isTame(string(source)) {
			break
		}
		changes, ok := changesOf(source)
		if !ok {
			break
		}
		if len(changes) == 0 {
			if whole, ok := closed(source); ok {
				return string(whole)
			}
			break
		}
		source = apply(source, changes)
	}
	return strings.TrimSuffix(fence("text", message), "\n")
}

// drawings are the languages of blocks that code hosts do not show but draw.
var drawings = []string{"mermaid", "geojson", "topojson", "stl", "plantuml", "math"}

// plainCode before a block's info has the block shown as text.
const plainCode = "text "

// drawn reports whether a fenced block with that info may be drawn: what is written there as a reference or an escape
// might be anything.
func drawn(info []byte) bool {
	language, _, _ := strings.Cut(strings.TrimSpace(string(info)), " ")
	if strings.ContainsAny(language, `&\`) {
		return true
	}
	noLetter := func(c rune) bool { return !unicode.IsLetter(c) }
	language = strings.TrimLeftFunc(language, noLetter)
	if end := strings.IndexFunc(language, noLetter); end >= 0 {
		language = language[:end]
	}
	return slices.Contains(drawings, strings.ToLower(language))
}

// dollars finds the marks in a block of text between which code hosts may draw a formula: those that are doubled, and
// all from one that something follows to one that stands behind something. In code they are shown as they are.
func dollars(block ast.Node, source []byte) (found []int) {
	var all []int
	_ = ast.Walk(block, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it gives no error
		switch n := n.(type) {
		case *ast.CodeSpan:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			for at := n.Segment.Start; entering && at < n.Segment.Stop; at++ {
				switch source[at] {
				case '\\':
					at++ // what follows is text
				case '$':
					all = append(all, at)
				}
			}
		}
		return ast.WalkContinue, nil
	})
	is := func(at int, one string) bool {
		return at >= 0 && at < len(source) && strings.IndexByte(one, source[at]) >= 0
	}
	begins := func(at int) bool { return at+1 < len(source) && !is(at+1, " \t\n") }
	ends := func(at int) bool { return at > 0 && !is(at-1, " \t\n") }
	first := slices.IndexFunc(all, begins)
	last := len(all) - 1
	for last >= 0 && !ends(all[last]) {
		last--
	}
	for i, at := range all {
		if is(at-1, "$") || is(at+1, "$") || first >= 0 && first < last && first <= i && i <= last {
			found = append(found, at)
		}
	}
	return found
}

// change replaces some bytes.
type change struct {
	at, length int
	by         string
}

func apply(source []byte, changes []change) []byte {
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	var out []byte
	from := 0
	for _, c := range changes {
		if c.at < from {
			continue // another pass has it
		}
		out = append(append(out, source[from:c.at]...), c.by...)
		from = c.at + c.length
	}
	return append(out, source[from:]...)
}

func parse(source []byte) ast.Node { return commonMark.Parser().Parse(text.NewReader(source)) }

// changesOf finds what must not stand as it is. Headings are told by their level: one that is low enough
// stays. ok is false if something must not stand as it is and nobody knows how it could.
func changesOf(source []byte) (changes []change, ok bool) {
	ok = true
	escape := func(at int) {
		changes = append(changes, change{at: at, by: `\`})
	}
	visit := func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if first := n.FirstChild(); first != nil && n.Type() == ast.TypeBlock && first.Type() == ast.TypeInline {
			for _, at := range dollars(n, source) {
				escape(at)
			}
		}
		switch n := n.(type) {
		case *ast.RawHTML:
			escape(n.Segments.At(0).Start)
		case *ast.HTMLBlock:
			line := n.Lines().At(0)
			if i := bytes.IndexByte(source[line.Start:line.Stop], '<'); i >= 0 {
				escape(line.Start + i)
			} else {
				ok = false
			}
		case *ast.LinkReferenceDefinition: // it would hold for all messages of the page
			at := n.Pos()
			if at < 0 || bytes.IndexByte(source[at:], '[') < 0 {
				ok = false
				break
			}
			escape(at + bytes.IndexByte(source[at:], '['))
		case *ast.Paragraph, *ast.TextBlock:
			for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
				if footnote.Match(line.Value(source)) { // likewise, on code hosts
					escape(line.Start + bytes.IndexByte(line.Value(source), '['))
				}
			}
		case *ast.Heading:
			lower, fits := lowered(source, n)
			changes, ok = append(changes, lower...), ok && fits
		case *ast.Image:
			if at := n.Pos(); at >= 0 && at < len(source) && source[at] == '!' {
				escape(at)
			} else if at > 0 && source[at-1] == '!' {
				escape(at - 1)
			} else {
				ok = false
			}
		case *ast.FencedCodeBlock:
			if n.Info != nil && drawn(n.Info.Segment.Value(source)) {
				changes = append(changes, change{at: n.Info.Segment.Start, by: plainCode})
			}
		case *ast.CodeSpan:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			old := string(n.Segment.Value(source))
			if now := hiddenReferences(old); now != old {
				changes = append(changes, change{n.Segment.Start, n.Segment.Stop - n.Segment.Start, now})
			}
		}
		return ast.WalkContinue, nil
	}
	_ = ast.Walk(parse(source), visit) // visit gives no error
	return changes, ok
}

// lowered makes a heading one of a lower level, or, where a line below it makes it one, text; ok is false if
// it finds no way.
func lowered(source []byte, n *ast.Heading) (changes []change, ok bool) {
	at := n.Pos()
	if at >= 0 && at < len(source) && source[at] == '#' {
		if n.Level >= headingsFrom {
			return nil, true
		}
		return []change{{at: at, by: strings.Repeat("#", headingsFrom-1)}}, true
	}
	if n.Lines().Len() == 0 {
		return nil, false
	}
	end := n.Lines().At(n.Lines().Len() - 1).Stop
	if end > 0 && source[end-1] != '\n' {
		next := bytes.IndexByte(source[end:], '\n')
		if next < 0 {
			return nil, false
		}
		end += next + 1
	}
	if i := bytes.IndexAny(source[end:], "=-"); i >= 0 {
		return []change{{at: end + i, by: `\`}}, true
	}
	return nil, false
}

// sentinel is a paragraph that no message has.
const sentinel = "sentinel-of-the-page"

// closed reports whether what follows the message would not be a part of it, and closes a block of code
// that is open.
func closed(source []byte) ([]byte, bool) {
	if stands(source) {
		return source, true
	}
	last := parse(source).LastChild()
	open, ok := last.(*ast.FencedCodeBlock)
	if !ok || open.Pos() < 0 {
		return source, false
	}
	marks := source[open.Pos():]
	marks = bytes.TrimLeft(marks, " ")
	if len(marks) == 0 {
		return source, false
	}
	n := len(marks) - len(bytes.TrimLeft(marks, string(marks[0])))
	whole := append(append(slices.Clone(source), '\n'), marks[:n]...)
	return whole, stands(whole)
}

// stands reports whether a paragraph behind the source is one of its own.
func stands(source []byte) bool {
	with := append(slices.Clone(source), "\n\n"+sentinel+"\n"...)
	last, ok := parse(with).LastChild().(*ast.Paragraph)
	return ok && string(bytes.TrimSpace(last.Lines().Value(with))) == sentinel
}
