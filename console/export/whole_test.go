package export_test

import (
	"bytes"
	"encoding/json"
	stdhtml "html"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	dom "golang.org/x/net/html"

	"github.com/steno-io/steno/console/export"
	"github.com/steno-io/steno/schema"
)

// letters are the letters and digits of a text, in order: what is said, however it is set.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

// said is what a message says, by its Markdown as it stands: list numbers, which a page draws itself, are
// left out.
func said(message string) string {
	message = regexp.MustCompile(`(?m)^[ >]*\d+[.)] `).ReplaceAllString(message, "")
	return letters(stdhtml.UnescapeString(message))
}

// parsed is a page's tree.
func parsed(t require.TestingT, page string) *dom.Node {
	n, err := dom.Parse(strings.NewReader(page))
	require.NoError(t, err)
	return n
}

func attribute(n *dom.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// text is all that a tree says: its text, and where it keeps more in attributes.
func text(n *dom.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == dom.TextNode {
			b.WriteString(d.Data)
		}
		if info, ok := strings.CutPrefix(attribute(d, "class"), "language-"); ok {
			b.WriteString(" " + info)
		}
		b.WriteString(" " + attribute(d, "data-info"))
	}
	return b.String()
}

// withID finds an element.
func withID(n *dom.Node, id string) *dom.Node {
	for d := range n.Descendants() {
		if d.Type == dom.ElementNode && attribute(d, "id") == id {
			return d
		}
	}
	return nil
}

// viewed renders Markdown as code hosts do, but for what they then take away.
func viewed(t require.TestingT, page string) *dom.Node {
	var out bytes.Buffer
	require.NoError(t, goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(goldhtml.WithUnsafe())).Convert([]byte(page), &out))
	return parsed(t, out.String())
}

// Every message of a transcript is in its exports, whole, as what the ledger holds says.
func TestExportsHoldEveryMessage(t *testing.T) {
	for name, of := range map[string]func(testing.TB) *export.Transcript{"sacks": sacks, "tasks": tasks, "goose": goose} {
		t.Run(name, func(t *testing.T) {
			page := parsed(t, html(t, of(t)))
			md := letters(text(viewed(t, markdown(t, of(t)))))
			messages := 0
			for e, err := range of(t).Stored {
				require.NoError(t, err)
				event, err := schema.DecodeEvent(e.Bytes)
				require.NoError(t, err)
				m, ok := event.Kind.(*schema.Message)
				if !ok {
					continue
				}
				messages++
				at := withID(page, "e"+strconv.FormatUint(e.Seq, 10))
				require.NotNil(t, at, "event %d", e.Seq)
				require.Contains(t, letters(text(at)), said(m.Text), "event %d", e.Seq)
				require.Contains(t, md, said(m.Text), "event %d", e.Seq)
			}
			require.Greater(t, messages, 2)
			raw := withID(page, "raw")
			for e, err := range of(t).Stored {
				require.NoError(t, err)
				at := withID(raw, "raw-"+strconv.FormatUint(e.Seq, 10))
				require.Contains(t, text(at), string(e.Bytes), "byte for byte")
			}
		})
	}
}

// What tools were given and gave is in them, too.
func TestExportsHoldWhatToolsDid(t *testing.T) {
	page, md := letters(text(parsed(t, html(t, goose(t))))), letters(text(viewed(t, markdown(t, goose(t)))))
	for _, e := range goose(t).Events {
		var values []schema.JSON
		switch k := e.Kind.(type) {
		case *schema.ToolCall:
			values = append(values, k.Input)
		case *schema.ToolResult:
			values = append(values, k.Output)
		}
		for _, v := range values {
			for _, word := range strings.FieldsFunc(stringsOf(t, v), func(r rune) bool { return r == '\n' }) {
				require.Contains(t, page, letters(word), "event %d", e.StoreSeq)
				require.Contains(t, md, letters(word), "event %d", e.StoreSeq)
			}
		}
	}
}

// stringsOf are the texts in JSON, a line each.
func stringsOf(t testing.TB, v schema.JSON) string {
	t.Helper()
	if v == nil {
		return ""
	}
	var value any
	require.NoError(t, json.Unmarshal(v, &value))
	var all []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if v["type"] == "content" || v["type"] == "text" { // their own names are not said
				walk([]any{v["content"], v["text"]})
				return
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		case string:
			all = append(all, v)
		}
	}
	walk(value)
	return strings.Join(all, "\n")
}

