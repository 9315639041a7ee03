package publish

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
)

var began = time.Date(2026, 11, 29, 20, 0, 0, 1, time.UTC)

const (
	entryGap = 24 // bytes between the data of two entries, as in a journal
	start    = 100
)

// tape is a journal in memory.
type tape struct {
	head    journal.Head
	entries []journal.Entry
	next    int
	end     uint64
}

func newTape(id string) *tape {
	return &tape{end: start, head: journal.Head{
		ID: id, CreatedAt: began,
		Identity: schema.Identity{Namespace: "n", Workflow: "w", Run: "r", Activity: 7, Attempt: 1},
		Open:     schema.OpenInfo{Protocol: schema.ACP, Tap: "record", Journal: id},
	}}
}

func (p *tape) add(from schema.From, typ schema.FrameType, data string) *tape {
	e := journal.Entry{
		From: from, Type: typ, Data: []byte(data), Offset: p.end + entryGap,
		At: began.Add(time.Duration(len(p.entries)+1) * time.Millisecond),
	}
	p.entries, p.end = append(p.entries, e), e.End()
	return p
}

func (p *tape) client(data string) *tape { return p.add(schema.FromClient, schema.TypeData, data) }
func (p *tape) agent(data string) *tape  { return p.add(schema.FromAgent, schema.TypeData, data) }
func (p *tape) stderr(data string) *tape { return p.add(schema.FromStderr, schema.TypeData, data) }
func (p *tape) close() *tape {
	return p.add(schema.FromControl, schema.TypeClose, `{"reason":"eof","exit_code":0}`)
}

// cut gives all frames of the tape, without open frame and close of a dead writer.
func (p *tape) cut(t require.TestingT) []schema.Frame {
	c := NewCutter(p.head)
	var frames []schema.Frame
	var err error
	for _, e := range p.entries {
		data := bytes.Clone(e.Data)
		e.Data = data
		frames, err = c.Cut(frames, e)
		require.NoError(t, err)
		clear(data) // a reader uses its buffer again
	}
	frames, err = c.End(frames, p.end)
	require.NoError(t, err)
	return frames
}

// lines writes frames as side:data/end.
func lines(frames []schema.Frame) []string {
	var out []string
	for _, f := range frames {
		out = append(out, fmt.Sprintf("%s:%s/%s", f.From, f.Data, f.End))
	}
	return out
}

func TestCutLines(t *testing.T) {
	closed := `control:{"reason":"eof","exit_code":0}/none`
	tests := []struct {
		name string
		tape *tape
		want []string
	}{
		{"nothing", newTape("j"), nil},
		{"one line", newTape("j").client("a\n"), []string{"client:a/lf"}},
		{"several in a chunk", newTape("j").client("a\nbc\n\nd\n"), []string{"client:a/lf", "client:bc/lf", "client:/lf", "client:d/lf"}},
		{"split anywhere", newTape("j").client("a").client("b").client("\n").client("c\nd").client("\n"), []string{"client:ab/lf", "client:c/lf", "client:d/lf"}},
		{"CR stays", newTape("j").agent("a\r\n\r\nb\r"), []string{"agent:a\r/lf", "agent:\r/lf", "agent:b\r/none"}},
		{"inside a character", newTape("j").agent("\xc3").agent("\xa9\n"), []string{"agent:é/lf"}},
		{"sides apart", newTape("j").client("a").agent("b").stderr("c").client("A\n").stderr("C\n").agent("B\n"),
			[]string{"client:aA/lf", "stderr:cC/lf", "agent:bB/lf"}},
		{"rests at the end", newTape("j").stderr("c").agent("b").client("a\nA"),
			[]string{"client:a/lf", "client:A/none", "agent:b/none", "stderr:c/none"}},
		{"a close comes last", newTape("j").agent("b").client("a").close(), []string{"client:a/none", "agent:b/none", closed}},
		{"and what comes behind it is kept", newTape("j").client("a").close().agent("late").agent("r\n").client("x"),
			[]string{"client:a/none", closed, "agent:later/lf", "client:x/none"}},
		{"no line goes over a gap", newTape("j").agent("ab").client("x").add(schema.FromControl, schema.TypeGap, `{"from":{"agent":3}}`).agent("fg\n").client("y\n"),
			[]string{"agent:ab/none", `control:{"from":{"agent":3}}/none`, "agent:fg/lf", "client:xy/lf"}},
		{"the end of an exchange ends no line", newTape("j").client("a").add(schema.FromControl, schema.TypeClose, `{"reason":"eof","exchange":"e"}`).client("b\n"),
			[]string{`control:{"reason":"eof","exchange":"e"}/none`, "client:ab/lf"}},
		{"other control entries", newTape("j").client("a").add(schema.FromControl, schema.TypeHTTP, `{}`).client("b\n"),
			[]string{`control:{}/none`, "client:ab/lf"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			frames := tt.tape.cut(t)
			require.Equal(t, tt.want, lines(frames))
			requirePlaced(t, frames)
		})
	}
}

// requirePlaced checks what holds for every cut: offsets rise, times do not fall, frames are valid.
func requirePlaced(t require.TestingT, frames []schema.Frame) {
	offset, at := uint64(start), began
	for i := range frames {
		f := &frames[i]
		require.NoError(t, f.Validate())
		require.Equal(t, "j", f.Writer.Journal)
		require.Greater(t, f.Writer.Offset, offset, "frame %d", i)
		require.False(t, f.At.Before(at), "frame %d", i)
		offset, at = f.Writer.Offset, f.At
	}
}

