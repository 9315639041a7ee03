package capturefile

import (
	"bytes"
	"encoding/hex"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
)

// readAll reads a file's frames up to its end or its error.
func readAll(text string) ([]schema.Frame, error) {
	r := NewReader("a.jsonl", strings.NewReader(text))
	var frames []schema.Frame
	for {
		f, err := r.Next()
		if err == io.EOF {
			return frames, nil
		}
		if err != nil {
			return frames, err
		}
		frames = append(frames, f)
	}
}

func TestDefaultsOfHandWrittenLines(t *testing.T) {
	frames, err := readAll("\xEF\xBB\xBF" + `{"from":"client","text":"{}"}` + "\r\n\n  \n" +
		`{"from":"agent","b64":"/w=="}` + "\n" + `{"type":"close","text":"{\"reason\":\"eof\"}"}`)
	require.NoError(t, err)
	require.Equal(t, []schema.Frame{
		{Seq: 1, At: time.UnixMilli(1).UTC(), From: "client", Type: "data", Protocol: "acp", End: "lf", Data: []byte("{}")},
		{Seq: 4, At: time.UnixMilli(4).UTC(), From: "agent", Type: "data", Protocol: "acp", End: "lf", Data: []byte{0xff}},
		{Seq: 5, At: time.UnixMilli(5).UTC(), From: "control", Type: "close", Protocol: "acp", End: "none", Data: []byte(`{"reason":"eof"}`)},
	}, frames)
}

func TestProtocolOfTheFirstLineHolds(t *testing.T) {
	for _, first := range []string{
		`{"from":"client","protocol":"a2a","text":""}`,
		`{"type":"open","text":"{\"protocol\":\"a2a\"}"}`,
	} {
		frames, err := readAll(first + "\n" + `{"from":"agent","exchange":"e1","no":3,"chan":"stream","http":{"status": 200},"text":"x"}`)
		require.NoError(t, err)
		require.Equal(t, schema.Frame{
			Seq: 2, At: time.UnixMilli(2).UTC(), From: "agent", Type: "data", Protocol: "a2a", End: "none",
			Exchange: "e1", No: 3, Chan: "stream", HTTP: []byte(`{"status": 200}`), Data: []byte("x"),
		}, frames[1])
	}
}

func TestSeqMayBeginAnywhereAndCountsUpByOne(t *testing.T) {
	frames, err := readAll(`{"seq":501,"from":"client","text":""}` + "\n" + `{"seq":502,"from":"agent","text":""}`)
	require.NoError(t, err)
	require.Equal(t, uint64(501), frames[0].Seq)
	require.Equal(t, time.UnixMilli(502).UTC(), frames[1].At)
}

func TestLinesOfAnyLength(t *testing.T) {
	long := strings.Repeat("ж\x00\u2028", 1<<18)
	line, err := AppendLine(nil, &schema.Frame{Seq: 1, From: "agent", Type: "data", Protocol: "acp", End: "lf", Data: []byte(long)})
	require.NoError(t, err)
	frames, err := readAll(string(line) + `{"from":"client","text":"next"}`)
	require.NoError(t, err)
	require.Len(t, frames, 2)
	require.Equal(t, long, string(frames[0].Data))
	require.Equal(t, "next", string(frames[1].Data))
}

