package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/rivo/uniseg"

	"github.com/steno-io/steno/console/reading"
)

// prompt is a line that is typed, at its end.
type prompt struct {
	label string
	text  string
}

// maxPrompt bounds what is typed, in bytes.
const maxPrompt = 1024

// edit takes a key or what was pasted, and reports whether the text has changed.
func (p *prompt) edit(msg tea.Msg) bool {
	before := p.text
	switch m := msg.(type) {
	case tea.PasteMsg:
		p.add(m.Content)
	case tea.KeyPressMsg:
		switch m.String() {
		case "backspace", "ctrl+h":
			p.text = withoutLast(p.text)
		case "ctrl+w":
			cut := strings.TrimRight(p.text, " ")
			p.text = cut[:strings.LastIndexByte(cut, ' ')+1]
		case "ctrl+u":
			p.text = ""
		default:
			p.add(m.Text)
		}
	}
	return p.text != before
}

func (p *prompt) add(text string) {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r < ' ' || r == '\x7f' }), " ")
	if len(p.text)+len(text) <= maxPrompt {
		p.text += text
	}
}

// withoutLast takes away the last character as people see it.
func withoutLast(text string) string {
	cut := 0
	for state, rest := -1, text; rest != ""; {
		var c string
		cut = len(text) - len(rest)
		c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		_ = c
	}
	return text[:cut]
}

// view shows the end of the text where not all of it fits.
func (p *prompt) view(width int) string {
	text := reading.Visible(p.text)
	room := width - ansi.StringWidth(p.label) - 2
	if over := ansi.StringWidth(text) - room; over > 0 {
		text = ansi.TruncateLeft(text, over, "")
	}
	return paint(accent, p.label) + text + paint(chosen, " ")
}
