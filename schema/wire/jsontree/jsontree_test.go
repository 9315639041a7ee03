package jsontree

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadFindsMembersByExactName(t *testing.T) {
	var r Reader
	text := `{"a" : 1, "A":2, "\u0062":"x\ny", "o":{"p":[true,{"q":null}]}} tail`
	end, err := r.Read([]byte(text))
	require.NoError(t, err)
	require.Equal(t, " tail", text[end:])
	root := r.Root()
	require.Equal(t, "1", string(root.Get("a").Raw()))
	require.Equal(t, "2", string(root.Get("A").Raw()))
	b, ok := root.Get("b").Text()
	require.True(t, ok)
	require.Equal(t, "x\ny", b)
	require.True(t, root.Get("b").Is("x\ny"))
	require.False(t, root.Get("c").Present())
	require.False(t, root.Get("c").Get("d").Present(), "below absent is absent")
	require.False(t, root.Get("a").Get("d").Present(), "a number has no members")

	var elements []string
	for e := range root.Get("o").Get("p").Children() {
		elements = append(elements, string(e.Raw()))
	}
	require.Equal(t, []string{"true", `{"q":null}`}, elements)
}

func TestDuplicateKeysTheLastCounts(t *testing.T) {
	var r Reader
	_, err := r.Read([]byte(`{"k":1,"n":{"k":3,"k":4},"k":2}`))
	require.NoError(t, err)
	require.True(t, r.DuplicateKey())
	require.False(t, r.Lossy())
	require.Equal(t, "2", string(r.Root().Get("k").Raw()))
	require.Equal(t, "4", string(r.Root().Get("n").Get("k").Raw()))
}

func TestBadUTF8IsReadAndReported(t *testing.T) {
	for name, text := range map[string]string{
		"bytes": "{\"k\":\"a\xff\xfeb\"}", "surrogate": `{"k":"a\ud83db"}`, "both": "{\"k\":\"\xff\",\"k\":\"\\udc00\"}",
	} {
		t.Run(name, func(t *testing.T) {
			var r Reader
			_, err := r.Read([]byte(text))
			require.NoError(t, err)
			require.True(t, r.Lossy())
			got, ok := r.Root().Get("k").Text()
			require.True(t, ok)
			require.Contains(t, got, "\uFFFD")
			require.Equal(t, name == "both", r.DuplicateKey())
		})
	}
	var r Reader
	_, err := r.Read([]byte("{\"k\":\"a\xff\xfeb\"}"))
	require.NoError(t, err)
	got, _ := r.Root().Get("k").Text()
	require.Equal(t, "a\uFFFD\uFFFDb", got, "one for each byte")
}

func TestDeepValuesAreOnePiece(t *testing.T) {
	deep := strings.Repeat(`{"d":`, 50) + "1" + strings.Repeat("}", 50)
	for depth, r := range map[int]*Reader{defaultDepth: {}, 3: {Depth: 3}, 10: {Depth: 10}} {
		_, err := r.Read([]byte(deep))
		require.NoError(t, err)
		v := r.Root()
		for range depth {
			v = v.Get("d")
		}
		require.True(t, v.Present())
		require.False(t, v.Get("d").Present(), "not indexed")
		require.Equal(t, strings.Repeat(`{"d":`, 50-depth)+"1"+strings.Repeat("}", 50-depth), string(v.Raw()))
	}
}

func TestNestingIsBounded(t *testing.T) {
	var r Reader
	for _, n := range []int{maxNesting, maxNesting + 1} {
		_, err := r.Read([]byte(strings.Repeat("[", n) + strings.Repeat("]", n)))
		if n > maxNesting {
			require.ErrorIs(t, err, ErrDeep)
		} else {
			require.NoError(t, err)
		}
	}
	_, err := r.Read([]byte(`{"text":"` + strings.Repeat(`\\[{`, 3*maxNesting) + `"}`))
	require.NoError(t, err, "brackets inside strings nest nothing")
}

func TestErrorsLeaveNoValue(t *testing.T) {
	var r Reader
	for _, text := range []string{"", " ", "{", "nope", `{"a":}`, strings.Repeat("[", 20000)} {
		_, err := r.Read([]byte(text))
		require.Error(t, err, text)
		require.False(t, r.Root().Present())
	}
}

func FuzzReadAgreesWithEncodingJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"c"}]}`, `null`, `"\u00e9"`, `{"a":1,"a":2}`, "\"\xff\"", `[1 ,2]`, "{\n}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r Reader
		end, err := r.Read(data)
		if err != nil {
			require.False(t, r.Root().Present())
			return
		}
		raw := r.Root().Raw()
		require.Equal(t, bytes.TrimLeft(data[:end], " \t\r\n"), raw)
		require.True(t, json.Valid(raw), "%q", raw)
		var members map[string]json.RawMessage
		if r.Root().Kind() != Object || r.Lossy() || json.Unmarshal(raw, &members) != nil {
			return
		}
		for name, value := range members {
			require.Equal(t, string(value), string(r.Root().Get(name).Raw()))
		}
	})
}

func BenchmarkReadChunk(b *testing.B) {
	line := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"20260612_3","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":" the whole answer"}}}}`)
	var r Reader
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := r.Read(line); err != nil {
			b.Fatal(err)
		}
	}
}
