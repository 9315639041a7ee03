package filing

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
)

const (
	post     = `{"method":"POST","path":"/"}`
	ok       = `{"status":200}`
	closed0  = `0.0 control close "{\"reason\":\"eof\",\"exchange\":\"`
	diedMark = `"{\"reason\":\"writer died\",\"exchange\":\"`
)

func closing(n int) string {
	return strings.Replace(closed0, "0.0", itoa(n)+".0", 1) + exchangeID(n).String() + `\"}"`
}

func died(n int) string {
	return itoa(n) + ".0 control close " + diedMark + exchangeID(n).String() + `\"}"`
}

func itoa(n int) string { return string(rune('0' + n)) }

func TestCut(t *testing.T) {
	served := func(n int, c schema.Chan) journal.Lane {
		return journal.Lane{Exchange: exchangeID(n), Chan: c, Served: true}
	}
	for name, tt := range map[string]struct {
		write func(p *tape)
		want  []string
	}{
		"request and answer": {
			func(p *tape) {
				p.ask(1, "ab").begins(1, "response").chunk(1, "response", "c").chunk(1, "response", "d").end(1)
			},
			[]string{`1.0 client request "ab" ` + post, `1.1 agent response "cd" ` + ok, closing(1)},
		},
		"a request without a body, an answer without one": {
			func(p *tape) { p.ask(1, "").begins(1, "response").end(1) },
			[]string{`1.0 client request "" ` + post, `1.1 agent response "" ` + ok, closing(1)},
		},
		"a stream": {
			func(p *tape) {
				p.ask(1, "a").begins(1, "stream").chunk(1, "stream", ": ping\n\nid: 7\ndata: x\n").chunk(1, "stream", "\ndata: y\n\nevent: error\ndata: z")
				p.chunk(1, "stream", "z\n\n: bye\n\n").end(1)
			},
			[]string{
				`1.0 client request "a" ` + post, `1.1 agent stream ": ping\n\nid: 7\ndata: x\n\n" {"status":200,"sse_id":"7"}`,
				`1.2 agent stream "data: y\n\n"`, `1.3 agent stream "event: error\ndata: zz\n\n" {"sse_event":"error"}`, `1.4 agent stream ": bye\n\n"`, closing(1),
			},
		},
		"a stream without an event": {
			func(p *tape) { p.ask(1, "a").begins(1, "stream").end(1) },
			[]string{`1.0 client request "a" ` + post, `1.1 agent stream "" ` + ok, closing(1)},
		},
		"a stream that breaks off": {
			func(p *tape) { p.ask(1, "a").begins(1, "stream").chunk(1, "stream", "data: x\n\ndata: {").end(1) },
			[]string{`1.0 client request "a" ` + post, `1.1 agent stream "data: x\n\n" ` + ok, `1.2 agent stream "data: {"`, closing(1)},
		},
		"lines that end with CR": {
			func(p *tape) {
				p.ask(1, "a").begins(1, "stream").chunk(1, "stream", "data: x\r\r").chunk(1, "stream", "data: y\r\n\r").chunk(1, "stream", "\n").end(1)
			},
			[]string{`1.0 client request "a" ` + post, `1.1 agent stream "data: x\r\r" ` + ok, `1.2 agent stream "data: y\r\n\r\n"`, closing(1)},
		},
		"exchanges at the same time": {
			func(p *tape) {
				p.ask(1, "a").ask(2, "b").begins(2, "response").begins(1, "response").chunk(1, "response", "1").chunk(2, "response", "2").end(2).end(1)
			},
			[]string{
				`1.0 client request "a" ` + post, `2.0 client request "b" ` + post, `2.1 agent response "2" ` + ok, closing(2), `1.1 agent response "1" ` + ok, closing(1),
			},
		},
		"a push and what its receiver said": {
			func(p *tape) {
				p.evidence(at(1, "push"), wire.Evidence{Method: "POST", Bytes: 1}).data(at(1, "push"), schema.FromAgent, "p")
				p.begins(1, "response").end(1)
			},
			[]string{`1.0 agent push "p" {"method":"POST"}`, `1.1 client response "" ` + ok, closing(1)},
		},
		"copies": {
			func(p *tape) {
				p.ask(1, "old")
				p.evidence(served(1, "request"), wire.Evidence{Served: "1.0", Bytes: 3}).data(served(1, "request"), schema.FromClient, "new")
				p.begins(1, "stream").evidence(served(1, "stream"), wire.Evidence{Status: 200, Served: "0.3"})
				for _, s := range []string{"a", "b"} {
					p.chunk(1, "stream", "data: "+s+"\n\n").data(served(1, "stream"), schema.FromAgent, "data: "+s+s+"\n\n")
				}
				p.end(1)
			},
			[]string{
				`1.0 client request "old" ` + post, `1.1 client request "new" {"served":"1.0"}`,
				`1.2 agent stream "data: a\n\n" ` + ok, `1.3 agent stream "data: aa\n\n" {"status":200,"served":"0.3"}`,
				`1.4 agent stream "data: b\n\n"`, `1.5 agent stream "data: bb\n\n" {"served":"0.3"}`, closing(1),
			},
		},
		"the writer died": {
			func(p *tape) {
				p.ask(1, "a").begins(1, "response").chunk(1, "response", "half").ask(2, "b")
				p.evidence(at(3, "request"), wire.Evidence{Method: "POST", Path: "/", Bytes: 9}).data(at(3, "request"), schema.FromClient, "four")
			},
			[]string{
				`1.0 client request "a" ` + post, `2.0 client request "b" ` + post, `1.1 agent response "half" ` + ok, died(1), died(2), `3.0 client request "four" ` + post, died(3),
			},
		},
		"evidence that is too large for a header": {
			func(p *tape) {
				p.evidence(at(1, "request"), wire.Evidence{Method: "GET", Path: "/" + strings.Repeat("x", schema.MaxHTTP)}).end(1)
			},
			[]string{`1.0 control http "{\"method\":\"GET\",\"path\":\"/` + strings.Repeat("x", schema.MaxHTTP) + `\"}"`, `1.0 client request ""`, closing(1)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTape(t)
			tt.write(p)
			p.stop()
			require.Equal(t, tt.want, lines(cut(t, p.open())))
		})
	}
}

