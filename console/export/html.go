package export

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed" // the page's template and styles
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

//go:embed page.tmpl
var pageText string

// tokensText is the scale of type and the colours of the web console, as it has them.
//
//go:embed tokens.css
var tokensText string

//go:embed style.css
var ownStyle string

var styleText = "\n" + tokensText + ownStyle

var pageTemplates = template.Must(template.New("").Parse(pageText))

// policy lets a page do nothing but look as it does: no script, no request.
var policy = func() string {
	sum := sha256.Sum256([]byte(styleText))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}()

// HTML writes a transcript as one page of HTML that needs nothing else, runs nothing and asks for nothing. It
// changes the order of t.Events. It ends with ctx, between two items.
func HTML(ctx context.Context, w io.Writer, t *Transcript) error {
	p := t.page()
	out := bufio.NewWriterSize(w, lineBuffer)
	h := &htmlPage{out: out, clock: clock{t.Summary.FirstAt}}
	if err := h.write(ctx, t, p); err != nil {
		return fmt.Errorf("write HTML: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write HTML: %w", err)
	}
	return nil
}

type htmlPage struct {
	out   io.Writer
	clock clock
}

func (h *htmlPage) do(name string, data any) error {
	return pageTemplates.ExecuteTemplate(h.out, name, data)
}

// fact is a line of the heading.
type fact struct{ Name, Value string }

type head struct {
	Policy string
	Style  template.CSS
	Title  string
	Key    string
	Facts  []fact
	Part   string
}

type foot struct {
	Left   string
	Events int
}

func (h *htmlPage) write(ctx context.Context, t *Transcript, p *reading.Page) error {
	s := t.Summary
	top := head{Policy: policy, Style: template.CSS(styleText), Title: reading.Title(s), Key: s.Key, Part: t.part()}
	for _, f := range []fact{
		{"recorded", strings.Join(reading.Facts(s), " · ")}, {"when", when(s)}, {"in", reading.OneLine(s.Cwd)}, {"where", reading.OneLine(p.Origin)},
	} {
		if f.Value != "" {
			top.Facts = append(top.Facts, f)
		}
	}
	if err := h.do("head", top); err != nil {
		return err
	}
	for i := range p.Items {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := h.item(&p.Items[i]); err != nil {
			return err
		}
	}
	bottom := foot{Events: len(t.Events)}
	if p.Hidden > 0 {
		bottom.Left = left(p.Hidden)
	}
	if err := h.do("foot", bottom); err != nil {
		return err
	}
	if t.Stored == nil {
		return h.do("end", nil)
	}
	for e, err := range t.Stored {
		if err == nil {
			err = h.stored(e)
		}
		if err != nil {
			return err
		}
	}
	return h.do("end", nil)
}

// item is what the template of an item is given.
type item struct {
	Template string
	Seq      uint64
	Class    string
	Title    string
	Flags    []string
	At       string // since the first event
	Stamp    string // RFC 3339
	Task     string
	Is       reading.Piece
	Parts    []part
	Open     bool
	Mark     string
	Words    string
	Body     string
	Steps    []step
	Edits    []edit
}

type part struct {
	HTML  template.HTML
	Named string
	Body  string
}

type step struct{ Class, Mark, Words, At string }

type edit struct {
	Path    string
	Words   string
	Removed string
	Added   string
}

var tones = map[reading.Tone]string{reading.Plain: "plain", reading.Quiet: "quiet", reading.Good: "good", reading.Bad: "bad", reading.Warn: "warn"}

func (h *htmlPage) item(i *reading.Item) error {
	d := item{
		Seq: i.Event.StoreSeq, At: h.clock.since(i.At), Stamp: i.At.UTC().Format(time.RFC3339Nano), Task: reading.OneLine(i.Task), Is: i.Is,
	}
	for _, f := range i.Flags {
		d.Flags = append(d.Flags, reading.OneLine(string(f)))
	}
	switch k := i.Is.(type) {
	case *reading.Message:
		if err := d.message(k); err != nil {
			return fmt.Errorf("event %d: %w", d.Seq, err)
		}
	case *reading.Tool:
		d.tool(h, k)
	case *reading.Permission:
		d.Template, d.Title = "permission", "permission"
	case *reading.Plan:
		d.Template, d.Title = "plan", "plan"
		d.plan(k)
	case *reading.Noise:
		d.Template, d.Class = "folded", "quiet"
		d.Title = k.Title()
		d.Body = reading.Visible(k.Text)
	case *reading.Remark:
		d.Template, d.Class, d.Mark = "remark", tones[k.Tone], k.Mark
		d.Body = strings.TrimSpace(reading.Visible(k.Text))
	case *reading.Line:
		d.line(k)
	}
	return h.do("item", d)
}

