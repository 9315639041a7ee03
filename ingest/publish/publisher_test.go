package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
)

// reader reads a tape as a Source. After stop entries it fails with failure.
type reader struct {
	*tape
	stop    int
	failure error
}

func (p *tape) source() *reader {
	return &reader{tape: &tape{head: p.head, entries: p.entries, end: start}, stop: -1}
}

func (r *reader) Head() journal.Head { return r.head }
func (r *reader) Start() uint64      { return start }
func (r *reader) End() uint64        { return r.end }

func (r *reader) Next(ctx context.Context) (journal.Entry, error) {
	if r.next == r.stop {
		return journal.Entry{}, r.failure
	}
	if r.next == len(r.entries) {
		return journal.Entry{}, io.EOF
	}
	e := r.entries[r.next]
	r.next, r.end = r.next+1, e.End()
	e.Data = bytes.Clone(e.Data)
	return e, ctx.Err()
}

// conversation is a tape with all that may be in one.
func conversation(id string) *tape {
	p := newTape(id).client("{\"id\":1}\n{\"id\"").agent("{}\n\n{\"par").client(":2}\n").stderr("warn")
	p.agent("tial\":true}\r\n").add(schema.FromControl, schema.TypeGap, `{"reason":"full","chunks":1,"bytes":9,"from":{"stderr":9}}`)
	p.stderr("ing\n").client(string(bytes.Repeat([]byte("large "), 100<<10)) + "\n")
	for i := range 30 {
		p.agent(fmt.Sprintf("chunk %d\n", i))
	}
	return p.agent("rest")
}

func (r *rig) publisher(source Source, change ...func(*Options)) *Publisher {
	o := Options{Source: source, JS: r.JS, Blobs: r.blobs, Partitions: r.Info.Partitions}
	for _, c := range change {
		c(&o)
	}
	return NewPublisher(o)
}

// wanted is what a tape's capture must hold: open frame, frames, and a close if there is none.
func wanted(t testing.TB, p *tape) []string {
	t.Helper()
	open, err := json.Marshal(p.head.Open)
	require.NoError(t, err)
	want := append([]string{fmt.Sprintf("control:%s/none", open)}, lines(p.cut(t))...)
	if last := p.entries; len(last) == 0 || last[len(last)-1].Type != schema.TypeClose {
		want = append(want, `control:{"reason":"writer died"}/none`)
	}
	return want
}

func TestPublishAJournal(t *testing.T) {
	for name, p := range map[string]*tape{
		"closed": conversation("j").close(), "writer died": conversation("j"), "empty": newTape("j"),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			var marks []journal.Mark
			var final schema.Identity
			require.NoError(t, r.publisher(p.source(), func(o *Options) {
				o.SaveMark = func(m journal.Mark) error { marks = append(marks, m); return nil }
				o.Identified = func(id, asked schema.Identity) { final = id; require.Equal(t, capture, asked) }
			}).Run(deadline(t)))
			require.Equal(t, capture, final)
			got := r.stored(t, capture)
			require.Equal(t, wanted(t, p), lines(got))
			require.True(t, got[0].At.Equal(began))
			requirePlaced(t, got[1:])
			require.Equal(t, uint64(start), got[0].Writer.Offset)

			m := marks[len(marks)-1]
			require.True(t, m.Done)
			require.Equal(t, capture, m.Identity)
			require.Equal(t, uint64(len(got)), m.Frames)
			require.Equal(t, got[len(got)-1].Writer.Offset, m.Offset)

			require.NoError(t, r.publisher(p.source()).Run(deadline(t)), "again")
			require.Equal(t, wanted(t, p), lines(r.stored(t, capture)), "stores nothing more")
		})
	}
}

// A publisher that is cut off after any append and begun anew gives what one run gives.
func TestPublishIsCutOffAnywhere(t *testing.T) {
	p := conversation("j").close()
	want := wanted(t, p)
	r := newRig(t)
	for k := range len(want) + 1 {
		tape := *p
		tape.head.Identity.Activity = 1000 + uint64(k)
		cut := errors.New("cut off")
		publisher := r.publisher(tape.source())
		// the k-th append is cut off: stored every second time, its answer never heard
		ctx, cancel := context.WithCancelCause(deadline(t))
		appends := 0
		publisher.made = func(a *Appender) {
			a.store = func(ctx context.Context, m []*nats.Msg) (uint64, error) {
				if appends++; appends <= k {
					return a.publish(ctx, m)
				}
				if k%2 == 0 {
					_, err := a.publish(context.WithoutCancel(ctx), m)
					require.NoError(t, err)
				}
				cancel(cut)
				return 0, cut
			}
		}
		if err := publisher.Run(ctx); err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
		cancel(nil)
		require.NoError(t, r.publisher(tape.source()).Run(deadline(t)))
		require.Equal(t, want, lines(r.stored(t, tape.head.Identity)), "cut off at append %d", k)
	}
}

