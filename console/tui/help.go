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
func (h *help) key(key string, width, height int) bool {
	most := max(0, len(h.rows(width))-(height-2))
	h.top = min(most, h.top) // the terminal may be larger by now
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

// besideKeys is the width from which on what keys do stands beside them; else it stands below.
const besideKeys = 20

// rows is all of it at a width.
func (h *help) rows(width int) (rows []string) {
	indent := 0
	for _, k := range h.keys {
		indent = max(indent, utf8.RuneCountInString(k.key)+3)
	}
	beside := width-indent >= besideKeys
	if !beside {
		indent = 3
	}
	for _, k := range h.keys {
		key := row(width, " "+paint(accent, k.key), "")
		for i, does := range wrap(k.does, width-indent) {
			switch {
			case i == 0 && beside:
				rows = append(rows, row(indent, " "+paint(accent, k.key), "")+does)
				continue
			case i == 0:
				rows = append(rows, key)
			}
			if does != "" {
				rows = append(rows, strings.Repeat(" ", indent)+does)
			}
		}
	}
	return rows
}

func (h *help) view(width, height int) []string {
	all := h.rows(width)
	rows := append([]string{row(width, paint(bold, " Keys"), "")}, all[min(h.top, len(all)):]...)
	rows = sheet(rows, height-1)
	last := "any other key goes back"
	if len(all) > height-2 {
		last = "↓ ↑ more · " + last
	}
	return append(rows, " "+words(dim, last, width-1))
}
