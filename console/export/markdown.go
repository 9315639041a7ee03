package export

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
)

// Markdown writes a transcript as a page of GitHub's Markdown. Nothing of a transcript is HTML in it, and
// nothing is loaded by it. It changes the order of t.Events. It ends with ctx, between two items.
func Markdown(ctx context.Context, w io.Writer, t *Transcript) error {
	p := t.page()
	m := &markdown{out: bufio.NewWriterSize(w, lineBuffer), clock: clock{t.Summary.FirstAt}}
	m.heading(t, p)
	for i := range p.Items {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("write Markdown: %w", err)
		}
		m.item(&p.Items[i])
	}
	m.block("---")
	words := "Written by steno. "
	if p.Hidden > 0 {
		words += left(p.Hidden) + ". "
	}
	m.block(words + "`steno export --format jsonl` has every event, `--frames` every byte.")
	if err := m.out.Flush(); err != nil {
		return fmt.Errorf("write Markdown: %w", err)
	}
	return nil
}

// markdown writes blocks with a blank line between them.
type markdown struct {
	out   *bufio.Writer // keeps its first error
	clock clock
	any   bool
	lined bool // the last block is of lines, and another line may be added
}

func (m *markdown) write(text string) { _, _ = m.out.WriteString(text) }

// block writes a block of whole lines.
func (m *markdown) block(text string) {
	switch {
	case m.lined:
		m.write("\n\n")
	case m.any:
		m.write("\n")
	}
	m.any, m.lined = true, false
	m.write(strings.TrimRight(text, "\n") + "\n")
}

// line writes a line of its own; those that follow one another are one paragraph.
func (m *markdown) line(text string) {
	switch {
	case m.lined:
		m.write("\\\n")
	case m.any:
		m.write("\n")
	}
	m.any, m.lined = true, true
	m.write(text)
}

func (m *markdown) heading(t *Transcript, p *reading.Page) {
	s := t.Summary
	m.block("# " + inline(reading.Title(s)))
	rows := "| | |\n|---|---|\n| transcript | " + code(s.Key) + " |\n"
	row := func(name, value string) {
		if value != "" {
			rows += "| " + name + " | " + value + " |\n"
		}
	}
	row("recorded", inline(strings.Join(reading.Facts(s), " · ")))
	row("when", inline(when(s)))
	row("in", strings.ReplaceAll(code(s.Cwd), "|", `\|`))
	row("where", inline(p.Origin))
	m.block(rows)
	if part := t.part(); part != "" {
		m.block("> **" + inline(part) + "**")
	}
}

// edge is what stands behind a head: what is odd, when it was, and its number.
func (m *markdown) edge(i *reading.Item) string {
	var b strings.Builder
	for _, f := range i.Flags {
		b.WriteString(" · " + code(string(f)))
	}
	return b.String() + m.place(i)
}

func (m *markdown) place(i *reading.Item) string {
	return " · " + m.clock.since(i.At) + " · " + strconv.FormatUint(i.Event.StoreSeq, 10)
}

// fold begins what is looked at on request only.
func (m *markdown) fold(title string, i *reading.Item) { m.details("<details>", title, i) }

func (m *markdown) details(tag, title string, i *reading.Item) {
	for _, f := range i.Flags {
		title += " · " + string(f)
	}
	m.block(tag + "<summary>" + element(title+m.place(i)) + "</summary>")
}

// opened writes what may be folded, and is not.
func (m *markdown) opened(title string, i *reading.Item, block string) {
	m.details("<details open>", title, i)
	m.block(block)
	m.block("</details>")
}

// standsOut reports whether a tone is of what no reader may miss.
func standsOut(t reading.Tone) bool { return t == reading.Bad || t == reading.Warn }

// begin is how a long line begins, cut between two characters.
func begin(line string) string {
	cut := min(longMore, len(line))
	for cut < len(line) && cut > 0 && !utf8.RuneStart(line[cut]) {
		cut--
	}
	if cut == len(line) {
		return line
	}
	return line[:cut] + "…"
}

func (m *markdown) item(i *reading.Item) {
	if i.Task != "" {
		m.block("**task " + inline(i.Task) + "**")
	}
	switch k := i.Is.(type) {
	case *reading.Message:
		m.message(i, k)
	case *reading.Tool:
		m.tool(i, k)
	case *reading.Permission:
		m.block("## ? permission" + m.edge(i))
		for j := range k.Asks {
			m.ask(&k.Asks[j])
		}
	case *reading.Plan:
		m.plan(i, k)
	case *reading.Noise:
		m.folded(k.Title(), i, fence("text", k.Text))
	case *reading.Remark:
		if text := strings.TrimSpace(k.Text); strings.Contains(text, "\n") {
			m.block(k.Mark + " note" + m.edge(i))
			m.block(fence("text", text))
			return
		}
		m.line(k.Mark + " " + inline(k.Text) + m.edge(i))
	case *reading.Line:
		m.says(i, k)
	}
}