func (d *item) message(k *reading.Message) error {
	d.Template, d.Title, d.Class = "message", k.Who, "agent"
	switch {
	case k.Channel == schema.Thought:
		d.Template, d.Class = "thought", "thought"
	case k.Role == schema.User:
		d.Class = "user"
	}
	if k.Revised {
		d.Title += " (revised)"
	}
	for i := range k.Parts {
		p := &k.Parts[i]
		if p.Named != "" {
			d.Parts = append(d.Parts, part{Named: p.Named, Body: reading.Visible(p.Body())})
			continue
		}
		text, err := rendered(p.Text)
		if err != nil {
			return err
		}
		d.Parts = append(d.Parts, part{HTML: text})
	}
	return nil
}

func (d *item) tool(h *htmlPage, k *reading.Tool) {
	tone, mark, words := k.Words()
	name, title := k.Label()
	d.Template, d.Class, d.Mark, d.Words, d.Title, d.Body = "tool", tones[tone], mark, words, name, title
	for _, l := range k.Life {
		d.Steps = append(d.Steps, step{tones[l.Tone], l.Mark, l.Words, h.clock.since(l.At)})
	}
	for _, e := range k.Edits {
		d.Edits = append(d.Edits, edit{
			Path:    reading.OneLine(e.Path),
			Words:   e.Words(),
			Removed: reading.Visible(reading.Marked("- ", e.Removed)), Added: reading.Visible(reading.Marked("+ ", e.Added)),
		})
	}
}

// Input is what a tool was given, as lines of text.
func (d item) Input() string {
	k := d.Is.(*reading.Tool)
	if k.Input == nil {
		return ""
	}
	return strings.TrimRight(reading.Visible(reading.Readable(k.Input)), "\n")
}

// Output is what a tool gave.
func (d item) Output() string { return reading.Visible(d.Is.(*reading.Tool).Result()) }

func (d *item) plan(k *reading.Plan) {
	for _, s := range k.Steps {
		st := step{"quiet", reading.MarkCalled, s.Text, s.Status}
		switch s.Status {
		case "completed":
			st.Class, st.Mark, st.At = "good", reading.MarkGood, "done"
		case "in_progress":
			st.Class, st.Mark, st.At = "plain", reading.MarkRunning, "in progress"
		case "pending", "":
			st.At = "to do"
		}
		st.At = reading.OneLine(st.At)
		d.Steps = append(d.Steps, st)
	}
}

func (d *item) line(k *reading.Line) {
	d.Template, d.Class, d.Mark, d.Title, d.Words = "line", tones[k.Tone], k.Mark, k.What, k.More
	if len(k.More) > longMore && k.Value != nil {
		d.Template, d.Title = "folded", k.What+" · "+reading.BytesOf(len(k.Value))
		if d.Open = standsOut(k.Tone); d.Open {
			d.Title = k.Mark + " " + k.What + " · " + begin(k.More) + " · " + reading.BytesOf(len(k.Value))
		}
		d.Body = reading.Visible(string(k.Value))
		if text, ok := reading.Unbase64(k.Value); ok {
			d.Body = reading.Visible(text)
		}
	}
}

// stored is a stored event as it is.
func (h *htmlPage) stored(e sink.Event) error {
	event, err := schema.DecodeEvent(e.Bytes)
	if err != nil {
		return err
	}
	name := event.Kind.Tag()
	if k, ok := event.Kind.(*schema.Raw); ok {
		name += " " + k.Source
	}
	return h.do("stored", struct {
		Seq   uint64
		Name  string
		Bytes template.HTML
	}{e.Seq, reading.OneLine(name), template.HTML(between.Replace(reading.Visible(string(e.Bytes))))})
}

// between writes text between tags. The template's own writes quotation marks out, too, which JSON is full
// of.
var between = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
