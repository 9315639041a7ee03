package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/sink"
)

// listTop is the row of the screen at which the rows begin.
const listTop = 2

// wheelLines is how far a notch of the wheel goes.
const wheelLines = 3

// wheel is how far a turn of the wheel goes; 0 if it goes to a side.
func wheel(m tea.MouseWheelMsg) int {
	switch m.Button {
	case tea.MouseWheelUp:
		return -wheelLines
	case tea.MouseWheelDown:
		return wheelLines
	}
	return 0
}

// columns of the list and how wide they are; what is left is the title's.
type columns struct{ age, status, with, title, events int }

func (l *list) columns() columns {
	c := columns{age: 4, status: 9, with: 16, events: 7}
	if l.width < 70 {
		c.with, c.events = 10, 0
	}
	if l.width < 45 {
		c.with = 0
	}
	if l.width < 30 {
		c.status = 0
	}
	used := 2 // the mark
	for _, w := range []int{c.age, c.status, c.with, c.events} {
		if w > 0 {
			used += w + 2
		}
	}
	c.title = max(1, l.width-used)
	return c
}

// line lays cells out, the last one to the right.
func (c columns) line(age, status, with, title, events string) string {
	cells := []string{pad(age, c.age)}
	if c.status > 0 {
		cells = append(cells, pad(status, c.status))
	}
	if c.with > 0 {
		cells = append(cells, pad(with, c.with))
	}
	cells = append(cells, pad(title, c.title))
	if c.events > 0 {
		cells = append(cells, fmt.Sprintf("%*s", c.events, events))
	}
	return strings.Join(cells, "  ")
}

func (l *list) view() []string {
	left := l.left()
	c := l.columns()
	count := strconv.Itoa(len(left))
	if _, more := l.rest(); more && l.read {
		count += "+"
	}
	count += plural(len(left), " transcript") + " "
	head := paint(bold, " steno")
	if words := l.filterWords(); words != "" {
		head += paint(accent, "  "+words)
	}
	rows := []string{row(l.width, head, paint(dim, count)),
		paint(dim, "  "+c.line("AGE", "STATUS", "WITH", "TITLE", "EVENTS"))}
	room := max(0, l.height-listTop-1)
	for i := l.first; i < len(left) && i < l.first+room; i++ {
		rows = append(rows, l.row(c, &left[i], i == l.at))
	}
	if len(left) == 0 {
		rows = append(rows, "")
		for _, r := range wrap(l.emptyWords(), l.width-2) {
			rows = append(rows, "  "+paint(dim, r))
		}
	}
	return append(sheet(rows, l.height-1), l.bottom(left))
}

func (l *list) emptyWords() string {
	switch {
	case l.err != nil:
		return ""
	case !l.read:
		return "reading …"
	case l.filterWords() != "" || l.words != nil:
		return "nothing is left by the filter: Esc takes it away"
	}
	return "nothing is recorded yet: steno record -- AGENT records one, and it appears here"
}

func (l *list) row(c columns, s *sink.Summary, chosenOne bool) string {
	age := render.Age(l.now, s.AddedAt)
	with := render.Fit(reading.OneLine(string(s.Protocol)+" "+s.Agent), c.with)
	title, isTitle := render.Name(s)
	events := strconv.FormatUint(s.Events, 10)
	style, status := statusWords(l.now, s)
	if chosenOne {
		return paint(chosen, pad("▸ "+c.line(age, render.Fit(status, c.status), with, render.Fit(title, c.title), events), l.width))
	}
	titled := words(plain, title, c.title)
	if !isTitle {
		titled = words(dim, title, c.title)
	}
	return "  " + c.line(paint(dim, age), words(style, status, c.status), with, titled, events)
}

// titleOf is what a transcript is called.
func titleOf(s *sink.Summary) string {
	name, _ := render.Name(s)
	return name
}

// statusWords is a status, and for how long an open transcript has said nothing.
func statusWords(now time.Time, s *sink.Summary) (style, words string) {
	if idle := render.Idle(now, s); idle != "" {
		return plain, "idle " + idle
	}
	tone := reading.ToneOf(s.Status)
	mark := map[reading.Tone]string{reading.Good: "● ", reading.Bad: reading.MarkAlarm + " "}[tone]
	return styleOf(tone), mark + string(s.Status)
}

func (l *list) bottom(left []sink.Summary) string {
	switch {
	case l.edits:
		return row(l.width, " "+l.words.view(l.width-20), paint(dim, "Enter keep · Esc drop "))
	case l.err != nil:
		return row(l.width, " "+words(bad, "cannot read the list: "+l.err.Error(), l.width-2), "")
	case l.slow && l.now.IsZero():
		return row(l.width, " "+words(warn, "the ledger does not answer", l.width-2), "")
	case l.slow:
		return row(l.width, " "+words(warn, "the ledger does not answer: this is how it was "+render.Age(time.Now(), l.now)+" ago", l.width-2), "")
	case l.at < len(left) && l.width >= 60:
		return row(l.width, " "+words(dim, left[l.at].Key, l.width-36), paint(dim, "Enter open · / filter · ? help "))
	}
	return row(l.width, "", paint(dim, "? help "))
}

func (l *list) keys() []keyHelp {
	return []keyHelp{
		{"↑ ↓ PgUp PgDn", "choose; also j k, the wheel, a click"}, {"Home End", "the newest, the oldest"},
		{"Enter w", "open: follow it as it is typed"}, {"R", "replay it with its timing"},
		{"s", "search what was said in all of them"},
		{"/", "filter as one types: title, agent, key, label, status"},
		{"o", "only open, ended, abandoned, parked; all"}, {"p", "only acp, a2a; both"},
		{"a", "connections and empty sessions too"}, {"Esc", "take the filters away"},
	}
}
