package schema_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
)

func drawFrame(t *rapid.T) schema.Frame {
	f := schema.Frame{
		Seq: uints.Draw(t, "seq"), At: drawTime(t), Type: schema.TypeData,
		From:     rapid.SampledFrom([]schema.From{schema.FromClient, schema.FromAgent, schema.FromStderr}).Draw(t, "from"),
		End:      rapid.SampledFrom([]schema.End{schema.EndLF, schema.EndNone}).Draw(t, "end"),
		Exchange: rapid.StringMatching(`[!-~]{0,128}`).Draw(t, "exchange"), No: uints.Draw(t, "no"),
		Chan: rapid.SampledFrom([]schema.Chan{"", schema.ChanRequest, schema.ChanResponse, schema.ChanStream, schema.ChanPush, schema.ChanCard}).Draw(t, "chan"),
		Salt: hex.EncodeToString(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "salt")),
		Data: rapid.SliceOf(rapid.Byte()).Draw(t, "data"),
	}
	if rapid.Bool().Draw(t, "control") {
		f.From = schema.FromControl
		f.Type = rapid.SampledFrom([]schema.FrameType{schema.TypeOpen, schema.TypeClose, schema.TypeGap, schema.TypeHTTP, schema.TypeDecision}).Draw(t, "type")
	}
	if rapid.Bool().Draw(t, "http") {
		f.HTTP = []byte(`{"path":` + string(schema.AppendString(nil, rapid.String().Draw(t, "path"))) + `}`)
	}
	if rapid.Bool().Draw(t, "stored") {
		f.Blob, f.Chain = strings.Repeat("b", 64), strings.Repeat("c", 64)
		f.Writer = schema.Writer{Journal: rapid.StringMatching(`[A-Za-z0-9_-]{1,64}`).Draw(t, "journal"), Offset: uints.Draw(t, "offset")}
	}
	return f
}

func TestFrameComesBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawFrame(t)
		header := want.Header()
		size := 0
		for name, values := range header {
			require.Len(t, values, 1)
			require.NotEmpty(t, values[0], name)
			require.False(t, strings.ContainsAny(values[0], "\r\n"), name)
			if name != schema.HeaderHTTP {
				size += len(name) + len(": \r\n") + len(values[0])
			}
		}
		require.LessOrEqual(t, size, schema.MaxHeader)
		got, err := schema.FrameFromHeader(header, want.Data)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, header, got.Header())
	})
}

func TestFrameHeaders(t *testing.T) {
	f := schema.Frame{Seq: 1, At: time.Unix(1, 5).In(time.FixedZone("", 3600)), From: "agent", Type: "data", End: "lf", Protocol: "acp"}
	require.Equal(t, map[string][]string{
		"Steno-Seq": {"1"}, "Steno-At": {"1970-01-01T00:00:01.000000005Z"}, "Steno-From": {"agent"}, "Steno-Type": {"data"}, "Steno-End": {"lf"},
	}, f.Header())
}