// What is missing ends what was begun; no frame joins bytes that were apart.
func TestAGapCutsItsExchange(t *testing.T) {
	p := newTape(t)
	p.ask(1, "a").begins(1, "stream").chunk(1, "stream", "data: x\n\ndata: {\"ha").ask(2, "b").begins(2, "response").chunk(2, "response", "wh")
	require.NoError(t, p.w.ControlTo(t.Context(), journal.Lane{Exchange: exchangeID(1)}, schema.TypeGap, p.tick(), schema.GapInfo{
		Reason: "full", Chunks: 1, Bytes: 9, From: map[schema.From]uint64{schema.FromAgent: 9},
	}))
	p.chunk(1, "stream", "lf\"}\n\ndata: y\n\n").chunk(2, "response", "ole").end(2).end(1).stop()
	require.Equal(t, []string{
		`1.0 client request "a" ` + post, `1.1 agent stream "data: x\n\n" ` + ok, `2.0 client request "b" ` + post,
		`1.2 agent stream "data: {\"ha"`, `1.0 control gap "{\"reason\":\"full\",\"chunks\":1,\"bytes\":9,\"from\":{\"agent\":9}}"`,
		`1.3 agent stream "lf\"}\n\ndata: y\n\n"`, `2.1 agent response "whole" ` + ok, closing(2), closing(1),
	}, lines(cut(t, p.open())))
}