func TestErrorsNameLineAndWhatWasExpected(t *testing.T) {
	good := `{"from":"client","text":"kept"}` + "\n\n"
	for name, c := range map[string]struct{ line, want string }{
		"not an object":       {`["x"]`, `want a frame as a JSON object`},
		"binary":              {"\x89PNG\x00", `the line begins with "\x89PNG\x00"`},
		"long binary":         {strings.Repeat("\x00", 200<<10), `the line begins with "\x00`},
		"cut":                 {`{"from":"agent","text":"a`, `want a JSON object`},
		"two objects":         {`{"from":"agent","text":"a"} {}`, `want one JSON object a line`},
		"unknown member":      {`{"from":"agent","txt":"a"}`, `member "txt": want seq, at, from`},
		"twice":               {`{"from":"agent","text":"a","text":"b"}`, `names a member twice`},
		"text and b64":        {`{"from":"agent","text":"a","b64":""}`, `both text and b64`},
		"no bytes":            {`{"from":"agent"}`, `neither text nor b64`},
		"null":                {`{"from":"agent","text":null}`, `member "text": want a JSON string, got null`},
		"no side":             {`{"text":"a"}`, `want client, agent or stderr`},
		"unknown side":        {`{"from":"user","text":"a"}`, `from "user": want client, agent, stderr or control`},
		"control data":        {`{"from":"control","text":"a"}`, `data frames come from a peer`},
		"open from a peer":    {`{"from":"agent","type":"gap","text":"{}"}`, `data frames come from a peer`},
		"unknown type":        {`{"from":"agent","type":"dat","text":"a"}`, `payload of a dat frame`},
		"unknown end":         {`{"from":"agent","end":"crlf","text":"a"}`, `end "crlf": want lf or none`},
		"unknown chan":        {`{"from":"agent","chan":"sse","text":"a"}`, `chan "sse": want request`},
		"unknown protocol":    {`{"from":"agent","protocol":"mcp","text":"a"}`, `member "protocol": want acp or a2a, got "mcp"`},
		"another protocol":    {`{"from":"agent","protocol":"a2a","text":"a"}`, `one file is one capture of one protocol`},
		"empty word":          {`{"from":"agent","exchange":"","text":"a"}`, `leave the member out for its default`},
		"exchange":            {`{"from":"agent","exchange":"a\nb","text":"a"}`, `visible ASCII`},
		"lone surrogate":      {`{"from":"agent","text":"\ud800"}`, `use b64`},
		"invalid UTF-8":       {"{\"from\":\"agent\",\"text\":\"\xff\"}", `use b64`},
		"base64":              {`{"from":"agent","b64":"/w"}`, `member "b64": want standard base64 with padding`},
		"time":                {`{"from":"agent","at":"yesterday","text":""}`, `member "at": want an RFC 3339 time`},
		"seq zero":            {`{"seq":0,"from":"agent","text":""}`, `want 1 or more`},
		"seq a string":        {`{"seq":"2","from":"agent","text":""}`, `member "seq": want a JSON number, got "2"`},
		"seq a fraction":      {`{"seq":2.0,"from":"agent","text":""}`, `want an integer of 0 to 18446744073709551615`},
		"seq jumps":           {`{"seq":4,"from":"agent","text":""}`, `member "seq": want 2, one more than the frame before, got 4`},
		"http not an object":  {`{"from":"agent","http":[],"text":""}`, `member "http": want a JSON object`},
		"http twice":          {`{"from":"agent","http":{},"http_b64":"e30=","text":""}`, `both http and http_b64`},
		"http_b64 no object":  {`{"from":"agent","http_b64":"W10=","text":""}`, `want one JSON object on one line`},
		"http too large":      {`{"from":"agent","http":{"a":"` + strings.Repeat("a", 16<<10) + `"},"text":""}`, `at most 16384 bytes`},
		"control payload":     {`{"type":"close","text":"bye"}`, `payload of a close frame: want one JSON object`},
		"open says nothing":   {`{"type":"open","text":"{}"}`, `names no protocol`},
		"open says otherwise": {`{"type":"open","protocol":"acp","text":"{\"protocol\":\"a2a\"}"}`, `payload says "a2a"`},
		"salt":                {`{"from":"agent","salt":"00","text":""}`, `salt "00": want 32 hexadecimal digits`},
		"writer":              {`{"from":"agent","writer":"j","text":""}`, `want journal:offset`},
	} {
		t.Run(name, func(t *testing.T) {
			frames, err := readAll(good + c.line + "\n" + good)
			require.ErrorContains(t, err, "read capture file a.jsonl:3: ")
			require.ErrorContains(t, err, c.want)
			require.Len(t, frames, 1)
			require.Equal(t, "kept", string(frames[0].Data))
		})
	}
}

func TestSeqThatIsMissingMustFollow(t *testing.T) {
	_, err := readAll(`{"seq":7,"from":"agent","text":""}` + "\n" + `{"from":"agent","text":""}`)
	require.ErrorContains(t, err, `a.jsonl:2: member "seq" is missing, and the line's number does not follow seq 7: want 8`)
	_, err = readAll(`{"seq":253402300800000,"from":"agent","text":""}`)
	require.ErrorContains(t, err, `no time before the year 10000`)
}

func TestErrorIsGivenAgain(t *testing.T) {
	r := NewReader("x", strings.NewReader("[]\n{\"from\":\"agent\",\"text\":\"\"}\n"))
	_, first := r.Next()
	require.Error(t, first)
	_, second := r.Next()
	require.Equal(t, first, second)
	require.Equal(t, 1, r.Line())
}

// broken gives some bytes and then an error.
type broken struct {
	data *strings.Reader
	err  error
}

func (b *broken) Read(p []byte) (int, error) {
	n, err := b.data.Read(p)
	if err == io.EOF {
		err = b.err
	}
	return n, err
}

