package render

import (
	"strings"

	"github.com/steno-io/steno/console/reading"
)

// tabStop is how wide a tab is at most.
const tabStop = 4

// flow writes text, in one piece or as it is typed, with an indent before each line, wrapped between
// words. White space at the beginning of a line of the text stays, since it may be code.
type flow struct {
	page   *page
	indent string
	edge   style // of the indent
	style  style
	spaces int    // read, not yet written
	breaks int    // line ends read, not yet written: those at the end of a text are nobody's
	begun  bool   // the line has its indent
	any    bool   // something was written
	goesOn bool   // it is the rest of a line: spaces before its first word are nobody's
	hang   int    // columns by which a wrapped line of the text is indented further
	cr     bool   // the last piece ended in a carriage return, which may be half of a line end
	rest   string // a word that may go on with the next piece
	part   Part   // that its lines are of
}

func (p *page) flow(indent string, edge, s style) *flow {
	return &flow{page: p, indent: indent, edge: edge, style: s, part: p.within}
}

// block writes whole text and ends its last line.
func (p *page) block(indent string, edge, s style, text string) {
	f := p.flow(indent, edge, s)
	f.feed(text)
	f.end()
}

// feed writes the next piece of the text, as it was sent.
func (f *flow) feed(piece string) {
	if f.cr {
		piece = "\r" + piece
	}
	if f.cr = strings.HasSuffix(piece, "\r"); f.cr {
		piece = piece[:len(piece)-1]
	}
	text := f.rest + reading.Visible(piece)
	f.rest = ""
	for text != "" {
		switch text[0] {
		case '\n':
			f.breaks, f.spaces = f.breaks+1, 0
			text = text[1:]
		case ' ', '\t':
			f.space(text[0])
			text = text[1:]
		default:
			end := strings.IndexAny(text, " \t\n")
			if end < 0 && f.mayGoOn(text) {
				f.rest = text
				return
			}
			if end < 0 {
				end = len(text)
			}
			f.word(text[:end])
			text = text[end:]
		}
	}
}

// wordRoom is how many columns a word that is being typed may still take.
const wordRoom = 16

// mayGoOn reports whether a word at the end of a piece is held back, so that it is wrapped as a whole:
// near the end of the line, unless it is longer than words are. Scripts that do not put spaces between
// words are wrapped anywhere.
func (f *flow) mayGoOn(word string) bool {
	w := columns(word)
	if f.page.width == 0 || w > wordRoom || f.page.column+f.spaces+w+wordRoom <= f.page.width {
		return false
	}
	for _, r := range word {
		if r >= 0x2E80 {
			return false
		}
	}
	return true
}

// end ends the line, if there is one.
func (f *flow) end() {
	if f.rest != "" {
		f.word(f.rest)
		f.rest = ""
	}
	if f.cr {
		f.cr = false
		f.word(reading.Visible("\r"))
	}
	if f.begun {
		f.line()
	}
}

func (f *flow) space(c byte) {
	if c == ' ' {
		f.spaces++
		return
	}
	at := f.spaces
	if f.begun && f.breaks == 0 {
		at += f.page.column - columns(f.indent)
	}
	f.spaces += tabStop - at%tabStop
}

func (f *flow) word(word string) {
	if f.goesOn && !f.any {
		f.spaces = 0
	}
	f.lineEnds()
	if !f.begun {
		f.hang = hang(f.spaces, word)
		if width := f.page.width; width > 0 {
			f.hang = min(f.hang, width/3)
		}
	}
	f.begin()
	start := columns(f.indent)
	width := f.page.width
	if w := columns(word); width > 0 && f.page.column+f.spaces+w > width && f.page.column > start {
		f.wrap()
	}
	for width > 0 && f.page.column+f.spaces+columns(word) > width {
		f.spaces = min(f.spaces, max(0, width-f.page.column-1))
		head, tail := take(word, width-f.page.column-f.spaces)
		if head == "" {
			break // not even one character fits
		}
		f.write(head)
		if tail == "" {
			return
		}
		f.wrap()
		word = tail
	}
	f.write(word)
}

// hang is how far the wrapped lines of a line that begins like this are indented: as far as the line
// itself, and behind the mark of a list.
func hang(spaces int, word string) int {
	switch number := strings.TrimRight(word, ".)"); {
	case word == "-", word == "*", word == "+", word == "•":
		return spaces + 2
	case len(number) == len(word)-1 && number != "" && strings.Trim(number, "0123456789") == "":
		return spaces + len(word) + 1
	}
	return spaces
}

// wrap goes on on the next line.
func (f *flow) wrap() {
	f.line()
	f.begin()
	f.spaces = f.hang
}

func (f *flow) write(word string) {
	f.page.put(f.style, strings.Repeat(" ", f.spaces)+word)
	f.spaces = 0
}

func (f *flow) begin() {
	if !f.begun {
		f.begun = true
		f.page.part = f.part
		f.page.put(f.edge, f.indent)
	}
}

// lineEnds writes the line ends that the text has here; those before its first word are nobody's.
func (f *flow) lineEnds() {
	for ; f.any && f.breaks > 0; f.breaks-- {
		if !f.begun { // a blank line
			f.page.part = f.part
			f.page.put(f.edge, strings.TrimRight(f.indent, " "))
		}
		f.page.newline()
		f.begun = false
	}
	f.breaks, f.any = 0, true
}

// line ends the line because the page does; the spaces there are nobody's.
func (f *flow) line() {
	f.page.newline()
	f.begun, f.spaces = false, 0
}
