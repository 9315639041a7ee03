package tui

import (
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Filters that keys go through; the empty one leaves all.
var (
	statuses  = []schema.Status{"", schema.StatusOpen, schema.StatusEnded, schema.StatusAbandoned, schema.StatusParked}
	protocols = []schema.Protocol{"", schema.ACP, schema.A2A}
)

// left are the rows that the filter leaves.
func (l *list) left() []sink.Summary {
	var words []string
	if l.words != nil {
		words = strings.Fields(strings.ToLower(l.words.text))
	}
	if l.all && len(words) == 0 {
		return l.rows
	}
	var out []sink.Summary
	for _, s := range l.rows {
		if (l.all || l.o.Listed(s)) && hasWords(&s, words) {
			out = append(out, s)
		}
	}
	return out
}

// hasWords reports whether what a row is about has every word.
func hasWords(s *sink.Summary, words []string) bool {
	if len(words) == 0 {
		return true
	}
	about := []string{s.Title, s.Agent, s.Key, s.SessionID, s.Cwd, string(s.Protocol), string(s.Status)}
	for _, k := range slices.Sorted(maps.Keys(s.Labels)) {
		about = append(about, k+"="+s.Labels[k])
	}
	text := strings.ToLower(strings.Join(about, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// edit takes what is typed into the filter.
func (l *list) edit(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "enter", "esc":
			l.edits = false
			if l.words.text == "" || k.String() == "esc" {
				l.words = nil
			}
			l.settle()
			return l.fill()
		case "down", "up":
			l.move(map[string]int{"down": 1, "up": -1}[k.String()])
			return l.fill()
		}
	}
	if l.words.edit(msg) {
		l.settle()
	}
	return l.fill()
}

// refilter reads the rows of another filter.
func (l *list) refilter() tea.Cmd {
	l.want, l.at, l.key, l.first = listPage, 0, "", 0
	return l.ask()
}

// filterWords says what the list leaves.
func (l *list) filterWords() string {
	var words []string
	if l.query.Status != "" {
		words = append(words, string(l.query.Status))
	}
	if l.query.Protocol != "" {
		words = append(words, string(l.query.Protocol))
	}
	if l.all {
		words = append(words, "all")
	}
	if l.words != nil && !l.edits {
		words = append(words, "“"+render.Visible(l.words.text)+"”")
	}
	return strings.Join(words, " · ")
}
