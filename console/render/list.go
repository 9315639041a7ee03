package render

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// column of the list. A column without a width takes the room that the others leave.
type column struct {
	title string
	right bool
	most  int // columns; 0 = as wide as its widest cell
	cell  func(*sink.Summary) (style, string)
}

// List writes transcripts as a table that fits the width. Ages are told from now. What is written of
// a key is enough to name the transcript among these.
func List(w io.Writer, o Options, now time.Time, rows []sink.Summary) error {
	p := newPage(w, o)
	if len(rows) == 0 {
		p.put(dim, "no transcripts")
		p.newline()
		return p.flush()
	}
	columns, widths := layOut(now, rows, o.Width)
	for i, c := range columns {
		p.cell(i, dim, c.title, widths[i], c.right, i == len(columns)-1)
	}
	p.newline()
	for r := range rows {
		for i, c := range columns {
			s, text := c.cell(&rows[r])
			p.cell(i, s, text, widths[i], c.right, i == len(columns)-1)
		}
		p.newline()
		if n := rows[r].Unaccounted; n != 0 {
			p.put(bad, body+reading.MarkAlarm+" "+strconv.FormatInt(n, 10)+" frames of this capture are unaccounted for")
			p.newline()
		}
	}
	return p.flush()
}

// layOut writes keys whole where there is room for them, and otherwise what of them is enough.
func layOut(now time.Time, rows []sink.Summary, width int) ([]column, []int) {
	list := listColumns(now, rows, names(rows, width > 0 && width < roomForKeys))
	widths := measure(list, rows, width)
	if titles := measure(list, rows, 0)[titleColumn]; widths[titleColumn] < min(roomForTitles, titles) {
		list = listColumns(now, rows, names(rows, true))
		widths = measure(list, rows, width)
	}
	return list, widths
}

func listColumns(now time.Time, rows []sink.Summary, keys map[string]string) []column {
	return []column{
		{title: "AGE", cell: func(s *sink.Summary) (style, string) { return dim, age(now, s.AddedAt) }},
		{title: "STATUS", cell: func(s *sink.Summary) (style, string) { return styleOf(reading.ToneOf(s.Status)), status(now, s) }},
		{title: "WITH", most: 16, cell: func(s *sink.Summary) (style, string) {
			return plain, strings.TrimSpace(string(s.Protocol) + " " + reading.OneLine(s.Agent))
		}},
		{title: "TITLE", cell: func(s *sink.Summary) (style, string) {
			name, titled := Name(s)
			if titled {
				return heading, name
			}
			return dim, name
		}},
		{title: "FRAMES", right: true, cell: func(s *sink.Summary) (style, string) { return plain, strconv.FormatUint(s.Frames, 10) }},
		{title: "EVENTS", right: true, cell: func(s *sink.Summary) (style, string) { return plain, strconv.FormatUint(s.Events, 10) }},
		{title: "KEY", cell: func(s *sink.Summary) (style, string) { return dim, keys[s.Key] }},
	}
}

// The columns that give way, and how far, so that no row is wrapped: the title first.
const (
	withColumn, leastWith   = 2, 4
	titleColumn, leastTitle = 3, 4
)

// roomForTitles is the width of titles below which keys are not written whole.
const roomForTitles = 12

// measure gives each column the width of its widest cell, and the title's what is left.
func measure(list []column, rows []sink.Summary, width int) []int {
	widths := make([]int, len(list))
	total := 2 * (len(list) - 1)
	for i, c := range list {
		widths[i] = columns(c.title)
		for r := range rows {
			_, text := c.cell(&rows[r])
			widths[i] = max(widths[i], columns(text))
		}
		if c.most > 0 {
			widths[i] = min(widths[i], c.most)
		}
		total += widths[i]
	}
	if width == 0 {
		return widths
	}
	for _, c := range []struct{ column, least int }{{titleColumn, leastTitle}, {withColumn, leastWith}} {
		if w := &widths[c.column]; total > width && *w > c.least {
			cut := min(total-width, *w-c.least)
			*w, total = *w-cut, total-cut
		}
	}
	return widths
}

func (p *page) cell(i int, s style, text string, width int, right, last bool) {
	if i > 0 {
		p.put(plain, "  ")
	}
	text = fit(text, width)
	pad := strings.Repeat(" ", width-columns(text))
	if right {
		p.put(plain, pad)
	}
	p.put(s, text)
	if !right && !last {
		p.put(plain, pad)
	}
}

// Name is what a transcript is called in a list; titled: by its title.
func Name(s *sink.Summary) (name string, titled bool) {
	if title := reading.OneLine(s.Title); title != "" {
		return title, true
	}
	if id := reading.OneLine(s.SessionID); id != "" {
		return id, false
	}
	return "session " + strconv.FormatUint(uint64(s.Transcript.Session), 10), false
}

// longIdle is from when on lists say for how long an open transcript has said nothing: its end may
// be one that nobody saw.
const longIdle = 10 * time.Minute

// Idle is for how long an open transcript has said nothing; empty if lists do not say it.
func Idle(now time.Time, s *sink.Summary) string {
	if s.Status != schema.StatusOpen || s.IdleSince.IsZero() || now.Sub(s.IdleSince) < longIdle {
		return ""
	}
	return age(now, s.IdleSince)
}

func status(now time.Time, s *sink.Summary) string {
	if idle := Idle(now, s); idle != "" {
		return string(s.Status) + ", idle " + idle
	}
	return string(s.Status)
}

// age is how long ago something was, in the largest unit that says it.
func age(now, at time.Time) string {
	d := now.Sub(at)
	switch {
	case at.IsZero():
		return "-"
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + "h"
	case d < 2*365*24*time.Hour:
		return strconv.Itoa(int(d.Hours())/24) + "d"
	}
	return strconv.Itoa(int(d.Hours())/(365*24)) + "y"
}

// roomForKeys is the width from which on keys are written whole.
const roomForKeys = 140

// names gives for each key the end of it that no other key has anywhere, or else, and where it need not be
// short, the whole key.
func names(rows []sink.Summary, short bool) map[string]string {
	out := make(map[string]string, len(rows))
	for i := range rows {
		key := rows[i].Key
		out[key] = key
		if end := shortKey(rows[i].Transcript); short && alone(rows, end) {
			out[key] = end
		}
	}
	return out
}

func shortKey(t schema.Transcript) string {
	key := t.String()
	tail := key[strings.Index(key, t.Run+"/"+strconv.FormatUint(t.Activity, 10)+"/"):]
	if cut := len(t.Run) - 8; cut > 0 {
		tail = tail[cut:]
	}
	return tail
}

func alone(rows []sink.Summary, part string) bool {
	n := 0
	for i := range rows {
		if strings.Contains(rows[i].Key, part) {
			n++
		}
	}
	return n == 1
}
