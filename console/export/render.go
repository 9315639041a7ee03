package export

import (
	"bytes"
	"html/template"
	"net/url"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"github.com/steno-io/steno/console/reading"
)

// htmlMark renders a message's Markdown as HTML that runs nothing and loads nothing: HTML in it is text, an
// image is its description and its address, and a link leads where a reader means to go, or is text.
var htmlMark = goldmark.New(
	goldmark.WithExtensions(
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		extension.Strikethrough, extension.Linkify, extension.TaskList,
	),
	goldmark.WithRendererOptions(
		html.WithWriter(writer{}),
		renderer.WithNodeRenderers(util.Prioritized(nodes{}, 1)),
	),
)

// rendered is a message's Markdown as HTML; text that takes too long to be read as Markdown stands as it is.
func rendered(message string) (template.HTML, error) {
	if !isTame(message) {
		return template.HTML(`<pre tabindex="0">` + escaped([]byte(message)) + "</pre>"), nil
	}
	var out bytes.Buffer
	if err := htmlMark.Convert([]byte(reading.Visible(message)), &out); err != nil {
		return "", err
	}
	return template.HTML(out.String()), nil //nolint:gosec // it is what the renderers of this file let through
}

// writer writes text, in which a character reference may stand for what nobody would see.
type writer struct{}

func (writer) Write(w util.BufWriter, source []byte) { shown(w, source, html.DefaultWriter.Write) }
func (writer) RawWrite(w util.BufWriter, source []byte) {
	shown(w, source, html.DefaultWriter.RawWrite)
}
func (writer) SecureWrite(w util.BufWriter, source []byte) {
	shown(w, source, html.DefaultWriter.SecureWrite)
}

func shown(w util.BufWriter, source []byte, write func(util.BufWriter, []byte)) {
	var b strings.Builder
	out := buffered{&b}
	write(out, source)
	_, _ = w.WriteString(reading.Visible(b.String())) // the caller's writer keeps its error
}

// buffered is a util.BufWriter in memory.
type buffered struct{ *strings.Builder }

func (buffered) Available() int  { return 0 }
func (b buffered) Buffered() int { return b.Len() }
func (buffered) Flush() error    { return nil }

// nodes renders what goldmark's own renderers would let through, or leave out.
type nodes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (nodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, heading)
	r.Register(ast.KindRawHTML, rawHTML)
	r.Register(ast.KindHTMLBlock, htmlBlock)
	r.Register(ast.KindImage, image)
	r.Register(ast.KindLink, link)
	r.Register(ast.KindAutoLink, autoLink)
	r.Register(ast.KindLinkReferenceDefinition, definition)
	r.Register(ast.KindFencedCodeBlock, codeBlock)
	r.Register(ast.KindCodeBlock, codeBlock)
}

// heading stands below those of the page.
func heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "h" + string(rune('0'+min(n.(*ast.Heading).Level+headingsFrom-1, 6))) + ">"
	if entering {
		return ast.WalkContinue, put(w, "<"+tag)
	}
	return ast.WalkContinue, put(w, "</"+tag+"\n")
}

func rawHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	return ast.WalkSkipChildren, put(w, escaped(n.(*ast.RawHTML).Segments.Value(source)))
}

func htmlBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := n.(*ast.HTMLBlock)
	text := block.Lines().Value(source)
	if block.HasClosure() {
		text = append(bytes.Clone(text), block.ClosureLine.Value(source)...)
	}
	return ast.WalkContinue, put(w, "<pre class=\"html\">"+escaped(text)+"</pre>\n")
}

func codeBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	begin := `<pre tabindex="0"><code>`
	if fenced, ok := n.(*ast.FencedCodeBlock); ok && fenced.Info != nil {
		begin = `<pre tabindex="0" data-info="` + escaped(fenced.Info.Segment.Value(source)) + `"><code>`
	}
	return ast.WalkContinue, put(w, begin+escaped(n.Lines().Value(source))+"</code></pre>\n")
}

// definition says where a link of the message leads whose address stands apart from it: there may be none.
func definition(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	return ast.WalkSkipChildren, put(w, `<p class="definition">`+escaped(bytes.TrimRight(n.Lines().Value(source), "\n"))+"</p>\n")
}

// image is what it shows, in words, and where it is.
func image(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		return ast.WalkContinue, put(w, `<span class="image">[image: `)
	}
	of := n.(*ast.Image)
	return ast.WalkContinue, put(w, " · "+escaped(of.Destination)+quoted(of.Title)+"]</span>")
}

// link leads somewhere if a reader may go there; else its address stands behind its text.
func link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	of := n.(*ast.Link)
	to := string(of.Destination)
	switch mayLead := leads(to); {
	case mayLead && entering:
		return ast.WalkContinue, put(w, anchor(to))
	case mayLead:
		return ast.WalkContinue, put(w, "</a>"+quoted(of.Title))
	case !entering:
		return ast.WalkContinue, put(w, " ("+escaped([]byte(to))+quoted(of.Title)+")")
	}
	return ast.WalkContinue, nil
}

func autoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.AutoLink)
	to, label := string(n.URL(source)), escaped(n.Label(source))
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(to), "mailto:") {
		to = "mailto:" + to
	}
	if !leads(to) {
		return ast.WalkContinue, put(w, label)
	}
	return ast.WalkContinue, put(w, anchor(to)+label+"</a>")
}

func anchor(to string) string {
	return `<a rel="noreferrer noopener nofollow" href="` + string(util.EscapeHTML(util.URLEscape([]byte(to), true))) + `">`
}

// leads reports whether an address is one that a link may lead to.
func leads(to string) bool {
	u, err := url.Parse(reading.Visible(to))
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return true
	}
	return false
}

// quoted is a title, as text behind what has it.
func quoted(title []byte) string {
	if len(title) == 0 {
		return ""
	}
	return ` <q>` + escaped(title) + `</q>`
}

func escaped(text []byte) string {
	return string(util.EscapeHTML([]byte(reading.Visible(string(text)))))
}

func put(w util.BufWriter, text string) error {
	_, err := w.WriteString(text)
	return err
}
