package tui

import (
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Filters that keys go through; the empty one leaves all.
var (
	statuses  = []schema.Status{"", schema.StatusOpen, schema.StatusEnded, schema.StatusAbandoned, schema.StatusParked}
	protocols = []schema.Protocol{"", schema.ACP, schema.A2A}
)

// kept is what a filter leaves of the rows.
type kept struct {
	text string // of the filter
	all  bool
	rows []sink.Summary
	at   []int // their places among all
	of   int   // rows that were looked at
}

// left are the rows that the filter leaves.
func (l *list) left() []sink.Summary { return l.sift().rows }

// sift looks through the rows, once at each for a filter.
func (l *list) sift() *kept {
	text := ""
	if l.words != nil {
		text = l.words.text
	}
	k := l.kept
	if k == nil || k.text != text || k.all != l.all {
		k = &kept{text: text, all: l.all}
		l.kept = k
	}
	words := strings.Fields(strings.ToLower(text))
	for ; k.of < len(l.rows); k.of++ {
		s := &l.rows[k.of]
		if (l.all || l.o.Listed(*s)) && hasWords(s, words) {
			k.rows, k.at = append(k.rows, *s), append(k.at, k.of)
		}
	}
	return k
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
	l.at, l.key, l.first = 0, "", 0
	return l.ask(true, "")
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
		words = append(words, "“"+reading.Visible(l.words.text)+"”")
	}
	return strings.Join(words, " · ")
}
