package tui

import (
	"strings"
	"unicode/utf8"
)

// keyHelp says what a key does.
type keyHelp struct{ key, does string }

// help shows the keys of a screen.
type help struct {
	keys []keyHelp
	top  int
}

func newHelp(keys []keyHelp) *help {
	return &help{keys: append(keys, keyHelp{},
		keyHelp{"?", "this help"}, keyHelp{"q Esc", "back; leaves the console from the list"},
		keyHelp{"Shift", "with the mouse, lets the terminal select text"}, keyHelp{"Ctrl-Z", "suspend"}, keyHelp{"Ctrl-C", "leave at once"})}
}

// key scrolls, and reports whether the help stays.
func (h *help) key(key string, height int) bool {
	most := max(0, len(h.keys)-(height-2))
	switch key {
	case "down", "j", "pgdown", "space":
		h.top = min(most, h.top+max(1, height/2))
		return true
	case "up", "k", "pgup":
		h.top = max(0, h.top-max(1, height/2))
		return true
	}
	return false
}

func (h *help) view(width, height int) []string {
	wide := 0
	for _, k := range h.keys {
		wide = max(wide, utf8.RuneCountInString(k.key))
	}
	rows := []string{row(width, paint(bold, " Keys"), "")}
	for _, k := range h.keys[min(h.top, len(h.keys)):] {
		rows = append(rows, " "+paint(accent, k.key)+strings.Repeat(" ", wide-utf8.RuneCountInString(k.key)+2)+k.does)
	}
	rows = sheet(rows, height-1)
	last := " any other key goes back"
	if len(h.keys) > height-2 {
		last = " ↓ ↑ more ·" + last
	}
	return append(rows, paint(dim, last))
}