func TestReadErrorIsNotTheEnd(t *testing.T) {
	r := NewReader("x", &broken{strings.NewReader(`{"from":"agent","text":"a"}` + "\n" + `{"from":"agent"`), io.ErrClosedPipe})
	f, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, "a", string(f.Data))
	_, err = r.Next()
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.ErrorContains(t, err, "read capture file x:2: read line")
}

func TestAppendLineIsTheWholeFrame(t *testing.T) {
	f := &schema.Frame{
		Seq: 7, At: time.Unix(1, 2).UTC(), From: "agent", Type: "data", Protocol: "a2a", End: "none",
		Exchange: "e", No: 2, Chan: "response", HTTP: []byte(`{"status":200}`), Data: []byte("a\"\n"),
		Salt: strings.Repeat("0a", 16), Blob: strings.Repeat("b", 64), Writer: schema.Writer{Journal: "j", Offset: 9},
		Chain: strings.Repeat("c", 64),
	}
	const line = `{"seq":7,"at":"1970-01-01T00:00:01.000000002Z","from":"agent","type":"data","protocol":"a2a",` +
		`"text":"a\"\n","end":"none","exchange":"e","no":2,"chan":"response","http":{"status":200}`
	got, err := AppendLine([]byte("before\n"), f)
	require.NoError(t, err)
	require.Equal(t, "before\n"+line+"}\n", string(got))
	got, err = AppendArchiveLine(nil, f)
	require.NoError(t, err)
	require.Equal(t, line+`,"blob":"`+f.Blob+`","salt":"`+f.Salt+`","writer":"j:9","chain":"`+f.Chain+`"}`+"\n", string(got))

	f.Data = nil
	_, err = AppendLine(nil, f)
	require.ErrorContains(t, err, "write line of frame 7: its bytes are in blob")
	got, err = AppendArchiveLine(nil, f)
	require.NoError(t, err)
	frames, err := readAll(string(got))
	require.NoError(t, err)
	require.Equal(t, []schema.Frame{*f}, frames)
}

