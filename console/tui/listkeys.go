package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/steno-io/steno/sink"
)

// see keeps the chosen row in view.
func (l *list) see() {
	room := max(1, l.height-listTop-1)
	l.first = max(min(l.first, l.at), l.at-room+1)
	l.first = max(0, min(l.first, len(l.left())-room))
}

// move chooses another row.
func (l *list) move(by int) {
	left := l.left()
	l.at = max(0, min(l.at+by, len(left)-1))
	l.key = ""
	if l.at > 0 {
		l.key = left[l.at].Key
	}
	l.see()
}

// choose chooses a transcript, if it is there.
func (l *list) choose(s sink.Summary) {
	l.key = s.Key
	l.settle()
}

// neighbour chooses the transcript that is so many rows below one, if the list has both.
func (l *list) neighbour(of string, by int) (sink.Summary, bool) {
	left := l.left()
	at := slices.IndexFunc(left, func(s sink.Summary) bool { return s.Key == of })
	if i := at + by; at >= 0 && i >= 0 && i < len(left) {
		l.move(i - l.at)
		return left[i], true
	}
	return sink.Summary{}, false
}

func (l *list) open() turn {
	left := l.left()
	if l.at >= len(left) {
		return nil
	}
	return openAt{about: left[l.at]}
}

func (l *list) press(key string) (tea.Cmd, turn) {
	page := max(1, l.height-listTop-1)
	switch key {
	case "down", "j":
		l.move(1)
	case "up", "k":
		l.move(-1)
	case "pgdown", "space", "ctrl+f":
		l.move(page)
	case "pgup", "b", "ctrl+b":
		l.move(-page)
	case "home", "g":
		l.move(-l.at)
	case "end", "G":
		l.move(len(l.rows))
	case "enter", "right", "w":
		return nil, l.open()
	case "R":
		if left := l.left(); l.at < len(left) {
			return nil, replayed{about: left[l.at]}
		}
	case "s":
		return nil, searched{}
	case "/":
		l.edits = true
		if l.words == nil {
			l.words = &prompt{label: "/"}
		}
	case "o":
		l.query.Status = after(statuses, l.query.Status)
		return l.refilter(), nil
	case "p":
		l.query.Protocol = after(protocols, l.query.Protocol)
		return l.refilter(), nil
	case "a":
		l.all = !l.all
		l.settle()
	case "esc":
		if l.words != nil || l.query.Status != "" || l.query.Protocol != "" {
			l.words, l.query = nil, sink.Filter{}
			return l.refilter(), nil
		}
		return nil, back{}
	case "q":
		return nil, back{}
	}
	return l.fill(), nil
}