// Damage may have been of any exchange: each that was open says so, before anything else of it.
func TestDamageIsSaidByEveryOpenExchange(t *testing.T) {
	for name, open := range map[string]bool{"open": true, "none open": false} {
		t.Run(name, func(t *testing.T) {
			p := newTape(t)
			p.ask(1, "a").begins(1, "response").chunk(1, "response", "be")
			if !open {
				p.end(1)
			}
			hurt := sizeOf(t, p.w.Path())
			p.ask(2, "damaged").chunk(1, "response", "fore").end(1).stop()
			b, err := os.ReadFile(p.w.Path())
			require.NoError(t, err)
			b[hurt+30] ^= 1
			require.NoError(t, os.WriteFile(p.w.Path(), b, 0o600))
			got := lines(cut(t, p.open()))
			gaps := 0
			for _, l := range got {
				if strings.Contains(l, "control gap") {
					gaps++
					require.Contains(t, l, "journal damaged")
				}
			}
			if open {
				require.Equal(t, 1, gaps)
				require.Equal(t, []string{`1.0 client request "a" ` + post, `1.1 agent response "be" ` + ok}, got[:2])
			} else {
				require.GreaterOrEqual(t, gaps, 1)
			}
			require.Contains(t, strings.Join(got, "\n"), `"damaged"`, "what stands behind the damage is kept")
		})
	}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size()
}

// However a body arrives, its frames are the same, and together they are its bytes.
func TestAnySplitGivesTheSameFrames(t *testing.T) {
	bodies := []string{
		": ping\n\ndata: {\"a\":1}\n\nid: 1\r\ndata: b\r\n\r\nevent: x\rdata: c\r\rdata: d\ndata: e\n\n\n\ndata: open",
		"data: a\r\n\r\ndata: b\r\r\ndata: c\n\n: bye",
		"", "\n\n\n", "data:\n\ndata: x\n\n",
	}
	whole := map[string][]string{}
	rapid.Check(t, func(rt *rapid.T) {
		body := rapid.SampledFrom(bodies).Draw(rt, "body")
		split := func(pieces []string) []string {
			p := newTape(t)
			p.ask(1, "q").begins(1, "stream")
			for _, piece := range pieces {
				p.chunk(1, "stream", piece)
			}
			frames := cut(t, p.end(1).stop().open())
			var all strings.Builder
			for i := range frames {
				if frames[i].Chan == schema.ChanStream {
					all.Write(frames[i].Data)
				}
			}
			require.Equal(rt, body, all.String())
			return lines(frames)
		}
		if whole[body] == nil {
			whole[body] = split([]string{body})
		}
		var pieces []string
		for rest := body; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "n")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		require.Equal(rt, whole[body], split(pieces))
	})
}

// A journal cut at any byte gives the frames that were whole, then what was begun, then the closes.
func TestAJournalCutAtEveryByte(t *testing.T) {
	p := newTape(t)
	p.ask(1, "a").ask(2, "bb").begins(1, "stream").chunk(1, "stream", "data: x\n\ndata: y\n\n").answer(2, "two").end(2).chunk(1, "stream", "data: z\n\n").end(1).stop()
	b, err := os.ReadFile(p.w.Path())
	require.NoError(t, err)
	start := p.open().Start()
	path := journal.Path(t.TempDir(), "p")
	for n := start; n <= uint64(len(b)); n++ {
		require.NoError(t, os.WriteFile(path, b[:n], 0o600))
		closes := map[string]int{}
		for _, f := range cut(t, openJournal(t, path)) {
			require.Zero(t, closes[f.Exchange], "nothing of an exchange stands behind its close")
			if f.Type == schema.TypeClose {
				closes[f.Exchange]++
			}
			require.False(t, f.At.Before(began) || f.At.After(began.Add(time.Minute)))
		}
	}
}

