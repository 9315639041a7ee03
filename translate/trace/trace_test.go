package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/trace"
)

func frame(text string) *schema.Frame {
	return &schema.Frame{Type: schema.TypeData, Data: []byte(text)}
}

func message(text string) *schema.Event {
	return &schema.Event{Kind: &schema.Message{Role: schema.Assistant, Text: text}}
}

// say writes places with the bytes that stand there.
func say(f *schema.Frame, places []trace.Place) string {
	var out []string
	for _, p := range places {
		out = append(out, fmt.Sprintf("%s %s[%d:%d] %s", p.Path, p.Field, p.At, p.End, f.Data[p.From:p.To]))
	}
	return strings.Join(out, "; ")
}

func TestPlaces(t *testing.T) {
	raw := func(value string) *schema.Event { return &schema.Event{Kind: &schema.Raw{Value: schema.JSON(value)}} }
	for _, c := range []struct {
		name   string
		event  *schema.Event
		frames []string
		want   []string
	}{
		{"chunks", message("I look in."), []string{
			`{"jsonrpc":"2.0","params":{"update":{"content":{"type":"text","text":"I look "}}}}`,
			`{"jsonrpc":"2.0","params":{"update":{"content":{"type":"text","text":"in."}}}}`,
		}, []string{`params.update.content.text text[0:7] I look `, `params.update.content.text text[7:10] in.`}},
		{"a chunk that is another word of its frame", message("text"), []string{`{"a":"text","text":"text"}`}, []string{`text text[0:4] text`}},
		{"escapes", message("a\"\u00fc\n\U0001F600b"), []string{`{"text":"a\"\u00fc\n\uD83D\uDE00"}`, `{"text":"b"}`},
			[]string{`text text[0:9] a\"\u00fc\n\uD83D\uDE00`, `text text[9:10] b`}},
		{"a snapshot that says more", message("a\"\u00fcbc"), []string{`{"text":"a\"\u00fc"}`, `{"text":"a\"\u00fcbc"}`},
			[]string{`text text[0:4] a\"\u00fc`, `text text[4:6] bc`}},
		{"several parts in a frame", message("ab"), []string{`{"parts":[{"text":"a"},{"text":"b"}]}`},
			[]string{`parts.0.text text[0:1] a; parts.1.text text[1:2] b`}},
		{"joined by a line feed", message("a\nb"), []string{`{"text":"a"}`, `{"text":"b"}`}, []string{`text text[0:1] a`, `text text[2:3] b`}},
		{"a frame that says nothing of it", message("ab"), []string{`{"text":"a"}`, `{"text":""}`, `{"text":"b"}`},
			[]string{`text text[0:1] a`, ``, `text text[1:2] b`}},
		{"a value", raw(`{"a":1,"b":[2]}`), []string{`{"jsonrpc":"2.0","params":{ "a": 1, "b": [ 2 ] }}`}, []string{`params value[0:0] { "a": 1, "b": [ 2 ] }`}},
		{"the whole object", raw(`{"a":1}`), []string{` {"a": 1}`}, []string{` value[0:0] {"a": 1}`}},
		{"an update without its tag", raw(`{"used":1,"size":2}`), []string{`{"params":{"update":{"used":1,"sessionUpdate":"usage_update","size":2}}}`},
			[]string{`params.update value[0:0] {"used":1,"sessionUpdate":"usage_update","size":2}`}},
		{"what the translator wrote", raw(`{"policy":"client"}`), []string{`{"result":{}}`}, []string{``}},
		{"a tool's input", &schema.Event{Kind: &schema.ToolCall{Tool: "read", Input: schema.JSON(`{"p":1}`)}}, []string{`{"rawInput":{"p": 1},"title":"read"}`},
			[]string{`rawInput input[0:0] {"p": 1}; title tool[0:0] "read"`}},
		{"no JSON", message("a"), []string{`a`}, []string{``}},
		{"text behind JSON", message("ab"), []string{`{"text":"a"} {"text":"b"} x`}, []string{`text text[0:1] a; text text[1:2] b`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			finder := trace.NewFinder(c.event)
			var got []string
			for _, text := range c.frames {
				f := frame(text)
				got = append(got, say(f, finder.In(f)))
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestControlFramesHaveNoPlaces(t *testing.T) {
	f := frame(`{"text":"a"}`)
	f.Type = schema.TypeOpen
	require.Empty(t, trace.NewFinder(message("a")).In(f))
}
