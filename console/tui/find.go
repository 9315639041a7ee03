package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/steno-io/steno/schema"
)

// find is a text that is looked for in a transcript, as it is shown.
type find struct {
	text string             // in small letters, with single spaces
	at   anchor             // where it was found last
	any  bool               // it was found
	scan int                // number of the last look for it
	end  context.CancelFunc // ends the look that goes on; nil = none does
	back bool               // it goes upwards
}

// found is what a look for a text gave.
type found struct {
	of   *find
	scan int
	at   anchor
	any  bool
	err  error
}

// findText begins to look for a text, upwards from what is seen if at the end, else downwards.
func (t *transcript) findText(text string) tea.Cmd {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	t.endFind()
	if text == "" {
		return nil
	}
	t.find = &find{text: text, at: t.page.anchorOf(t.page.firstSeen())}
	return t.scan(t.page.atEnd, true)
}

// findNext looks for the next place, or the one before.
func (t *transcript) findNext(back bool) tea.Cmd { return t.scan(back, false) }

// endFind ends looking for a text, and forgets it.
func (t *transcript) endFind() {
	if t.find != nil && t.find.end != nil {
		t.find.end()
	}
	t.find = nil
}

// scan looks through what is stored, run by run, drawn as the page is: what is found is what one sees.
func (t *transcript) scan(back, here bool) tea.Cmd {
	if t.find.end != nil {
		if t.find.back == back {
			return nil // it is on its way
		}
		t.find.end()
	}
	ctx, end := context.WithCancel(t.ctx)
	t.find.scan, t.find.end, t.find.back = t.find.scan+1, end, back
	m := found{of: t.find, scan: t.find.scan}
	f, key, head, about, l := *t.find, t.key(), t.page.head(), t.page.about, t.page.look
	if back && here {
		f.at = anchor{seq: head + 1}
	}
	return t.crew.command(ctx, func(ctx context.Context) tea.Msg {
		run := runOf(f.at.seq, head)
		for m.err == nil && !m.any && run.after < run.last && ctx.Err() == nil {
			var events []schema.Event
			if back {
				events, m.err = readSpan(ctx, t.o.Ledger, key, run.after, run.last+1)
			} else {
				events, m.err = read(ctx, t.o.Ledger, key, run.after, int(run.last-run.after))
			}
			if len(events) == 0 {
				break
			}
			s := segment{first: events[0].StoreSeq, events: events, whole: true}
			m.at, m.any = f.in(s.show(about, l), back, here)
			if back {
				run = span{runOf(s.first-1, head).after, s.first - 1} // the rest of this one, or the one above
			} else {
				run = span{s.next() - 1, min(head, runOf(s.next(), head).last)}
			}
		}
		return to{t, m}
	})
}

// span is the events behind after, up to last.
type span struct{ after, last uint64 }

// runOf is the run of events that one is in. Runs begin at the same numbers, whichever way they are read.
func runOf(seq, head uint64) span {
	if seq == 0 {
		return span{}
	}
	after := (min(seq, head+1) - 1) / readEvents * readEvents
	return span{after, min(after+readEvents, head)}
}

// in finds the place in lines that is nearest behind the last one, or before it.
func (f *find) in(lines []line, back, here bool) (anchor, bool) {
	places := anchors(lines, matches(lines, f.text))
	if back {
		slices.Reverse(places)
	}
	for _, a := range places {
		c := compare(a, f.at)
		if here && c == 0 || back && c < 0 || !back && c > 0 {
			return a, true
		}
	}
	return anchor{}, false
}

func compare(a, b anchor) int {
	switch {
	case a.seq != b.seq && a.seq < b.seq, a.seq == b.seq && a.offset < b.offset:
		return -1
	case a == b:
		return 0
	}
	return 1
}

// anchors are the anchors of lines.
func anchors(lines []line, at []int) []anchor {
	var out []anchor
	for _, i := range at {
		a := anchor{seq: lines[i].seq}
		for i > a.offset && lines[i-a.offset-1].seq == a.seq {
			a.offset++
		}
		out = append(out, a)
	}
	return out
}

// matches gives the lines in which a text begins, which may go on over the line's end.
func matches(lines []line, text string) []int {
	var all strings.Builder
	var starts []int
	for _, l := range lines {
		starts = append(starts, all.Len())
		all.WriteString(bare(l.text))
		all.WriteByte(' ')
	}
	var out []int
	whole := all.String()
	for at := 0; ; {
		i := strings.Index(whole[at:], text)
		if i < 0 {
			return out
		}
		at += i + len(text)
		n, exact := slices.BinarySearch(starts, at-len(text))
		if !exact {
			n--
		}
		if len(out) == 0 || out[len(out)-1] != n {
			out = append(out, n)
		}
	}
}

// bare is what a line says, without what stands around it, in small letters.
func bare(dressed string) string {
	text := strings.TrimLeft(ansi.Strip(dressed), " │")
	return strings.Join(strings.Fields(strings.ToLower(text)), " ")
}

// foundIt shows what was found.
func (t *transcript) foundIt(m found) tea.Cmd {
	if m.of != t.find || m.scan != t.find.scan {
		return nil // nobody looks for it any more
	}
	t.find.end()
	t.find.end, t.err = nil, m.err
	if m.err != nil {
		return nil
	}
	if !m.any {
		t.said = map[bool]string{true: "not found above", false: "not found below"}[t.find.back]
		return nil
	}
	t.find.at, t.find.any = m.at, true
	return t.jump(m.at)
}

// highlight dresses a text where it stands in a line.
func highlight(dressed, text string) string {
	plainText := ansi.Strip(dressed)
	lower := strings.ToLower(plainText)
	if len(lower) != len(plainText) { // letters that change their size: places would not fit
		return dressed
	}
	var b strings.Builder
	column, end := 0, ansi.StringWidth(plainText)
	for at := 0; ; {
		i := strings.Index(lower[at:], text)
		if i < 0 {
			break
		}
		from := ansi.StringWidth(plainText[:at+i])
		match := plainText[at+i : at+i+len(text)]
		at += i + len(text)
		b.WriteString(ansi.Cut(dressed, column, from))
		b.WriteString(reset + paint(chosen, match))
		column = from + ansi.StringWidth(match)
	}
	if column == 0 && b.Len() == 0 {
		return dressed
	}
	b.WriteString(ansi.Cut(dressed, column, end))
	return b.String() + reset
}
