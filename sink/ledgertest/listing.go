package ledgertest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

func summaries(t *testing.T, b *bench) {
	s := NewScript("one")
	s.Next(0, Raw("open"))
	r := s.Record()
	r.About = map[uint32]schema.About{0: {Agent: "goose", Cwd: "/src", Labels: map[string]string{"team": "a"}, Status: schema.StatusOpen}}
	b.store(s, r)
	s.Source.SessionID = "sess-1"
	s.Next(1, Prompt("\n  Mend the <test>, please\nand more"))
	s.Next(1, Prompt("second prompt"))
	s.Next(1, &schema.Stop{Reason: schema.StopLimitReached})
	s.Source.SessionID, s.Source.Dialect = "", "2"
	s.Next(1, Raw("last"))
	r = s.Record()
	r.About = map[uint32]schema.About{1: {Agent: "goose", Labels: map[string]string{"team": "b", "job": "7"}}}
	b.store(s, r)

	sum, err := b.Transcript(ctx(), s.Transcript(1))
	require.NoError(t, err)
	text, err := json.Marshal(sum)
	require.NoError(t, err)
	require.JSONEq(t, `{"key":"default/test/one/0/1/1","protocol":"acp","dialect":"2","agent":"goose","session_id":"sess-1",
"title":"Mend the <test>, please","labels":{"team":"b","job":"7"},"cwd":"","status":"open","frames":4,"events":4,"head":4,
"unaccounted":0,"first_at":"2026-11-29T20:00:00.002Z","last_at":"2026-11-29T20:00:00.005Z","stop":"LimitReached",
"idle_since":"2026-11-29T20:00:00.005Z","added_at":"2026-11-29T20:00:02Z","empty":false}`, string(text))

	s.Next(1, Raw("x"))
	r = s.Record()
	r.About = map[uint32]schema.About{1: {Title: "Mend a test"}, 0: {Title: "connection"}}
	b.store(s, r)
	sum, err = b.Transcript(ctx(), s.Transcript(1))
	require.NoError(t, err)
	require.Equal(t, "Mend a test", sum.Title, "a title goes before the first prompt")
	require.Equal(t, "goose", sum.Agent, "what is empty did not change")
	sum, err = b.Transcript(ctx(), s.Transcript(0))
	require.NoError(t, err)
	require.Equal(t, "connection", sum.Title, "an About without an event of its session counts")
	require.Equal(t, "/src", sum.Cwd)
	require.True(t, sum.Empty)
}

// ordered stores three recordings in another order than they were made, as a backlog comes through, and
// an import, which is as old as its record (the bench stores the first one second after Epoch).
func ordered(t *testing.T, b *bench) {
	var keys []string
	for _, made := range []uint64{40, 60, 50} {
		s := NewScript(fmt.Sprintf("0197a3b0-7d1c-7c10-9c1e-3f2a1b9c0d%d", made))
		for range made {
			s.Frame()
		}
		s.Next(1, Raw("x"))
		b.store(s, s.Record())
		keys = append(keys, s.Transcript(1).String())
	}
	imported := NewScript("4abc45d3-210f-5adc-8cae-c9a1ea02eb91")
	imported.Next(1, Raw("x"))
	b.store(imported, imported.Record())

	page, err := b.Transcripts(ctx(), sink.Query{})
	require.NoError(t, err)
	var got []string
	for _, s := range page.Transcripts {
		if s.Transcript.Session == 1 {
			got = append(got, s.Key)
		}
	}
	require.Equal(t, []string{imported.Transcript(1).String(), keys[1], keys[2], keys[0]}, got)
}

func statuses(t *testing.T, b *bench) {
	s := NewScript("one")
	status := func(session uint32) schema.Status {
		sum, err := b.Transcript(ctx(), s.Transcript(session))
		require.NoError(t, err)
		require.Equal(t, sum.Status == schema.StatusOpen, !sum.IdleSince.IsZero())
		return sum.Status
	}
	say := func(session uint32, as schema.Status) {
		s.Next(session, Raw("x"))
		r := s.Record()
		if as != "" {
			r.About = map[uint32]schema.About{session: {Status: as}}
		}
		b.store(s, r)
	}
	say(0, schema.StatusOpen)
	say(1, "")
	say(2, schema.StatusEnded)
	require.Equal(t, []schema.Status{schema.StatusOpen, schema.StatusOpen, schema.StatusEnded}, []schema.Status{status(0), status(1), status(2)})
	say(0, schema.StatusAbandoned)
	require.Equal(t, schema.StatusAbandoned, status(1), "the capture's end is that of its sessions")
	say(0, schema.StatusOpen)
	require.Equal(t, schema.StatusOpen, status(1), "a later status replaces an earlier one")
}

func paging(t *testing.T, b *bench) {
	var want []string
	for i := range 7 {
		s := NewScript(fmt.Sprintf("run-%d", i))
		s.Next(0, Raw("x"))
		s.Next(1, Raw("x"))
		b.store(s, s.Record())
		want = append([]string{s.Transcript(1).String(), s.Transcript(0).String()}, want...)
	}
	old := NewScript("run-0")
	old.Next(0, Raw("x"))
	old.Next(1, Raw("x"))
	old.Record()
	old.Next(1, Raw("y"))
	b.store(old, old.Record()) // an older transcript that goes on keeps its place
	for _, limit := range []int{0, 1, 3, 14, 100} {
		var got []string
		q := sink.Query{Limit: limit}
		for {
			page, err := b.Transcripts(ctx(), q)
			require.NoError(t, err)
			require.True(t, limit == 0 || len(page.Transcripts) <= limit)
			for _, s := range page.Transcripts {
				got = append(got, s.Key)
			}
			if page.Next == "" {
				break
			}
			q.After = page.Next
		}
		require.Equal(t, want, got, "limit %d", limit)
	}
	var all []string
	for s, err := range sink.All(ctx(), b) {
		require.NoError(t, err)
		all = append(all, s.Key)
	}
	require.Equal(t, want, all)
	_, err := b.Transcripts(ctx(), sink.Query{After: "no cursor"})
	require.Error(t, err)
}

func eventPages(t *testing.T, b *bench) {
	s := NewScript("one")
	const n = 1500
	for range n {
		s.Next(0, Raw("x"))
	}
	b.store(s, s.Record())
	read := func(after uint64, limit int) (seqs []uint64) {
		for e, err := range b.Events(ctx(), s.Transcript(0), after, limit) {
			require.NoError(t, err)
			seqs = append(seqs, e.Seq)
		}
		return seqs
	}
	for _, c := range []struct {
		after uint64
		limit int
		want  int
	}{{0, 0, n}, {0, 1, 1}, {0, 700, 700}, {1400, 700, 100}, {n, 0, 0}, {n + 5, 10, 0}, {1<<64 - 1, 0, 0}} {
		got := read(c.after, c.limit)
		require.Len(t, got, c.want)
		for i, seq := range got {
			require.Equal(t, c.after+uint64(i)+1, seq)
		}
	}
	for range b.Events(ctx(), s.Transcript(0), 0, 0) {
		break // a reader may leave at any event
	}
}