// longMore is from how many bytes on what a line says more is folded, as it was sent.
const longMore = 240

func (m *markdown) says(i *reading.Item, k *reading.Line) {
	head := k.Mark + " " + k.What
	if len(k.More) > longMore && k.Value != nil {
		if standsOut(k.Tone) {
			m.opened(head+" · "+begin(k.More)+" · "+reading.BytesOf(len(k.Value)), i, value(k.Value))
			return
		}
		m.folded(head+" · "+reading.BytesOf(len(k.Value)), i, value(k.Value))
		return
	}
	text := inline(head)
	if standsOut(k.Tone) {
		text = "**" + text + "**"
	}
	if k.More != "" {
		text += " " + inline(k.More)
	}
	m.line(text + m.edge(i))
}

// value is JSON, or the bytes that it stands for, as a block.
func value(v schema.JSON) string {
	if text, ok := reading.Unbase64(v); ok {
		return fence("text", text)
	}
	return fence("json", string(v))
}

func (m *markdown) message(i *reading.Item, k *reading.Message) {
	who := k.Who
	if k.Revised {
		who += " (revised)"
	}
	if k.Channel == schema.Thought {
		m.fold(who, i)
		m.parts(k.Parts)
		m.block("</details>")
		return
	}
	m.block("## " + inline(who) + m.edge(i))
	m.parts(k.Parts)
}

func (m *markdown) parts(parts []reading.Part) {
	for j := range parts {
		p := &parts[j]
		if p.Named == "" {
			if strings.TrimSpace(p.Text) != "" {
				m.block(contain(p.Text))
			}
			continue
		}
		if body := p.Body(); body != "" {
			m.block("<details><summary>" + element(p.Named) + "</summary>")
			m.block(fence("text", body))
			m.block("</details>")
			continue
		}
		m.line(`\[` + inline(p.Named) + `\]`)
	}
}

// folded writes what is looked at on request only.
func (m *markdown) folded(title string, i *reading.Item, block string) {
	m.fold(title, i)
	m.block(block)
	m.block("</details>")
}

func (m *markdown) tool(i *reading.Item, k *reading.Tool) {
	_, mark, words := k.Words()
	name, title := k.Label()
	head := "## " + mark + " " + inline(name)
	if title != "" {
		head += ": " + inline(title)
	}
	m.block(head + " · " + inline(words) + m.edge(i))
	if len(k.Life) > 1 {
		var steps []string
		for _, l := range k.Life {
			steps = append(steps, l.Mark+" "+inline(l.Words)+" "+m.clock.since(l.At))
		}
		m.block(strings.Join(steps, " → "))
	}
	if k.Input != nil {
		m.block("**input**")
		m.block(fence("text", reading.Readable(k.Input)))
	}
	for j := range k.Asks {
		m.ask(&k.Asks[j])
	}
	for _, e := range k.Edits {
		m.block("**edit** " + code(e.Path) + " " + e.Words())
		if e.Did != "" && len(e.Removed)+len(e.Added) == 0 {
			continue
		}
		m.block(fence("diff", reading.Marked("-", e.Removed)+reading.Marked("+", e.Added)))
	}
	if output := k.Result(); output != "" {
		if k.IsError {
			m.block("**output, an error**")
		} else {
			m.block("**output**")
		}
		m.block(fence("text", output))
	}
}

func (m *markdown) ask(a *reading.Ask) {
	m.line("? asked: " + inline(a.Asked()))
	if a.Decided != "" {
		mark := reading.MarkBad
		if a.Allowed {
			mark = reading.MarkGood
		}
		m.line(mark + " " + inline(a.Decided))
	}
}

func (m *markdown) plan(i *reading.Item, k *reading.Plan) {
	m.block("## plan" + m.edge(i))
	var b strings.Builder
	for _, s := range k.Steps {
		box, more := "[ ]", ""
		switch s.Status {
		case "completed":
			box = "[x]"
		case "in_progress":
			more = " **(in progress)**"
		case "pending", "":
		default:
			more = " (" + inline(s.Status) + ")"
		}
		b.WriteString("- " + box + " " + inline(s.Text) + more + "\n")
	}
	if len(k.Steps) == 0 {
		b.WriteString("(nothing)\n")
	}
	m.block(b.String())
}