func TestCutOffsetsAndTimes(t *testing.T) {
	p := newTape("j").client("ab").agent("xy\nz\n").client("c\n").agent("r").close()
	frames := p.cut(t)
	require.Equal(t, []string{"agent:xy/lf", "agent:z/lf", "client:abc/lf", "agent:r/none", `control:{"reason":"eof","exit_code":0}/none`}, lines(frames))
	e := p.entries
	require.Equal(t, e[1].Offset+3, frames[0].Writer.Offset, "behind its LF")
	require.Equal(t, e[1].Offset+5, frames[1].Writer.Offset)
	require.Equal(t, e[2].End(), frames[2].Writer.Offset)
	require.Equal(t, e[4].End(), frames[4].Writer.Offset)
	require.Equal(t, e[2].At, frames[2].At, "of the chunk that completed it")
	require.Equal(t, e[3].At, frames[3].At)
	require.Equal(t, e[4].At, frames[4].At)

	// A rest's last chunk may be older than the frame before it.
	p = newTape("j").client("a").agent("b\n")
	frames = p.cut(t)
	require.Equal(t, p.entries[1].At, frames[1].At)
	require.Equal(t, p.end+1, frames[1].Writer.Offset)
}

func TestCutOfADeadWriter(t *testing.T) {
	for _, p := range []*tape{newTape("j"), newTape("j").client("a\n"), newTape("j").client("a").agent("b")} {
		c := NewCutter(p.head)
		var frames []schema.Frame
		var err error
		for _, e := range p.entries {
			frames, err = c.Cut(frames, e)
			require.NoError(t, err)
		}
		require.False(t, c.Closed())
		frames, err = c.End(frames, p.end)
		require.NoError(t, err)
		frames, err = c.Died(frames, p.end)
		require.NoError(t, err)
		require.Equal(t, `control:{"reason":"writer died"}/none`, lines(frames)[len(frames)-1])
		requirePlaced(t, frames)
	}
}

func TestCutRefusesWhatNoJournalHolds(t *testing.T) {
	for _, e := range []journal.Entry{
		{From: schema.FromControl, Type: schema.TypeData, Data: []byte("a\n"), Offset: 200},
		{From: schema.FromControl, Type: schema.TypeClose, Data: []byte("x"), Offset: 200},
		{From: schema.FromControl, Type: schema.TypeGap, Data: []byte("x"), Offset: 200},
	} {
		_, err := NewCutter(newTape("j").head).Cut(nil, e)
		require.ErrorContains(t, err, "entry at 200 of journal j")
	}
	c := NewCutter(newTape("j").head)
	_, err := c.Cut(nil, journal.Entry{From: schema.FromAgent, Type: schema.TypeData, Data: []byte("a\n"), Offset: 200})
	require.NoError(t, err)
	_, err = c.Cut(nil, journal.Entry{From: schema.FromAgent, Type: schema.TypeData, Data: []byte("a\n"), Offset: 200})
	require.ErrorContains(t, err, "behind one that ends at 202")
}

// However the bytes are split and mixed, each side's frames joined are its bytes.
func TestCutKeepsEveryByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, want := newTape("j"), map[schema.From]string{}
		for range rapid.IntRange(0, 40).Draw(t, "chunks") {
			side := rapid.SampledFrom(sides).Draw(t, "side")
			data := rapid.StringOfN(rapid.RuneFrom([]rune("ab\n\r")), 1, 12, -1).Draw(t, "data")
			p.add(side, schema.TypeData, data)
			want[side] += data
		}
		if rapid.Bool().Draw(t, "closed") {
			p.close()
		}
		frames := p.cut(t)
		requirePlaced(t, frames)
		got := map[schema.From]string{}
		for _, f := range frames {
			if f.Type != schema.TypeData {
				continue
			}
			require.NotContains(t, string(f.Data), "\n")
			got[f.From] += string(f.Data)
			if f.End == schema.EndLF {
				got[f.From] += "\n"
			}
		}
		require.Equal(t, want, got)
	})
}

func TestCutALineOf64MB(t *testing.T) {
	c := NewCutter(newTape("j").head)
	e := journal.Entry{From: schema.FromAgent, Type: schema.TypeData, At: began, Data: bytes.Repeat([]byte{'x'}, 4096), Offset: start}
	const chunks = 16 << 10
	for range chunks {
		e.Offset += 4096 + entryGap
		frames, err := c.Cut(nil, e)
		require.NoError(t, err)
		require.Empty(t, frames)
	}
	e.Data, e.Offset = []byte("\n"), e.Offset+4096+entryGap
	frames, err := c.Cut(nil, e)
	require.NoError(t, err)
	require.Len(t, frames, 1)
	require.Len(t, frames[0].Data, 4096*chunks)
}

func BenchmarkCut(b *testing.B) {
	line := append(bytes.Repeat([]byte{'x'}, 255), '\n')
	chunk := bytes.Repeat(line, 16)
	c := NewCutter(newTape("j").head)
	e := journal.Entry{From: schema.FromAgent, Type: schema.TypeData, At: began, Data: chunk, Offset: start}
	var frames []schema.Frame
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		e.Offset += uint64(len(chunk)) + entryGap
		var err error
		if frames, err = c.Cut(frames[:0], e); err != nil {
			b.Fatal(err)
		}
	}
}