func TestFrameFromHeaderSaysWhatIsWrong(t *testing.T) {
	good := func() map[string][]string {
		f := schema.Frame{Seq: 9, At: time.Unix(1, 0), From: "agent", Type: "data", End: "lf"}
		return f.Header()
	}
	for _, c := range []struct{ name, value, want string }{
		{"Steno-Seq", "", "read header Steno-Seq"},
		{"Steno-Seq", "09", "shortest form"},
		{"Steno-At", "", "read header Steno-At"},
		{"Steno-At", "1970-01-01T01:00:01+01:00", "not UTC in its shortest form"},
		{"Steno-At", "1970-01-01T00:00:01.500Z", "not UTC in its shortest form"},
		{"Steno-At", "1970-01-01T00:00:01,5Z", "not UTC in its shortest form"},
		{"Steno-From", "", `from ""`},
		{"Steno-From", "user", `check frame 9: from "user": want client, agent, stderr or control`},
		{"Steno-From", "control", "data frames come from a peer"},
		{"Steno-Type", "close", "data frames come from a peer"},
		{"Steno-Type", "line", `type "line"`},
		{"Steno-End", "", `end ""`},
		{"Steno-Chan", "sse", `chan "sse"`},
		{"Steno-Exchange", "a b", "visible ASCII"},
		{"Steno-Exchange", strings.Repeat("a", 129), "at most 128"},
		{"Steno-No", "x", "read header Steno-No"},
		{"Steno-Writer", "j", "want journal:offset"},
		{"Steno-Writer", "j j:1", "want journal:offset"},
		{"Steno-Writer", "j:01", "offset"},
		{"Steno-Http", "%", "read header Steno-Http"},
		{"Steno-Http", "W10=", "http: want one JSON object on one line"},
		{"Steno-Salt", "0G", `salt "0G": want 32 hexadecimal digits, lower case`},
		{"Steno-Chain", strings.Repeat("A", 64), "chain"},
		{"Steno-Blob", "ab", "blob"},
	} {
		h := good()
		h[c.name] = []string{c.value}
		_, err := schema.FrameFromHeader(h, nil)
		require.ErrorContains(t, err, c.want, "%s: %q", c.name, c.value)
	}
	h := good()
	h["Steno-No"] = []string{"1", "2"}
	_, err := schema.FrameFromHeader(h, nil)
	require.ErrorContains(t, err, "read header Steno-No: want one value, got 2")
}

func TestValidateBoundsWhatCannotBeWritten(t *testing.T) {
	good := schema.Frame{Seq: 1, From: "agent", Type: "data", End: "lf"}
	require.NoError(t, good.Validate())
	bad := good
	bad.At = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	require.ErrorContains(t, bad.Validate(), "year 10000 has no RFC 3339 spelling")
	bad = good
	bad.HTTP = []byte(`{"a":"` + strings.Repeat("a", schema.MaxHTTP) + `"}`)
	require.ErrorContains(t, bad.Validate(), "at most 16384 bytes")
	for _, evidence := range []string{"{\n}", "{", "{}{}", "{\"a\":\"\xff\"}", " {}"} {
		bad.HTTP = []byte(evidence)
		require.ErrorContains(t, bad.Validate(), "one JSON object on one line", evidence)
	}
}

