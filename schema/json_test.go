package schema_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
)

func checkString(t require.TestingT, s string) {
	got := schema.AppendString([]byte("before"), s)
	got, ok := bytes.CutPrefix(got, []byte("before"))
	require.True(t, ok)
	require.True(t, utf8.Valid(got))
	oracle, err := json.Marshal(s)
	require.NoError(t, err)
	var a, b string
	require.NoError(t, json.Unmarshal(got, &a))
	require.NoError(t, json.Unmarshal(oracle, &b))
	require.Equal(t, b, a, "%q", s)
	require.LessOrEqual(t, len(got), len(oracle)+4*bytes.Count(oracle, []byte(`\`)), "only what JSON requires is escaped")
	if utf8.ValidString(s) {
		require.Equal(t, s, a)
	}
}

func TestAppendStringAgainstEncodingJSON(t *testing.T) {
	for _, s := range []string{"", "a", "\x00\x1f\b\f\n\r\t\"\\/", "<>&\u2028\u2029\u007f", "\xff", "a\xf0\x9fb", "\uFFFD", "\xed\xa0\x80", "😀"} {
		checkString(t, s)
	}
	require.Equal(t, `"<>&\u0000\u001f\n\r\t\"\\/`+"\u2028\uFFFD\uFFFD"+`"`, string(schema.AppendString(nil, "<>&\x00\x1f\n\r\t\"\\/\u2028\xff\xfe")))
	rapid.Check(t, func(t *rapid.T) {
		checkString(t, rapid.String().Draw(t, "text"))
		checkString(t, string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")))
	})
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\xffb\u2028\"\x00")
	f.Fuzz(func(t *testing.T, s string) { checkString(t, s) })
}

func checkCompact(t require.TestingT, src []byte) {
	var oracle bytes.Buffer
	require.NoError(t, json.Compact(&oracle, src))
	got := schema.AppendCompact([]byte("before"), src)
	require.Equal(t, "before"+oracle.String(), string(got))
	require.Equal(t, oracle.String(), string(schema.AppendCompact(nil, got[len("before"):])), "once is enough")
}

func TestAppendCompactAgainstEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkCompact(t, []byte(drawJSON(t, 4))) })
}

func FuzzAppendCompact(f *testing.F) {
	f.Add([]byte("{ \"a\\\" b\" :\t[1 ,\r\n2.50e+1 ] , \"a\\\\\" : null }"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if !json.Valid(src) {
			schema.AppendCompact(nil, src) // must not panic
			return
		}
		checkCompact(t, src)
	})
}

func TestJSONInsideEncodingJSON(t *testing.T) {
	type box struct {
		A schema.JSON `json:"a"`
		B schema.JSON `json:"b,omitempty"`
	}
	var b box
	require.NoError(t, json.Unmarshal([]byte(`{"a": { "x" : 1.0, "x":2 } }`), &b))
	require.Equal(t, `{"x":1.0,"x":2}`, string(b.A))
	data, err := json.Marshal(box{})
	require.NoError(t, err)
	require.Equal(t, `{"a":null}`, string(data))
}