// What is not the whole says so on the page.
func TestAPartSaysThatItIsOne(t *testing.T) {
	for status, says := range map[schema.Status]string{
		schema.StatusOpen: "This is a part: the recording had not ended", schema.StatusParked: "This is a part: the recording is parked",
		schema.StatusEnded: "", schema.StatusAbandoned: "",
	} {
		of := sacks(t)
		of.Summary.Status = status
		for _, page := range []string{text(parsed(t, html(t, of))), text(viewed(t, markdown(t, of)))} {
			require.Equal(t, says != "", strings.Contains(page, "This is a part"))
			require.Contains(t, page, says)
		}
	}
}

// What is said in any pinned capture is in its exports: messages, notes, how turns ended, tools and their
// outputs, what was asked and decided.
func TestExportsOfEveryPinnedCapture(t *testing.T) {
	said := 0
	for _, pattern := range []string{"acp/testdata/acp-*/*.golden", "a2a/testdata/a2a-1/*.golden"} {
		files, err := filepath.Glob(filepath.Join("../../translate", pattern))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			name, _ := strings.CutSuffix(strings.TrimPrefix(file, "../../translate/"), ".golden")
			for session := range uint32(3) {
				said += holds(t, name, session)
			}
		}
	}
	require.Greater(t, said, 200)
}

// holds compares the exports of a session of a pinned capture with its events, and counts what they say.
func holds(t *testing.T, name string, session uint32) (said int) {
	frames := capture(t, name)
	if !has(t, frames, session) {
		return 0
	}
	page := html(t, recorded(t, frames, session))
	tame(t, page, elements)
	both := map[string]string{
		"html": letters(text(parsed(t, page))), "md": letters(text(viewed(t, markdown(t, recorded(t, frames, session))))),
	}
	for _, e := range recorded(t, frames, session).Events {
		var says []string
		switch k := e.Kind.(type) {
		case *schema.Message:
			texts := []struct{ Text string }{{k.Text}}
			if k.Content != nil { // other parts stand between
				texts = nil
				require.NoError(t, json.Unmarshal(k.Content, &texts))
			}
			for _, part := range texts {
				says = append(says, strings.Split(part.Text, "\n")...)
			}
		case *schema.Progress:
			if n, ok := k.Detail.(*schema.Note); ok {
				says = append(says, strings.Split(n.Text, "\n")...)
			}
		case *schema.Stop:
			says = append(says, k.Detail)
		case *schema.ToolCall:
			says = append(says, strings.Split(stringsOf(t, k.Input), "\n")...)
		case *schema.ToolResult:
			if !strings.Contains(string(k.Output), `"type":"`) { // those that name contents may have bytes
				says = append(says, strings.Split(stringsOf(t, k.Output), "\n")...)
			}
		case *schema.Raw:
			if strings.HasPrefix(k.Source, "session/request_permission") {
				for _, option := range regexp.MustCompile(`"name":"([^"]*)"`).FindAllStringSubmatch(string(k.Value), -1) {
					says = append(says, option[1])
				}
			}
		}
		for _, line := range says {
			said++
			for format, all := range both {
				require.Contains(t, all, letters(line), "%s, session %d, event %d in %s", name, session, e.StoreSeq, format)
			}
		}
	}
	return said
}

// A fault that is long to tell is open, and its head begins to tell it.
func TestALongFaultIsOpen(t *testing.T) {
	of := spoken("é")
	message := strings.Repeat("é", 300)
	of.Summary.Protocol = schema.A2A
	of.Events = of.Events[:1]
	of.Events[0].Source.Protocol = schema.A2A
	of.Events[0].Kind = &schema.Raw{Source: "a2a/1.0/jsonrpc/GetTask/error", Value: schema.JSON(`{"jsonrpc":"2.0","id":1,"error":{"code":-3,"message":"` + message + `"}}`)}
	for _, page := range []string{html(t, of), markdown(t, of)} {
		require.Regexp(t, `<details[^>]* open(="")?>|<details open>`, page)
		require.Regexp(t, `GetTask failed · -3 é{118}… · `, page)
	}
}
