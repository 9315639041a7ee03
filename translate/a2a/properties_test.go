package a2a

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/a2a/a2atest"
	"github.com/steno-io/steno/translate/translatetest"
)

func TestEveryCaseHasTheProperties(t *testing.T) {
	translatetest.Cases(t, "A2A-", "testdata/cases.jsonl", func(t *testing.T, c translatetest.Case) []schema.Event {
		frames := a2atest.CaseFrames(t, c)
		translatetest.Properties(t, Translator{}, frames)
		events := translatetest.Fold(Translator{}, frames)
		oneStopEach(t, events)
		require.NoError(t, oneRawEach(frames, events))
		return events
	})
}

func TestGolden(t *testing.T) { translatetest.Golden(t, Translator{}, "testdata") }

// fuzzFrames makes a capture of lines: a letter says how the line came, a digit in which exchange.
func fuzzFrames(data []byte) []schema.Frame {
	var frames []schema.Frame
	for i, line := range bytes.Split(data, []byte("\n")) {
		if i == 40 {
			break
		}
		f := schema.Frame{
			Seq: uint64(i) + 1, At: time.UnixMilli(int64(i)).UTC(), From: schema.FromAgent, Type: schema.TypeData,
			Protocol: schema.A2A, End: schema.EndNone, Exchange: "0", Chan: schema.ChanStream, Data: line,
		}
		if len(line) > 2 {
			f.Exchange, f.Data = "e"+strconv.Itoa(int(line[1]%4)), line[2:]
			switch line[0] {
			case 'q':
				f.From, f.Chan = schema.FromClient, schema.ChanRequest
			case 'r':
				f.Chan = schema.ChanResponse
			case 'p':
				f.Chan, f.Exchange = schema.ChanPush, "p"+strconv.Itoa(i)
			case 'k':
				f.Chan = schema.ChanCard
			case 'h':
				f.HTTP = []byte(`{"method":"POST","path":"/v1/message:stream","status":500}`)
			case 'v':
				f.HTTP = []byte(`{"served":"0.3"}`)
			case 'V':
				f.From, f.Chan, f.HTTP = schema.FromClient, schema.ChanRequest, []byte(`{"served":"1.0"}`)
			case 'w':
				f.Chan, f.HTTP = schema.ChanResponse, []byte(`{"served":"0.3"}`)
			case 'H':
				f.From, f.Type, f.Chan = schema.FromControl, schema.TypeHTTP, ""
			case 'e':
				f.From, f.Type, f.Chan = schema.FromControl, schema.TypeClose, ""
				f.Data = []byte(`{"reason":"writer died","error":"lost","exchange":"` + f.Exchange + `"}`)
			case 'c':
				f.From, f.Type, f.Chan = schema.FromControl, schema.TypeClose, ""
				f.Data = []byte(`{"reason":"eof","exchange":"` + f.Exchange + `"}`)
			case 'C':
				f.From, f.Type, f.Chan, f.Exchange, f.Data = schema.FromControl, schema.TypeClose, "", "", []byte(`{"reason":"eof"}`)
			case 'o':
				f.From, f.Type, f.Chan, f.Exchange = schema.FromControl, schema.TypeOpen, "", ""
				f.Data = append(schema.AppendString([]byte(`{"protocol":"a2a","peer":"p","profile":`), string(line[2:])), '}')
			}
		}
		frames = append(frames, f)
	}
	return frames
}

