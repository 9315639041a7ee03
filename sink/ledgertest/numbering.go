package ledgertest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// three makes a record of three events of session 0.
func three(s *Script) schema.Record {
	for _, text := range []string{"a", "b", "c"} {
		s.Next(0, Raw(text))
	}
	return s.Record()
}

func numbers(t *testing.T, b *bench) {
	s := NewScript("one")
	first := three(s)
	s.Next(0, Raw("zero"))
	s.Next(1, Raw("one"))
	s.Event(1, Raw("one again"))
	s.Next(0, Raw("zero again"))
	mixed := s.Record()

	out := b.store(s, first, mixed)
	require.Equal(t, 7, out.Events)
	require.Equal(t, []sink.Head{{Transcript: s.Transcript(0), Seq: 5}, {Transcript: s.Transcript(1), Seq: 2}}, out.Heads)
	require.Empty(t, out.Parked)
	require.Len(t, b.events(s.Transcript(0)), 5)
	one := b.events(s.Transcript(1))
	require.Len(t, one, 2)
	e, err := schema.DecodeEvent(one[1])
	require.NoError(t, err)
	require.Equal(t, uint64(2), e.StoreSeq)
	require.Equal(t, schema.Origin{Frame: 5, Part: 1}, e.Origin())
	require.Equal(t, sink.Position{Created: Epoch, Seq: 2, Digest: "digest of 2"}, b.position())
}

func again(t *testing.T, b *bench) {
	s := NewScript("one")
	first, second := three(s), three(s)
	b.store(s, first)
	out := b.store(s, first, first, second)
	require.Equal(t, 3, out.Events)
	require.Equal(t, []sink.Head{{Transcript: s.Transcript(0), Seq: 6}}, out.Heads)
	out = b.store(s, first, second)
	require.Zero(t, out.Events)
	require.Equal(t, []sink.Head{{Transcript: s.Transcript(0), Seq: 6}}, out.Heads, "a head is told again: its first telling may be lost")
	require.Equal(t, numbered(t, first, second), b.events(s.Transcript(0)))
	info, err := b.Capture(ctx(), s.ID)
	require.NoError(t, err)
	require.Equal(t, schema.Origin{Frame: 6}, info.Last, "a record read again takes nothing back")
	require.Equal(t, uint64(6), info.Accounted)
}

func changed(t *testing.T, b *bench) {
	s := NewScript("one")
	first := three(s)
	b.store(s, first)

	other := NewScript("one")
	other.Next(0, Raw("a"))
	other.Next(0, Raw("B"))
	other.Next(0, Raw("c"))
	forged := other.Record()
	out := b.store(s, forged, three(s))
	require.Zero(t, out.Events)

	have, got := numbered(t, first)[1], numbered(t, forged)[1]
	want := sink.Parked{Capture: s.ID, Reason: sink.ReasonChanged, Ordinal: 2, Have: have, Got: got, Seq: 2, At: Epoch.Add(2e9)}
	require.Equal(t, []sink.Parked{want}, out.Parked)
	require.Equal(t, want, *b.parked(s))
	require.Equal(t, numbered(t, first), b.events(s.Transcript(0)), "nothing is overwritten")
	require.Equal(t, uint64(3), b.position().Seq, "the position moves on")
}

func gap(t *testing.T, b *bench) {
	s := NewScript("one")
	first, lost, third := three(s), three(s), three(s)
	out := b.store(s, first, third)
	want := sink.Parked{Capture: s.ID, Reason: sink.ReasonGap, Ordinal: 7, Have: []byte("4"), Got: []byte("7"), Seq: 2, At: Epoch.Add(2e9)}
	require.Equal(t, []sink.Parked{want}, out.Parked)
	require.Equal(t, want, *b.parked(s))

	out = b.store(s, lost, third)
	require.Zero(t, out.Events, "later records of a parked capture are passed over")
	require.Empty(t, out.Parked, "it is parked once")
	require.Equal(t, numbered(t, first), b.events(s.Transcript(0)))
	require.Equal(t, uint64(4), b.position().Seq)

	healthy := NewScript("two")
	require.Equal(t, 3, b.store(healthy, three(healthy)).Events, "other captures go on")
}

func originBack(t *testing.T, b *bench) {
	s := NewScript("one")
	b.store(s, three(s))
	back := NewScript("one")
	back.Next(1, Raw("of frame 1, and new to session 1"))
	out := b.store(s, back.Record())
	require.Len(t, out.Parked, 1)
	require.Equal(t, sink.ReasonOrigin, out.Parked[0].Reason)
	require.Equal(t, "3.0", string(out.Parked[0].Have))
	require.Equal(t, "1.0", string(out.Parked[0].Got))
	require.Empty(t, b.events(s.Transcript(1)))
}

func nonsense(t *testing.T, b *bench) {
	for name, spoil := range map[string]func(r *schema.Record){
		"no_events":      func(r *schema.Record) { r.Events = nil },
		"not_json":       func(r *schema.Record) { r.Events[1] = []byte(`{"namespace":`) },
		"two_values":     func(r *schema.Record) { r.Events[1] = append(r.Events[1], r.Events[2]...) },
		"numbered":       func(r *schema.Record) { r.Events[1], _ = schema.WithStoreSeq(r.Events[1], 2) },
		"other_capture":  func(r *schema.Record) { r.Events = three(NewScript("elsewhere")).Events },
		"last_origin":    func(r *schema.Record) { r.Last.Frame++ },
		"order":          func(r *schema.Record) { r.Events[0], r.Events[1] = r.Events[1], r.Events[0] },
		"no_ordinal":     func(r *schema.Record) { r.First = map[uint32]uint64{1: 1} },
		"highest_number": func(r *schema.Record) { r.First = map[uint32]uint64{0: 1<<64 - 1} },
	} {
		t.Run(name, func(t *testing.T) {
			s := NewScript(name)
			r := three(s)
			spoil(&r)
			out := b.store(s, r, three(s))
			require.Len(t, out.Parked, 1)
			require.Zero(t, out.Events)
			require.NotEmpty(t, out.Parked[0].Got)
			require.Equal(t, out.Parked[0], *b.parked(s))
			sum, err := b.Transcript(ctx(), s.Transcript(0))
			require.NoError(t, err, "a parked capture is listed even when nothing of it is stored")
			require.Equal(t, schema.StatusParked, sum.Status)
		})
	}
}

func staysParked(t *testing.T, b *bench) {
	s := NewScript("one")
	_, second := three(s), three(s)
	b.store(s, second)
	before := *b.parked(s)
	b.reopen()
	require.Zero(t, b.store(s, second).Events)
	require.Equal(t, before, *b.parked(s))
	st, err := b.Stats(ctx())
	require.NoError(t, err)
	require.Equal(t, uint64(1), st.Parked)
}