func TestAppendLineRefusesWhatNoReaderTakes(t *testing.T) {
	good := schema.Frame{Seq: 1, From: "agent", Type: "data", Protocol: "acp", End: "lf"}
	for want, change := range map[string]func(*schema.Frame){
		"seq: want 1 or more":          func(f *schema.Frame) { f.Seq = 0 },
		"want lf or none":              func(f *schema.Frame) { f.End = "" },
		"year 10000":                   func(f *schema.Frame) { f.At = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"want one JSON object on one":  func(f *schema.Frame) { f.HTTP = []byte("{\n}") },
		"at most 16384 bytes":          func(f *schema.Frame) { f.HTTP = bytes.Repeat([]byte(" "), 17<<10) },
		"chain \"zz\": want 64 hexade": func(f *schema.Frame) { f.Chain = "zz" },
	} {
		f := good
		change(&f)
		dst, err := AppendLine([]byte("x"), &f)
		require.ErrorContains(t, err, want)
		require.Equal(t, "x", string(dst))
	}
}

// drawFrame draws any frame that AppendLine takes.
func drawFrame(t *rapid.T, seq uint64, protocol schema.Protocol) schema.Frame {
	f := schema.Frame{
		Seq: seq, Protocol: protocol, Type: schema.TypeData,
		At:       time.Unix(rapid.Int64Range(-62167219200, 253402300799).Draw(t, "s"), rapid.Int64Range(0, 999999999).Draw(t, "ns")).UTC(),
		End:      rapid.SampledFrom([]schema.End{schema.EndLF, schema.EndNone}).Draw(t, "end"),
		From:     rapid.SampledFrom([]schema.From{schema.FromClient, schema.FromAgent, schema.FromStderr}).Draw(t, "from"),
		Exchange: rapid.StringMatching(`[!-~]{0,40}`).Draw(t, "exchange"),
		No:       rapid.Uint64().Draw(t, "no"),
		Chan:     rapid.SampledFrom([]schema.Chan{"", schema.ChanRequest, schema.ChanResponse, schema.ChanStream, schema.ChanPush, schema.ChanCard}).Draw(t, "chan"),
		HTTP: []byte(rapid.SampledFrom([]string{
			"", `{}`, `{"path": "/é", "n":1e3}`, `{"a":1,"a":2}`, `{"a":"\ud800"}`, "{} \t", `{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
		}).Draw(t, "http")),
		Data: rapid.SliceOf(rapid.Byte()).Draw(t, "data"),
	}
	if rapid.Bool().Draw(t, "string") {
		f.Data = []byte(rapid.String().Draw(t, "text"))
	}
	if rapid.Bool().Draw(t, "control") {
		f.From, f.Type = schema.FromControl, rapid.SampledFrom([]schema.FrameType{schema.TypeOpen, schema.TypeClose, schema.TypeGap, schema.TypeHTTP, schema.TypeDecision}).Draw(t, "type")
		f.Data = []byte(`{"protocol":"` + string(protocol) + `"}`)
	}
	if rapid.Bool().Draw(t, "stored") {
		f.Salt = hex.EncodeToString(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "salt"))
		f.Chain = hex.EncodeToString(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "chain"))
		f.Writer = schema.Writer{Journal: rapid.StringMatching(`[A-Za-z0-9_-]{1,64}`).Draw(t, "journal"), Offset: rapid.Uint64().Draw(t, "offset")}
	}
	return f
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		protocol := rapid.SampledFrom([]schema.Protocol{schema.ACP, schema.A2A}).Draw(t, "protocol")
		first := rapid.Uint64Range(1, 1<<60).Draw(t, "first")
		var want, bare []schema.Frame
		var archive, file []byte
		for i := range rapid.IntRange(1, 5).Draw(t, "frames") {
			f := drawFrame(t, first+uint64(i), protocol)
			var err error
			archive, err = AppendArchiveLine(archive, &f)
			require.NoError(t, err)
			file, err = AppendLine(file, &f)
			require.NoError(t, err)
			if len(f.HTTP) == 0 {
				f.HTTP = nil
			}
			want = append(want, f)
			f.Salt, f.Chain, f.Writer = "", "", schema.Writer{}
			bare = append(bare, f)
		}
		got, err := readAll(string(archive))
		require.NoError(t, err)
		require.Equal(t, want, got)
		got, err = readAll(string(file))
		require.NoError(t, err)
		require.Equal(t, bare, got)
	})
}

// FuzzReader: whatever is read can be written, and reads back as the same frames.
// An archive holds what the stream held, whatever control frames say.
func TestArchiveLinesAreVerbatim(t *testing.T) {
	var archive []byte
	var want []schema.Frame
	for i, payload := range []string{
		`{"protocol":"acp"}`, "", "no JSON", "\xff\x00", `[1]`, `{"protocol":"a2a"}`, `{"protocol":7}`, `{"Protocol":"acp"}`, `{} {}`, `null`, `{"a":"\ud800","a":1}`,
	} {
		for _, typ := range []schema.FrameType{schema.TypeOpen, schema.TypeClose, schema.TypeGap, schema.TypeHTTP} {
			f := schema.Frame{
				Seq: uint64(len(want) + 1), At: time.Unix(int64(i), 0).UTC(), From: schema.FromControl, Type: typ, Protocol: schema.ACP, End: schema.EndNone,
				Data: []byte(payload), Salt: strings.Repeat("0a", 16), Chain: strings.Repeat("c", 64),
			}
			var err error
			archive, err = AppendArchiveLine(archive, &f)
			require.NoError(t, err)
			want = append(want, f)
		}
	}
	r := NewArchiveReader("frames", bytes.NewReader(archive))
	for i := range want {
		f, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, want[i], f)
	}
	_, err := r.Next()
	require.ErrorIs(t, err, io.EOF)
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"from":"client","text":"{}"}` + "\n" + `{"seq":2,"at":"2026-01-01T00:00:00+01:00","from":"agent","b64":"/w==","end":"none"}`))
	f.Add([]byte(`{"type":"open","text":"{\"protocol\":\"a2a\"}"}` + "\n" + `{"from":"agent","exchange":"e","no":1,"chan":"push","http":{"a":[1]},"text":"\ud83d\ude00"}`))
	f.Add([]byte("\xEF\xBB\xBF\r\n\r\n{\"from\":\"stderr\",\"text\":\"\",\"salt\":\"" + strings.Repeat("0", 32) + "\",\"writer\":\"j:0\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		frames, _ := readAll(string(data)) // frames before an error are good too
		var file []byte
		for i := range frames {
			var err error
			file, err = AppendArchiveLine(file, &frames[i])
			if err != nil && (frames[i].At.Year() < 0 || frames[i].At.Year() > 9999) {
				return
			}
			require.NoError(t, err)
		}
		for i := range frames { // numbers made of lines may have gaps; a file that states them may not
			if i > 0 && frames[i].Seq != frames[i-1].Seq+1 {
				return
			}
		}
		again, err := readAll(string(file))
		require.NoError(t, err)
		require.Equal(t, frames, again)
	})
}
