package publish

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
)

// damaged writes a journal of four entries, and perhaps a close, and flips a byte of each that is named.
func damaged(t *testing.T, closed bool, at ...int) string {
	t.Helper()
	w, err := journal.Create(journal.Options{Dir: t.TempDir(), Head: journal.Head{ID: "j", Identity: capture, CreatedAt: began, Open: schema.OpenInfo{Protocol: schema.ACP}}})
	require.NoError(t, err)
	for i, c := range []struct {
		from schema.From
		data string
	}{{schema.FromClient, "ask\nhalf"}, {schema.FromAgent, "be"}, {schema.FromAgent, "gin\nan"}, {schema.FromAgent, "swer\n"}} {
		require.NoError(t, w.Append(t.Context(), c.from, began.Add(time.Duration(i+1)), []byte(c.data)))
	}
	if closed {
		require.NoError(t, w.Control(t.Context(), schema.TypeClose, began.Add(9), schema.CloseInfo{Reason: schema.ReasonEOF}))
	}
	require.NoError(t, w.Close())
	r, err := journal.Open(w.Path())
	require.NoError(t, err)
	b, err := os.ReadFile(w.Path())
	require.NoError(t, err)
	for i := 0; ; i++ {
		e, err := r.Next(t.Context())
		if err != nil {
			break
		}
		for _, n := range at {
			if n == i {
				b[e.Offset] ^= 1
			}
		}
	}
	require.NoError(t, r.Close())
	require.NoError(t, os.WriteFile(w.Path(), b, 0o600))
	return w.Path()
}

// What stands behind damage is stored behind a gap frame, once, with the close of a dead writer; a
// second run of another publisher stores nothing more.
func TestPublishBehindDamage(t *testing.T) {
	const gap = `control:{"reason":"journal damaged","chunks":0,"bytes":30}/none`
	const died = `control:{"reason":"writer died"}/none`
	for name, c := range map[string]struct {
		closed bool
		at     []int
		want   []string
	}{
		"closed": {true, []int{2}, []string{"client:ask/lf", "client:half/none", "agent:be/none", gap, "agent:swer/lf", `control:{"reason":"eof"}/none`}},
		"dead":   {false, []int{2}, []string{"client:ask/lf", "client:half/none", "agent:be/none", gap, "agent:swer/lf", died}},
		"twice": {false, []int{0, 2}, []string{`control:{"reason":"journal damaged","chunks":0,"bytes":32}/none`, "agent:be/none",
			gap, "agent:swer/lf", died}},
	} {
		t.Run(name, func(t *testing.T) {
			r, path := newRig(t), damaged(t, c.closed, c.at...)
			var mark journal.Mark
			for range 2 {
				source, err := journal.Open(path)
				require.NoError(t, err)
				var heard []journal.Notice
				source.Report(func(n journal.Notice) { heard = append(heard, n) })
				require.NoError(t, r.publisher(source, func(o *Options) {
					o.SaveMark = func(m journal.Mark) error { mark = m; return nil }
				}).Run(deadline(t)))
				require.NoError(t, source.Close())
				require.Len(t, heard, len(c.at))
				require.Contains(t, heard[0].String(), filepath.Base(path))
				require.True(t, mark.Done)
				got := r.stored(t, capture)
				require.Equal(t, c.want, lines(got)[1:])
				requirePlaced(t, got[1:])
			}
		})
	}
}

// Damage may be a single byte that stands between two entries; every frame has an offset of its own.
func TestCutAtASingleDamagedByte(t *testing.T) {
	p := newTape("j").client("c").agent("a\na").stderr("s")
	p.entries = append(p.entries, journal.Entry{From: schema.FromControl, Type: schema.TypeGap, At: began.Add(time.Second),
		Data: []byte(`{"reason":"journal damaged","chunks":0,"bytes":1}`), Offset: p.end, Lost: 1})
	p.end++
	p.close()
	frames := p.cut(t)
	require.Equal(t, []string{"agent:a/lf", "client:c/none", "agent:a/none", "stderr:s/none",
		`control:{"reason":"journal damaged","chunks":0,"bytes":1}/none`, `control:{"reason":"eof","exit_code":0}/none`}, lines(frames))
	requirePlaced(t, frames)
}

// Publishers that are each cut off after one append, every second time with its answer lost, store
// together what one stores.
func TestPublishBehindDamageIsCutOff(t *testing.T) {
	r, path := newRig(t), damaged(t, false, 0, 2)
	cut := errors.New("cut off")
	runs := 0
	for over := false; !over; runs++ {
		require.Less(t, runs, 20)
		source, err := journal.Open(path)
		require.NoError(t, err)
		ctx, cancel := context.WithCancelCause(deadline(t))
		appends := 0
		publisher := r.publisher(source)
		publisher.made = func(a *Appender) {
			a.store = func(ctx context.Context, m []*nats.Msg) (uint64, error) {
				if appends++; appends == 1 && runs%2 == 0 {
					return a.publish(ctx, m)
				}
				if appends == 1 {
					_, err := a.publish(context.WithoutCancel(ctx), m)
					require.NoError(t, err)
				}
				cancel(cut)
				return 0, cut
			}
		}
		err = publisher.Run(ctx)
		over = err == nil
		require.True(t, over || errors.Is(err, context.Canceled), "%v", err)
		cancel(nil)
		require.NoError(t, source.Close())
	}
	require.Greater(t, runs, 5)
	got := r.stored(t, capture)
	require.Equal(t, []string{`control:{"reason":"journal damaged","chunks":0,"bytes":32}/none`, "agent:be/none",
		`control:{"reason":"journal damaged","chunks":0,"bytes":30}/none`, "agent:swer/lf", `control:{"reason":"writer died"}/none`}, lines(got)[1:])
	requirePlaced(t, got[1:])
}