func TestChain(t *testing.T) {
	f := &schema.Frame{Seq: 1, At: time.Unix(1, 0).UTC(), From: "agent", Type: "data", End: "lf", Data: []byte("hello"),
		Salt: "000102030405060708090a0b0c0d0e0f", Writer: schema.Writer{Journal: "j", Offset: 5}}
	salted := append([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, "hello"...)
	leaf := sha256.Sum256(salted)
	got, err := schema.Leaf(f.Salt, f.Data)
	require.NoError(t, err)
	require.Equal(t, leaf, got)

	text := append(make([]byte, 32), leaf[:]...)
	text = append(text, "Steno-At:1970-01-01T00:00:01Z\nSteno-End:lf\nSteno-From:agent\nSteno-Seq:1\nSteno-Type:data\nSteno-Writer:j:5\n"...)
	want := sha256.Sum256(text)
	first, err := schema.ChainHash("", f)
	require.NoError(t, err)
	require.Equal(t, hex.EncodeToString(want[:]), first)

	f.Chain = first // it does not count in itself
	again, err := schema.ChainHash(strings.Repeat("0", 64), f)
	require.NoError(t, err)
	require.Equal(t, first, again)

	for _, previous := range []string{"x", strings.Repeat("0", 62), strings.Repeat("g", 64), strings.Repeat("0", 66)} {
		_, err = schema.ChainHash(previous, f)
		require.ErrorContains(t, err, "hash chain of frame 1: previous chain")
	}
	f.Salt = "zz"
	_, err = schema.ChainHash("", f)
	require.ErrorContains(t, err, "hash chain of frame 1: hash leaf: salt")
}

func TestEveryHeaderButSaltAndChainCounts(t *testing.T) {
	base := schema.Frame{Seq: 1, At: time.Unix(1, 0).UTC(), From: "agent", Type: "data", End: "lf", Salt: strings.Repeat("0", 32)}
	first, err := schema.ChainHash("", &base)
	require.NoError(t, err)
	for name, change := range map[string]func(*schema.Frame){
		"seq": func(f *schema.Frame) { f.Seq = 2 }, "at": func(f *schema.Frame) { f.At = time.Unix(1, 1) },
		"from": func(f *schema.Frame) { f.From = "client" }, "type": func(f *schema.Frame) { f.Type = "gap" },
		"end": func(f *schema.Frame) { f.End = "none" }, "exchange": func(f *schema.Frame) { f.Exchange = "e" },
		"no": func(f *schema.Frame) { f.No = 1 }, "chan": func(f *schema.Frame) { f.Chan = "push" },
		"blob": func(f *schema.Frame) { f.Blob = "b" }, "writer": func(f *schema.Frame) { f.Writer.Journal = "j" },
		"http": func(f *schema.Frame) { f.HTTP = []byte("{}") }, "data": func(f *schema.Frame) { f.Data = []byte("x") },
		"salt": func(f *schema.Frame) { f.Salt = strings.Repeat("1", 32) }, // through the leaf
	} {
		f := base
		change(&f)
		other, err := schema.ChainHash("", &f)
		require.NoError(t, err)
		require.NotEqual(t, first, other, name)
	}
	other, err := schema.ChainHash(first, &base)
	require.NoError(t, err)
	require.NotEqual(t, first, other, "previous")
}

// FuzzFrameFromHeader: a header that is accepted has exactly one spelling.
func FuzzFrameFromHeader(f *testing.F) {
	f.Add("1", "1970-01-01T00:00:01Z", "agent", "data", "lf", "", "", "", "", "", "", "", "")
	f.Add("2", "2026-11-29T20:00:00.5Z", "control", "http", "none", "e", "3", "stream", strings.Repeat("0", 32), strings.Repeat("b", 64), "j:4", strings.Repeat("c", 64), "e30=")
	f.Fuzz(func(t *testing.T, seq, at, from, typ, end, exchange, no, channel, salt, blob, writer, chain, http string) {
		h := map[string][]string{}
		for name, value := range map[string]string{
			schema.HeaderSeq: seq, schema.HeaderAt: at, schema.HeaderFrom: from, schema.HeaderType: typ, schema.HeaderEnd: end,
			schema.HeaderExchange: exchange, schema.HeaderNo: no, schema.HeaderChan: channel, schema.HeaderSalt: salt,
			schema.HeaderBlob: blob, schema.HeaderWriter: writer, schema.HeaderChain: chain, schema.HeaderHTTP: http,
		} {
			if value != "" {
				h[name] = []string{value}
			}
		}
		frame, err := schema.FrameFromHeader(h, []byte("data"))
		if err != nil {
			return
		}
		require.Equal(t, h, frame.Header())
		_, err = schema.ChainHash("", &frame)
		require.NoError(t, err)
	})
}

// TestTheChainIsOverTheHeadersAsTheyAreWritten computes the chain the plain way, from the header map.
func TestTheChainIsOverTheHeadersAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFrame(t)
		previous := sha256.Sum256([]byte("before"))
		leaf, err := schema.Leaf(f.Salt, f.Data)
		require.NoError(t, err)
		var lines []string
		for name, values := range f.Header() {
			if name != schema.HeaderSalt && name != schema.HeaderChain {
				lines = append(lines, name+":"+values[0]+"\n")
			}
		}
		slices.Sort(lines)
		want := sha256.Sum256([]byte(string(previous[:]) + string(leaf[:]) + strings.Join(lines, "")))
		got, err := schema.ChainHash(hex.EncodeToString(previous[:]), &f)
		require.NoError(t, err)
		require.Equal(t, hex.EncodeToString(want[:]), got)
	})
}
