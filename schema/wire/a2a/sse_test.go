package a2a

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func data(events []Event) (out []string) {
	for _, e := range events {
		out = append(out, string(e.Data))
	}
	return out
}

func TestEventsAreCutAsTheStreamSaysIt(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
		rest string
	}{
		"one":                    {"data: {\"a\":1}\n\n", []string{`{"a":1}`}, ""},
		"no space":               {"data:x\n\ndata:  y\n\n", []string{"x", " y"}, ""},
		"several lines":          {"data: {\ndata: \"a\":1\ndata: }\n\n", []string{"{\n\"a\":1\n}"}, ""},
		"CRLF":                   {"data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}, ""},
		"CR":                     {"data: a\r\rdata: b\r\r", []string{"a", "b"}, ""},
		"mixed":                  {"data: a\n\r\ndata: b\r\n\n", []string{"a", "b"}, ""},
		"comments and pings":     {": keep-alive\n\n: ping - 1\n\nevent: ping\n\ndata:\n\ndata: a\n\n: bye\n\n", []string{"a"}, ": bye\n\n"},
		"an empty line of data":  {"data:\ndata: a\ndata:\n\n", []string{"\na\n"}, ""},
		"no blank line":          {"data: a", []string{"a"}, ""},
		"no blank line, one LF":  {"data: a\n", []string{"a"}, ""},
		"byte order mark":        {"\uFEFFdata: a\n\n\uFEFFdata: b\n\n", []string{"a"}, "\uFEFFdata: b\n\n"},
		"nothing":                {"", nil, ""},
		"no data at all":         {"event: x\nid: 7\n\n", nil, "event: x\nid: 7\n\n"},
		"a field without a name": {"dat: x\ndata\n\n", nil, "dat: x\ndata\n\n"},
	} {
		events, rest := AppendEvents(nil, []byte(c.text))
		require.Equal(t, c.want, data(events), name)
		require.Equal(t, c.rest, string(rest), name)
	}
}

func TestAnEventHasItsFieldsAndItsBytes(t *testing.T) {
	text := ": hello\n\nevent: lost\n\nid: 1\nevent: error\ndata: {}\nretry: 5\n\nid: 2\ndata: x"
	events, rest := AppendEvents(nil, []byte(text))
	require.Empty(t, rest)
	require.Equal(t, []Event{
		{Data: []byte("{}"), Name: []byte("error"), ID: []byte("1"), Raw: []byte(text[:len(text)-len("id: 2\ndata: x")]), Ended: true},
		{Data: []byte("x"), ID: []byte("2"), Raw: []byte("id: 2\ndata: x")},
	}, events)
}

func TestAnEventComesWithItsLastByte(t *testing.T) {
	var r EventReader
	require.Empty(t, r.Feed(nil, []byte("data: a\n")))
	require.Equal(t, []string{"a"}, data(r.Feed(nil, []byte("\n"))))
	require.Empty(t, r.Feed(nil, []byte("data: b\r\n\r")), "an LF may follow")
	events := r.Feed(nil, []byte("\n"))
	require.Equal(t, "data: b\r\n\r\n", string(events[0].Raw))
	require.Empty(t, r.Feed(nil, []byte("data: c\r\r")))
	events, rest := r.Flush(nil)
	require.Equal(t, []string{"c"}, data(events))
	require.True(t, events[0].Ended)
	require.Empty(t, rest)
}

func TestNothingIsTooLong(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	var r EventReader
	var events []Event
	text := []byte("data: " + long + "\n\ndata: y\n\n")
	for len(text) > 0 {
		n := min(len(text), 4096)
		events = r.Feed(events, text[:n])
		text = text[n:]
	}
	require.Equal(t, []string{long, "y"}, data(events))
}

func FuzzEventReader(f *testing.F) {
	f.Add([]byte("data: {\"a\":1}\r\n\r\n: c\n\nid: 1\ndata: x\ndata: y\n\n\rdata: z"), uint16(3))
	f.Add([]byte("\uFEFFdata:\n\ndata: \r\rdata: b\n\r"), uint16(1))
	f.Fuzz(func(t *testing.T, text []byte, seed uint16) {
		want, wantRest := AppendEvents(nil, text)
		var r EventReader
		var got []Event
		state := uint32(seed) + 1
		for left := text; len(left) > 0; {
			state = state*1664525 + 1013904223
			n := min(len(left), int(state>>24)%7+1)
			if seed == 0 {
				n = 1
			}
			got = r.Feed(got, left[:n])
			left = left[n:]
		}
		got, rest := r.Flush(got)
		require.Equal(t, len(want), len(got))
		var bytesBack []byte
		for i := range want {
			require.Equal(t, string(want[i].Raw), string(got[i].Raw))
			require.Equal(t, string(want[i].Data), string(got[i].Data))
			require.Equal(t, string(want[i].Name)+"\x00"+string(want[i].ID), string(got[i].Name)+"\x00"+string(got[i].ID))
			require.Equal(t, want[i].Ended, got[i].Ended)
			require.NotEmpty(t, got[i].Data)
			bytesBack = append(bytesBack, got[i].Raw...)
		}
		require.Equal(t, string(wantRest), string(rest))
		require.Equal(t, string(text), string(append(bytesBack, rest...)), "every byte is in exactly one place")
		again := r.Feed(nil, []byte("data: new\n\n"))
		require.Equal(t, []string{"new"}, data(again))
	})
}

func BenchmarkAppendEvents(b *testing.B) {
	text := bytes.Repeat([]byte("id: 56d5bd5b\ndata: {\"artifactUpdate\":{\"taskId\":\"t\",\"artifact\":{\"artifactId\":\"a\",\"parts\":[{\"text\":\" in\"}]}}}\n\n"), 1)
	var events []Event
	b.ReportAllocs()
	for b.Loop() {
		events, _ = AppendEvents(events[:0], text)
	}
}
