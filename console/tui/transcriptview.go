package tui

import (
	"strconv"
	"time"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/console/render"
)

func (t *transcript) view() []string {
	a := &t.page.about
	style, status := statusWords(time.Now(), a)
	right := paint(style, status) + paint(dim, "  "+render.Fit(reading.OneLine(string(a.Protocol)+" "+a.Agent), 24)+" ")
	if t.player != nil {
		right = paint(accent, "replay ")
	}
	rows := []string{row(t.width, " "+words(bold, titleOf(a), t.width), right)}
	seen := t.page.seen()
	for _, l := range seen {
		text := l.text
		if t.find != nil {
			text = highlight(text, t.find.text)
		}
		rows = append(rows, t.markOf(l)+text)
	}
	if !t.opened && t.player == nil {
		rows = append(rows, paint(dim, " reading …"))
	}
	foot := t.foot()
	return append(sheet(rows, t.height-len(foot)), foot...)
}

// markOf is the mark before a line: of the event that was jumped to.
func (t *transcript) markOf(l line) string {
	if t.mark > 0 && l.seq == t.mark && l.text != "" {
		return paint(accent, "▌")
	}
	return " "
}

// foot is the rows below the page.
func (t *transcript) foot() []string {
	if t.asks != nil {
		return append(t.bar(), row(t.width, " "+t.asks.view(t.width-1), ""))
	}
	style, state := t.stateWords()
	left := " " + paint(style, state)
	if n := t.page.news(); n > 0 {
		left += paint(accent, "  ↓ "+strconv.FormatUint(n, 10)+" new")
	}
	if t.find != nil {
		left += paint(accent, "  /"+reading.OneLine(t.find.text))
	}
	if t.find != nil && t.find.end != nil {
		left += paint(dim, "  looking for it …")
	}
	if t.said != "" {
		left += paint(dim, "  "+reading.OneLine(t.said))
	}
	right := strconv.FormatUint(t.page.head(), 10)
	if !t.page.atEnd {
		right = strconv.FormatUint(t.page.anchorOf(t.page.firstSeen()).seq, 10) + "/" + right
	}
	if t.width >= 50 {
		right += paint(dim, "  ? help ")
	}
	return append(t.bar(), row(t.width, left, right))
}

// stateWords says how what is shown stands to what was said: the worst first.
func (t *transcript) stateWords() (style, words string) {
	s := &t.state
	switch {
	case t.err != nil:
		return bad, "cannot read: " + reading.OneLine(t.err.Error())
	case t.player != nil && t.player.err != nil:
		return bad, "cannot replay: " + reading.OneLine(t.player.err.Error())
	case t.player != nil && s.ended != nil:
		return dim, "■ over: Space from the beginning"
	case t.player != nil:
		return t.player.words()
	case s.lost:
		return bad, "connection lost: stored events only"
	case s.parked != "":
		return bad, "parked: " + reading.OneLine(s.parked)
	case s.behind > 0:
		return warn, "lag " + strconv.FormatUint(s.behind, 10) + ": translated, not stored yet"
	case s.unowned:
		return warn, "no translator answers: stored events only"
	case s.missing:
		return warn, "lag: text was lost on the way, asking again"
	case s.ended != nil:
		return dim, "■ " + string(s.ended.Status)
	case !t.opened:
		return dim, "opening"
	}
	return good, "● live"
}

func (t *transcript) keys() []keyHelp {
	keys := []keyHelp{
		{"↑ ↓ PgUp PgDn", "scroll; also j k Ctrl-U Ctrl-D, the wheel"}, {"End G", "follow the end"},
		{": g", "jump to an event by its number"}, {"/  n N", "find in this transcript; next, before"},
		{"f", "fold and unfold thoughts"}, {"o", "tool output: short, full, folded"},
		{"r", "every raw record"}, {"t", "times, from the first event on"},
		{"s", "search what was said in all transcripts"},
	}
	if t.player != nil {
		return append(keys, keyHelp{}, keyHelp{"Space", "pause and go on"}, keyHelp{".", "one step"}, keyHelp{"← →", "5 s back, 5 s on; or click the bar"},
			keyHelp{"Home End", "to the beginning, to the end; also 0 $"}, keyHelp{"+ -", "faster, slower"}, keyHelp{"i", "longest pause: none, 2 s, 1 s, 0.2 s"})
	}
	return append(keys, keyHelp{"Home", "to the first event"}, keyHelp{"n p", "the next transcript, the one before; also ] ["},
		keyHelp{"R", "replay from here; at the end, from the beginning"})
}