func TestPublishTakesTheNextFreeAttempt(t *testing.T) {
	r := newRig(t)
	second, third := capture, capture
	second.Attempt, third.Attempt = 2, 3
	require.NoError(t, r.publisher(conversation("first").source()).Run(deadline(t)))
	require.NoError(t, r.publisher(newTape("second").client("x\n").source()).Run(deadline(t)))

	p := newTape("j").client("y\n")
	for range 2 { // a second run finds the attempt that the first one took
		var final schema.Identity
		require.NoError(t, r.publisher(p.source(), func(o *Options) {
			o.Identified = func(id, asked schema.Identity) { final = id; require.Equal(t, capture, asked) }
		}).Run(deadline(t)))
		require.Equal(t, third, final)
		require.Len(t, r.stored(t, third), 3)
	}
	var info schema.OpenInfo
	require.NoError(t, json.Unmarshal(r.stored(t, third)[0].Data, &info))
	require.Equal(t, capture.String(), info.Asked)
	require.NoError(t, json.Unmarshal(r.stored(t, capture)[0].Data, &info))
	require.Equal(t, []string{"client:x/lf"}, lines(r.stored(t, second))[1:2])
}

func TestManyPublishersOfOneIdentity(t *testing.T) {
	r := newRig(t)
	var group sync.WaitGroup
	var mu sync.Mutex
	taken := map[uint32]string{}
	for i := range 6 {
		_, js := r.Connect(t)
		journal := fmt.Sprintf("j%d", i)
		group.Go(func() {
			err := r.publisher(newTape(journal).client(journal+"\n").close().source(), func(o *Options) {
				o.JS = js
				o.Identified = func(id, _ schema.Identity) {
					mu.Lock()
					defer mu.Unlock()
					require.NotContains(t, taken, id.Attempt)
					taken[id.Attempt] = journal
				}
			}).Run(deadline(t))
			require.NoError(t, err)
		})
	}
	group.Wait()
	require.Len(t, taken, 6)
	for attempt, journal := range taken {
		id := capture
		id.Attempt = attempt
		got := r.stored(t, id)
		require.Len(t, got, 3)
		require.Equal(t, journal, string(got[1].Data))
	}
}

// A damaged journal's good part is stored; the error comes after it, and nothing says done.
func TestPublishUpToDamage(t *testing.T) {
	r := newRig(t)
	source := conversation("j").source()
	source.stop, source.failure = 4, journal.ErrDamaged
	var mark journal.Mark
	err := r.publisher(source, func(o *Options) {
		o.SaveMark = func(m journal.Mark) error { mark = m; return nil }
	}).Run(deadline(t))
	require.ErrorIs(t, err, journal.ErrDamaged)
	require.ErrorContains(t, err, "publish journal j")
	require.Equal(t, []string{`client:{"id":1}/lf`, "agent:{}/lf", "agent:/lf", `client:{"id":2}/lf`}, lines(r.stored(t, capture))[1:])
	require.False(t, mark.Done)
	require.Equal(t, uint64(5), mark.Frames)
}

func TestPublishFailsWhenItsMarkDoes(t *testing.T) {
	r := newRig(t)
	full := errors.New("disk full")
	err := r.publisher(conversation("j").source(), func(o *Options) {
		o.SaveMark = func(journal.Mark) error { return full }
	}).Run(deadline(t))
	require.ErrorIs(t, err, full)
}

func TestPublishARealJournalAsItGrows(t *testing.T) {
	r := newRig(t)
	dir := t.TempDir()
	w, err := journal.Create(journal.Options{Dir: dir, Head: journal.Head{Identity: capture, Open: schema.OpenInfo{Protocol: schema.ACP}}})
	require.NoError(t, err)
	source, err := journal.Open(w.Path())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, source.Close()) })
	done, opened := make(chan error), make(chan struct{})
	go func() {
		done <- r.publisher(source, func(o *Options) {
			o.Identified = func(schema.Identity, schema.Identity) { close(opened) }
			o.SaveMark = func(m journal.Mark) error { return journal.WriteMark(dir, w.Head().ID, m) }
		}).Run(deadline(t))
	}()
	<-opened
	require.Len(t, r.stored(t, capture), 1, "a recording exists from its first frame")
	for i := range 200 {
		if i == 60 || i == 120 {
			r.Restart(t)
		}
		require.NoError(t, w.Append(deadline(t), schema.FromAgent, began, fmt.Appendf(nil, "line %d\nbegin", i)))
	}
	require.NoError(t, w.Control(deadline(t), schema.TypeClose, began, schema.CloseInfo{Reason: schema.ReasonEOF}))
	require.NoError(t, w.Close())
	require.NoError(t, <-done)
	got := r.stored(t, capture)
	require.Len(t, got, 1+200+1+1)
	require.Equal(t, "beginline 77", string(got[78].Data))
	require.Equal(t, []string{"agent:begin/none", `control:{"reason":"eof"}/none`}, lines(got)[201:])
	mark, err := journal.ReadMark(dir, w.Head().ID)
	require.NoError(t, err)
	require.True(t, mark.Done)
	require.Equal(t, uint64(203), mark.Frames)
}

func TestPublishStopsWithItsContext(t *testing.T) {
	r := newRig(t)
	w, err := journal.Create(journal.Options{Dir: t.TempDir(), Head: journal.Head{Identity: capture, Open: schema.OpenInfo{Protocol: schema.ACP}}})
	require.NoError(t, err)
	require.NoError(t, w.Append(deadline(t), schema.FromAgent, began, []byte("a\n")))
	source, err := journal.Open(w.Path())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(deadline(t))
	err = r.publisher(source, func(o *Options) {
		o.Identified = func(schema.Identity, schema.Identity) { cancel() }
	}).Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, source.Close())
	require.NoError(t, w.Close())
}
