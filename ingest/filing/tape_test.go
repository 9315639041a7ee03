package filing

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
)

var began = time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)

// deadline is a context that ends with the test or after a minute.
func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// tape writes a proxy's journal.
type tape struct {
	t   testing.TB
	w   *journal.Writer
	now time.Time
}

func newTape(t testing.TB) *tape {
	t.Helper()
	return tapeIn(t, t.TempDir(), "p")
}

func tapeIn(t testing.TB, dir, id string) *tape {
	t.Helper()
	w, err := journal.Create(journal.Options{Dir: dir, Head: journal.Head{
		ID: id, CreatedAt: began, Identity: schema.Identity{Namespace: "n", Workflow: "mill", Run: id, Attempt: 1},
		Open: schema.OpenInfo{Protocol: schema.A2A, Tap: "proxy", Peer: "mill"},
	}})
	require.NoError(t, err)
	return &tape{t, w, began}
}

// exchangeID gives the n-th exchange's id.
func exchangeID(n int) uuid.UUID { return uuid.NewSHA1(uuid.Nil, []byte{byte(n), byte(n >> 8)}) }

func at(n int, c schema.Chan) journal.Lane { return journal.Lane{Exchange: exchangeID(n), Chan: c} }

func (p *tape) after(d time.Duration) *tape {
	p.now = p.now.Add(d)
	return p
}

func (p *tape) tick() time.Time { return p.after(time.Millisecond).now }

func (p *tape) evidence(l journal.Lane, e wire.Evidence) *tape {
	p.t.Helper()
	require.NoError(p.t, p.w.ControlTo(p.t.Context(), l, schema.TypeHTTP, p.tick(), e))
	return p
}

func (p *tape) data(l journal.Lane, from schema.From, text string) *tape {
	p.t.Helper()
	require.NoError(p.t, p.w.AppendTo(p.t.Context(), l, from, p.tick(), []byte(text)))
	return p
}

// ask writes a request with its body.
func (p *tape) ask(n int, body string) *tape {
	p.t.Helper()
	l := at(n, schema.ChanRequest)
	return p.evidence(l, wire.Evidence{Method: "POST", Path: "/", Bytes: uint64(len(body))}).data(l, schema.FromClient, body)
}

// begins writes the header of an answer.
func (p *tape) begins(n int, c schema.Chan) *tape {
	p.t.Helper()
	return p.evidence(at(n, c), wire.Evidence{Status: 200})
}

func (p *tape) chunk(n int, c schema.Chan, text string) *tape {
	p.t.Helper()
	return p.data(at(n, c), schema.FromAgent, text)
}

func (p *tape) answer(n int, body string) *tape {
	p.t.Helper()
	return p.begins(n, schema.ChanResponse).chunk(n, schema.ChanResponse, body)
}

func (p *tape) end(n int) *tape {
	p.t.Helper()
	info := schema.CloseInfo{Reason: schema.ReasonEOF, Exchange: exchangeID(n).String()}
	require.NoError(p.t, p.w.ControlTo(p.t.Context(), journal.Lane{Exchange: exchangeID(n)}, schema.TypeClose, p.tick(), info))
	return p
}

// stop ends the writer, in order or not: its exchanges are what tells.
func (p *tape) stop() *tape {
	p.t.Helper()
	require.NoError(p.t, p.w.Close())
	return p
}

func (p *tape) open() *journal.Reader { return openJournal(p.t, p.w.Path()) }

func openJournal(t testing.TB, path string) *journal.Reader {
	t.Helper()
	r, err := journal.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// cut cuts a whole journal.
func cut(t testing.TB, r *journal.Reader) (frames []schema.Frame) {
	t.Helper()
	c := newCutter(r.Head())
	for {
		e, err := r.Next(t.Context())
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		frames = c.cut(frames, e)
	}
	for place, ok := r.End(), true; ok; place += endSlots {
		frames, ok = c.end(frames, place)
	}
	last := schema.Frame{At: began}
	for i := range frames {
		require.Greater(t, frames[i].Writer.Offset, last.Writer.Offset)
		require.False(t, frames[i].At.Before(last.At))
		last = frames[i]
		last.Seq = 1
		require.NoError(t, last.Validate())
	}
	return frames
}

// names are the exchanges' numbers by their ids.
var names = func() map[string]int {
	m := map[string]int{}
	for n := range 300 {
		m[exchangeID(n).String()] = n
	}
	return m
}()

// line writes a frame for people: exchange, number, place, bytes, evidence.
func line(f *schema.Frame) string {
	what := string(f.Chan)
	if f.Type != schema.TypeData {
		what = string(f.Type)
	}
	s := fmt.Sprintf("%d.%d %s %s %q", names[f.Exchange], f.No, f.From, what, f.Data)
	if len(s) > 400 && f.Type == schema.TypeData {
		s = s[:400]
	}
	if len(f.HTTP) > 0 {
		var e wire.Evidence
		if err := json.Unmarshal(f.HTTP, &e); err == nil {
			e.Bytes = 0
			if b, err := json.Marshal(e); err == nil && string(b) != "{}" {
				s += " " + string(b)
			}
		}
	}
	return s
}

func lines(frames []schema.Frame) (out []string) {
	for i := range frames {
		out = append(out, line(&frames[i]))
	}
	return out
}