// However large the evidence, and wherever it comes, frames have places that rise.
func TestLargeEvidenceAnywhere(t *testing.T) {
	large := strings.Repeat("<", schema.MaxHTTP)
	says := wire.Evidence{Status: 200, Headers: map[string]string{"location": large}}
	p := newTape(t)
	for n, c := range map[int]schema.Chan{1: "response", 2: "response", 3: "stream", 4: "stream", 5: "stream", 6: "card"} {
		l := at(n, c)
		p.evidence(at(n, "request"), wire.Evidence{Method: "POST", Path: "/" + large, Bytes: 1}).data(at(n, "request"), schema.FromClient, "q").evidence(l, says)
		copied := journal.Lane{Exchange: exchangeID(n), Chan: c, Served: true}
		served := says
		served.Served = "0.3"
		p.evidence(copied, served)
		switch n {
		case 1, 6:
			p.data(l, schema.FromAgent, "whole").data(copied, schema.FromAgent, "copy")
		case 3:
			p.data(l, schema.FromAgent, "data: a\n\nid: "+large+"\ndata: b\n\nevent: "+large+"\nid: "+large+"\ndata: c\n\n").data(copied, schema.FromAgent, "data: c\n\n")
		case 4:
			p.data(l, schema.FromAgent, "id: "+large+"\ndata: open").data(copied, schema.FromAgent, ": only this")
		}
		p.end(n)
	}
	frames := cut(t, p.stop().open())
	marked := 0
	for _, f := range frames {
		require.LessOrEqual(t, len(f.HTTP), schema.MaxHTTP)
		if isServed(&f) {
			marked++
		}
	}
	require.Equal(t, 6, marked)
	r := newRig(t)
	require.NoError(t, r.publisher(p.open()).Run(deadline(t)))
}

// A request whose length is in a gap goes before its answer all the same.
func TestARequestWithoutItsEvidence(t *testing.T) {
	p := newTape(t)
	p.data(at(1, "request"), schema.FromClient, "half a request").begins(1, "stream").chunk(1, "stream", "data: x\n\n").end(1).stop()
	require.Equal(t, []string{`1.0 client request "half a request"`, `1.1 agent stream "data: x\n\n" ` + ok, closing(1)}, lines(cut(t, p.open())))
}

// What no proxy writes is given as it is, and what stands behind it is cut.
func TestWhatNoProxyWrites(t *testing.T) {
	p := newTape(t)
	none := journal.Lane{Exchange: exchangeID(1)}
	require.NoError(t, p.w.ControlTo(t.Context(), none, schema.TypeOpen, p.tick(), 1))
	require.NoError(t, p.w.ControlTo(t.Context(), at(1, "request"), schema.TypeHTTP, p.tick(), []int{1}))
	require.NoError(t, p.w.ControlTo(t.Context(), none, schema.TypeGap, p.tick(), "gap"))
	require.NoError(t, p.w.Append(t.Context(), schema.FromAgent, p.tick(), []byte("of no exchange")))
	require.NoError(t, p.w.Control(t.Context(), schema.TypeGap, p.tick(), "gap"))
	p.answer(1, "a").end(1).stop()
	got := strings.Join(lines(cut(t, p.open())), "\n")
	for _, want := range []string{`control open "1"`, `control http "[1]"`, `client request ""`, `control gap "\"gap\""`, `agent  "of no exchange"`, `agent response "a"`, closing(1)} {
		require.Contains(t, got, want)
	}
}

// Gaps of the whole journal are told as one by an exchange that says nothing between them.
func TestManyGapsAreToldAsOne(t *testing.T) {
	p := newTape(t)
	p.ask(1, "a")
	for range 100 {
		require.NoError(t, p.w.Control(t.Context(), schema.TypeGap, p.tick(), schema.GapInfo{Reason: "full", Chunks: 1, Bytes: 2}))
	}
	p.end(1).stop()
	require.Equal(t, []string{
		`1.0 client request "a" ` + post, `1.0 control gap "{\"reason\":\"full\",\"chunks\":100,\"bytes\":200}"`, closing(1),
	}, lines(cut(t, p.open())))
}

// A download without end is cut, and nothing of it is kept longer.
func TestALargeBodyIsCut(t *testing.T) {
	p := newTape(t)
	p.ask(1, "a").begins(1, "response")
	chunk := strings.Repeat("0123456789abcdef", 1<<14)
	for range 300 {
		p.chunk(1, "response", chunk)
	}
	frames := cut(t, p.end(1).stop().open())
	require.Len(t, frames, 4)
	require.Len(t, frames[1].Data, maxFrame)
	require.Len(t, frames[2].Data, 300*len(chunk)-maxFrame)
}
