package ledgertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

func bytesKept(t *testing.T, b *bench) {
	s := NewScript("one")
	long := strings.Repeat("0123456789", 10<<10)
	for _, value := range []string{
		`{"b":1,"a":2,"b":1.0}`, `{"n":12345678901234567890.10e+5,"n":-0}`, `"\u0000 and \ud800"`, `"\u0041 is A"`,
		`{"store_seq":null,"x":",\"store_seq\":null,"}`, `"` + "\u2028\U0001F600" + `"`, `[]`, `null`,
		`{"` + long + `":"` + long + `"}`,
	} {
		s.Next(0, &schema.Raw{Source: "test", Value: schema.JSON(value)})
	}
	s.Next(0, Prompt("\x00 begins with a NUL\n"))
	s.Next(0, &schema.ToolCall{Tool: long, CallID: long})
	s.Source.SessionID = long
	s.Next(1, Prompt(long))
	r := s.Record()
	b.store(s, r)
	want := numbered(t, r)
	require.Equal(t, want[:len(want)-1], b.events(s.Transcript(0)))
	require.Zero(t, b.store(s, r).Events)
	require.Nil(t, b.parked(s), "the same bytes are the same")
	sum, err := b.Transcript(ctx(), s.Transcript(1))
	require.NoError(t, err)
	require.Equal(t, long, sum.SessionID)
	require.Equal(t, long[:80], sum.Title)
	sum, err = b.Transcript(ctx(), s.Transcript(0))
	require.NoError(t, err)
	require.Equal(t, "\x00 begins with a NUL", sum.Title)
}

func largeEvent(t *testing.T, b *bench) {
	s := NewScript("one")
	s.Next(0, Raw(strings.Repeat("steno", 1<<20)))
	s.Next(0, Prompt(strings.Repeat("é", 3<<20)))
	r := s.Record()
	b.store(s, r)
	require.Equal(t, numbered(t, r), b.events(s.Transcript(0)))
}

func frames(t *testing.T, b *bench) {
	s := NewScript("one")
	s.Next(0, Raw("open"))
	for range 3 {
		s.Frame() // 2, 3, 4: chunks of a message of session 1
	}
	s.Frame()
	s.Event(1, Raw("message"), schema.Range{2, 4})
	s.Event(1, Raw("and its Raw"))
	r := s.Record()
	b.store(s, r)
	s.Next(1, Raw("6"))
	s.Event(1, Raw("6 again"))
	s.Frame() // 7 opens a message of session 1, 8 of session 2
	s.Frame()
	s.Next(0, Raw("9"))
	next := s.Record()
	next.Open = map[uint32]uint64{1: 1, 2: 1}
	b.store(s, next)

	for session, want := range map[uint32]uint64{0: 2, 1: 4 + 1 + 1, 2: 1} {
		sum, err := b.Transcript(ctx(), s.Transcript(session))
		require.NoError(t, err)
		require.Equal(t, want, sum.Frames, "session %d", session)
		require.Zero(t, sum.Unaccounted)
	}
	s.Frame() // 10: nobody names it
	s.Next(0, Raw("11"))
	b.store(s, s.Record())
	for session, want := range map[uint32]int64{0: 1 + 2, 1: 0} { // nothing is open any more, so 7 and 8 are missing too
		sum, err := b.Transcript(ctx(), s.Transcript(session))
		require.NoError(t, err)
		require.Equal(t, want, sum.Unaccounted, "session %d", session)
	}
}

func audit(t *testing.T, b *bench) {
	var ids []string
	for i := range 5 {
		s := NewScript(fmt.Sprintf("run-%d", i))
		s.Next(0, Raw("x"))
		s.Next(3, Raw("x"))
		b.store(s, s.Record())
		ids = append(ids, s.ID.String())
	}
	var got []string
	after := ""
	for {
		page, err := b.Captures(ctx(), after, 2)
		require.NoError(t, err)
		if len(page) == 0 {
			break
		}
		for _, c := range page {
			after = c.Capture.Capture.String()
			got = append(got, after)
			require.Equal(t, []sink.SessionInfo{{Session: 0, Head: 1, Frames: 1}, {Session: 3, Head: 1, Frames: 1}}, c.Sessions)
			require.Equal(t, schema.Origin{Frame: 2}, c.Last)
			require.Equal(t, Chain(2), c.Chain)
			require.Equal(t, "acp/1", c.Translator)
			require.Equal(t, uint32(partition), c.Partition)
		}
	}
	require.Equal(t, ids, got)
	_, err := b.Capture(ctx(), NewScript("nobody").ID)
	require.ErrorIs(t, err, sink.ErrNotFound)
	_, err = b.Transcript(ctx(), NewScript("nobody").Transcript(0))
	require.ErrorIs(t, err, sink.ErrNotFound)
	require.Empty(t, b.events(NewScript("nobody").Transcript(0)))
	st, err := b.Stats(ctx())
	require.NoError(t, err)
	require.Equal(t, [4]uint64{5, 10, 10, 0}, [4]uint64{st.Captures, st.Transcripts, st.Events, st.Parked})
}
