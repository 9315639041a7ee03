package schema_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
)

func drawCounts(t *rapid.T, label string) map[uint32]uint64 {
	return rapid.MapOfN(rapid.Uint32(), rapid.Uint64Min(1), 1, 5).Draw(t, label)
}

func drawAbout(t *rapid.T) schema.About {
	a := schema.About{
		Agent: rapid.String().Draw(t, "agent"), Title: rapid.String().Draw(t, "title"), Cwd: rapid.String().Draw(t, "cwd"),
		Status: rapid.SampledFrom([]schema.Status{"", schema.StatusOpen, schema.StatusEnded, schema.StatusAbandoned, schema.StatusParked}).Draw(t, "status"),
	}
	if labels := rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "labels"); len(labels) > 0 {
		a.Labels = labels
	}
	return a
}

func drawRecord(t *rapid.T) schema.Record {
	r := schema.Record{
		First: drawCounts(t, "first"), Open: map[uint32]uint64{},
		Chain: strings.Repeat("c", 64), Translator: "acp/1",
	}
	if rapid.Bool().Draw(t, "open") {
		r.Open = drawCounts(t, "open counts")
	}
	if rapid.Bool().Draw(t, "about") {
		r.About = map[uint32]schema.About{rapid.Uint32().Draw(t, "session"): drawAbout(t)}
	}
	for range rapid.IntRange(1, 3).Draw(t, "events") {
		e := drawEvent(t, rapid.SampledFrom([]string{"Message", "Raw", "Stop", "ToolState"}).Draw(t, "kind"))
		e.StoreSeq = 0
		r.Events = append(r.Events, e.AppendJSON(nil))
		r.Last = e.Origin()
	}
	return r
}

func TestRecordComesBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawRecord(t)
		header, err := want.Header()
		require.NoError(t, err)
		for name, values := range header {
			require.Len(t, values, 1)
			require.False(t, strings.ContainsAny(values[0], " \r\n"), name)
		}
		got, err := schema.DecodeRecord(header, want.Payload())
		require.NoError(t, err)
		require.Equal(t, want, got)
		for session, about := range want.About {
			require.True(t, about.Equal(got.About[session]))
		}
	})
}

func TestRecordHeaders(t *testing.T) {
	r := schema.Record{Last: schema.Origin{Frame: 17, Part: 2}, First: map[uint32]uint64{10: 1, 2: 7, 0: 3}, Chain: "c", Translator: "acp/1",
		Open: map[uint32]uint64{1: 4}, About: map[uint32]schema.About{1: {Title: "t"}}, Events: [][]byte{[]byte("{}"), []byte("[]")}}
	header, err := r.Header()
	require.NoError(t, err)
	require.Equal(t, map[string][]string{
		"Steno-Origin": {"17.2"}, "Steno-Ordinals": {"0:3,2:7,10:1"}, "Steno-Chain": {"c"}, "Steno-Translator": {"acp/1"},
		"Steno-Open": {"1:4"}, "Steno-About": {base64.StdEncoding.EncodeToString([]byte(`{"1":{"title":"t"}}`))},
	}, header)
	require.Equal(t, "{}\n[]\n", string(r.Payload()))
	require.Empty(t, (&schema.Record{}).Payload())
}

func TestDecodeRecordSaysWhatIsWrong(t *testing.T) {
	good := func() map[string][]string {
		return map[string][]string{"Steno-Origin": {"1.0"}, "Steno-Ordinals": {"0:1"}, "Steno-Chain": {"c"}, "Steno-Translator": {"acp/1"}}
	}
	for _, c := range []struct{ name, value, want string }{
		{"Steno-Origin", "", "read header Steno-Origin"},
		{"Steno-Origin", "1", "want frame.part"},
		{"Steno-Ordinals", "0", "want session:count pairs"},
		{"Steno-Ordinals", "0:1,", "want session:count pairs"},
		{"Steno-Ordinals", "4294967296:1", "session"},
		{"Steno-Ordinals", "0:01", "count"},
		{"Steno-Ordinals", "0:1,0:2", "session 0 twice or out of order"},
		{"Steno-Ordinals", "2:1,1:2", "session 1 twice or out of order"},
		{"Steno-Open", "x:1", "read header Steno-Open"},
		{"Steno-About", "%", "read header Steno-About"},
		{"Steno-About", "W10=", "read header Steno-About"},
	} {
		h := good()
		h[c.name] = []string{c.value}
		_, err := schema.RecordFromHeader(h)
		require.ErrorContains(t, err, c.want, "%s: %q", c.name, c.value)
		_, err = schema.DecodeRecord(h, nil)
		require.ErrorContains(t, err, c.want)
	}
	h := good()
	h["Steno-Chain"] = []string{"a", "b"}
	_, err := schema.RecordFromHeader(h)
	require.ErrorContains(t, err, "want one value, got 2")
	_, err = schema.DecodeRecord(good(), []byte("{}\n{}"))
	require.ErrorContains(t, err, "read record 1.0: event 2: want a line with its line feed, got 2 bytes")
	_, err = schema.DecodeRecord(good(), []byte("{}\n\n{}\n"))
	require.ErrorContains(t, err, "event 2")
}

func TestAboutEqual(t *testing.T) {
	a := schema.About{Agent: "a", Title: "t", Cwd: "c", Labels: map[string]string{"k": "v"}, Status: schema.StatusOpen}
	require.True(t, a.Equal(schema.About{Agent: "a", Title: "t", Cwd: "c", Labels: map[string]string{"k": "v"}, Status: schema.StatusOpen}))
	require.True(t, schema.About{}.Equal(schema.About{Labels: map[string]string{}}))
	for _, change := range []func(*schema.About){
		func(b *schema.About) { b.Agent = "" }, func(b *schema.About) { b.Title = "" }, func(b *schema.About) { b.Cwd = "" },
		func(b *schema.About) { b.Status = "" }, func(b *schema.About) { b.Labels = map[string]string{"k": "w"} },
	} {
		b := a
		change(&b)
		require.False(t, a.Equal(b))
	}
}