func FuzzFold(f *testing.F) {
	cases, err := os.ReadFile("testdata/cases.jsonl")
	require.NoError(f, err)
	letters := map[string]string{"req": "q", "resp": "r", "res": "s", "sse": "s", "push": "p", "card": "k"}
	for line := range bytes.Lines(cases) {
		var c struct{ Frames []a2atest.CaseFrame }
		require.NoError(f, json.Unmarshal(line, &c))
		var seed []byte
		for i, frame := range c.Frames {
			if i > 0 {
				seed = append(seed, '\n')
			}
			seed = append(seed, letters[frame.Chan]+"0"+strings.ReplaceAll(frame.Raw, "\n", " ")...)
		}
		f.Add(append([]byte(`oo{"status_text":"answer","join_fresh_ids":true,"artifact_chunks":"cumulative"}`+"\n"), seed...))
		f.Add(append(seed, "\nc0"...))
	}
	f.Add([]byte(`q0{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{}}` + "\n" + `V0{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{}}` +
		"\n" + `s0{"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"a","parts":[{"text":"a"}]}}}` +
		"\n" + `v0data: {"kind":"artifact-update","taskId":"t","artifact":{"artifactId":"a","parts":[{"kind":"text","text":"a"}]}}` +
		"\n" + `s0{"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"a","parts":[{"text":"b"}]},"append":true,"lastChunk":true}}` +
		"\n" + `v0{` + "\n" + `H0{"served":"0.3"}` + "\n" + `w0{"result":{}}` + "\n" + `H1{"status":500}` + "\n" + `r1<html>` + "\n" + `w1<html>` + "\n" + `e1` + "\n" + `e0`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 8<<10 {
			return
		}
		frames := fuzzFrames(data)
		translatetest.Properties(t, Translator{}, frames)
		events := translatetest.Fold(Translator{}, frames)
		oneStopEach(t, events)
		require.NoError(t, oneRawEach(frames, events))
		statuses(t, frames)
		copiesAddNothing(t, frames)
	})
}

// oneStopEach checks that a task has one Stop at most, and an exchange without a task too.
func oneStopEach(t testing.TB, events []schema.Event) {
	t.Helper()
	stops := map[string]bool{}
	for i := range events {
		e := &events[i]
		if _, ok := e.Kind.(*schema.Stop); ok && e.Source.TaskID != "" {
			require.False(t, stops[e.Source.TaskID], "event %s: a second Stop of task %s", e.Origin(), e.Source.TaskID)
			stops[e.Source.TaskID] = true
		}
	}
}

// oneRawEach checks that no frame stands in two Raws; that it stands somewhere is a property of the suite.
func oneRawEach(frames []schema.Frame, events []schema.Event) error {
	raws := map[uint64]int{}
	for i := range events {
		e := &events[i]
		if e.Ephemeral {
			continue
		}
		raw, isRaw := e.Kind.(*schema.Raw)
		if !isRaw || strings.Contains(raw.Source, "/part/") {
			continue
		}
		for _, r := range e.Frames {
			for n := r[0]; n <= r[1]; n++ {
				raws[n]++
			}
		}
	}
	for i := range frames {
		if n := frames[i].Seq; raws[n] > 1 {
			return fmt.Errorf("frame %d has %d Raw events", n, raws[n])
		}
	}
	return nil
}

// chunks are events of streams with pieces of artifacts, for ever; every 500th ends one.
type chunks struct {
	frame schema.Frame
	fold  translate.Fold
	dst   []schema.Event
	n     uint64
}

func newChunks() *chunks {
	return &chunks{fold: Translator{}.Fold(testIdentity), frame: schema.Frame{
		From: schema.FromAgent, Type: schema.TypeData, End: schema.EndNone, Exchange: "e", Chan: schema.ChanStream}}
}

func pieceOf(artifact uint64, last string) []byte {
	return []byte("id: e937a8da\ndata: " + `{"jsonrpc":"2.0","id":"r-1","result":{"artifactUpdate":{"append":true,"artifact":{"artifactId":"01a228e9-` +
		strconv.FormatUint(artifact, 10) + `","parts":[{"text":" in the harbour"}]},"contextId":"01a228e9-c"` + last + `,"taskId":"01a228e9-t"}}}` + "\n\n")
}

func (c *chunks) step() {
	switch c.n++; {
	case c.n%500 == 0: // artifacts end
		c.frame.Data = pieceOf(c.n/500, `,"lastChunk":true`)
	case c.n%500 == 1:
		c.frame.Data = pieceOf(c.n/500+1, "")
	}
	if c.n == 50_000 { // and so do conversations
		c.fold, c.n = Translator{}.Fold(testIdentity), 1
	}
	c.frame.Seq = c.n
	c.dst = c.fold.Step(c.dst[:0], &c.frame)
}

func BenchmarkChunk(b *testing.B) {
	c := newChunks()
	b.ReportAllocs()
	for b.Loop() {
		c.step()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}
