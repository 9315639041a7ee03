package ledgertest

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

func filtered(t *testing.T, b *bench) {
	about := []schema.About{
		{Agent: "Zed Agent", Labels: map[string]string{"team": "a", "job": "7"}},
		{Agent: "zéd", Labels: map[string]string{"team": "a"}, Status: schema.StatusEnded},
		{Agent: "codex", Labels: map[string]string{"team": "ab", "<&>": "\"q\""}, Status: schema.StatusAbandoned},
		{Agent: "\x00\xff", Labels: map[string]string{":": ",", "b": "c"}},
	}
	keys := map[int]string{}
	const n = 40
	for i := range n {
		s := NewScript(fmt.Sprintf("run-%d", i))
		if i%4 == 2 {
			s.ID.Namespace, s.Source.Protocol = "other", schema.A2A
		}
		for range i { // frame i+1 is at i+1 milliseconds
			s.Frame()
		}
		s.Next(0, Raw("x"))
		r := s.Record()
		r.About = map[uint32]schema.About{0: about[i%4]}
		b.store(s, r)
		keys[i] = s.Transcript(0).String()
	}
	silent := NewScript("silent") // nothing but a session that has an open message
	silent.Next(1, Raw("x"))
	r := silent.Record()
	r.Open = map[uint32]uint64{0: 1}
	b.store(silent, r)
	parked := NewScript("parked")
	parked.Next(0, Raw("x"))
	parked.Record()
	parked.Next(0, Raw("y"))
	b.store(parked, parked.Record())

	quarter := func(q int) (want []string) {
		for i := n - 1; i >= 0; i-- {
			if i%4 == q {
				want = append(want, keys[i])
			}
		}
		return want
	}
	every := func(is func(i int) bool) (want []string) {
		for i := n - 1; i >= 0; i-- {
			if is(i) {
				want = append(want, keys[i])
			}
		}
		return want
	}
	others, many := map[schema.Identity]bool{}, map[schema.Identity]bool{}
	for i := 3; i < n; i += 4 {
		others[NewScript(fmt.Sprintf("run-%d", i)).ID] = true
	}
	maps.Copy(many, others)
	for i := range 3000 { // more than a query takes
		many[NewScript(fmt.Sprintf("nowhere-%d", i)).ID] = true
	}
	for name, c := range map[string]struct {
		filter sink.Filter
		want   []string
	}{
		"agent":                {sink.Filter{Agent: "zed"}, quarter(0)},
		"agent upper":          {sink.Filter{Agent: "ZÉD"}, quarter(1)},
		"agent part":           {sink.Filter{Agent: "ODE"}, quarter(2)},
		"agent any bytes":      {sink.Filter{Agent: "\x00"}, quarter(3)},
		"namespace":            {sink.Filter{Namespace: "other"}, quarter(2)},
		"namespace part":       {sink.Filter{Namespace: "othe"}, nil},
		"namespaces":           {sink.Filter{Namespaces: []string{"nobody", "other", "defaul"}}, quarter(2)},
		"namespaces both":      {sink.Filter{Namespaces: []string{"other", "default"}, Namespace: "other"}, quarter(2)},
		"namespaces none":      {sink.Filter{Namespaces: []string{"default"}, Namespace: "other"}, nil},
		"protocol":             {sink.Filter{Protocol: schema.A2A}, quarter(2)},
		"ended":                {sink.Filter{Status: schema.StatusEnded}, quarter(1)},
		"parked":               {sink.Filter{Status: schema.StatusParked}, []string{parked.Transcript(0).String()}},
		"parked by others":     {sink.Filter{Status: schema.StatusParked, Parked: others}, append([]string{parked.Transcript(0).String()}, quarter(3)...)},
		"parked, then open":    {sink.Filter{Status: schema.StatusOpen, Parked: others}, append([]string{silent.Transcript(1).String(), silent.Transcript(0).String()}, quarter(0)...)},
		"parked, and an agent": {sink.Filter{Status: schema.StatusParked, Parked: others, Agent: "zed"}, nil},
		"many parked":          {sink.Filter{Status: schema.StatusParked, Parked: many}, append([]string{parked.Transcript(0).String()}, quarter(3)...)},
		"label":                {sink.Filter{Labels: map[string]string{"team": "a", "job": "7"}}, quarter(0)},
		"label quoted":         {sink.Filter{Labels: map[string]string{"<&>": "\"q\""}}, quarter(2)},
		"label trap":           {sink.Filter{Labels: map[string]string{",": "\"b\""}}, nil},
		"label odd":            {sink.Filter{Labels: map[string]string{":": ","}}, quarter(3)},
		"label empty":          {sink.Filter{Labels: map[string]string{"team": ""}}, nil},
		"since":                {sink.Filter{Since: At(31), Agent: "zed"}, every(func(i int) bool { return i%4 == 0 && i+1 >= 31 })},
		"until":                {sink.Filter{Until: At(10), Namespace: "default", Labels: map[string]string{"team": "a"}}, every(func(i int) bool { return i%4 < 2 && i+1 < 10 })},
		"between":              {sink.Filter{Since: At(10), Until: At(20), Agent: "codex"}, every(func(i int) bool { return i%4 == 2 && i+1 >= 10 && i+1 < 20 })},
		"nanoseconds":          {sink.Filter{Since: At(10).Add(time.Nanosecond), Until: At(12).Add(-time.Nanosecond), Agent: "codex"}, []string{keys[10]}},
		"another zone":         {sink.Filter{Since: At(39).In(time.FixedZone("", 3600)), Agent: "codex"}, []string{keys[38]}},
		"nothing said":         {sink.Filter{Since: Epoch.Add(time.Minute / 2), Until: Epoch.Add(time.Hour)}, []string{parked.Transcript(0).String(), silent.Transcript(0).String()}},
	} {
		for _, limit := range []int{0, 1, 3, 10} {
			var got []string
			for q := (sink.Query{Filter: c.filter, Limit: limit}); ; {
				page, err := b.Transcripts(ctx(), q)
				require.NoError(t, err, name)
				require.True(t, limit == 0 || len(page.Transcripts) <= limit)
				for _, s := range page.Transcripts {
					require.True(t, c.filter.Match(s))
					got = append(got, s.Key)
				}
				if page.Next == "" {
					break
				}
				require.Len(t, page.Transcripts, limit, name)
				q.After = page.Next
			}
			require.Equal(t, c.want, got, "%s, limit %d", name, limit)
		}
	}
	page, err := b.Transcripts(ctx(), sink.Query{Limit: 5})
	require.NoError(t, err)
	rest, err := b.Transcripts(ctx(), sink.Query{Filter: sink.Filter{Agent: "zed"}, After: page.Next})
	require.NoError(t, err, "a cursor is that of every filter")
	require.Equal(t, len(quarter(0)), len(rest.Transcripts)+countAgents(page, "Zed Agent"))
}

func countAgents(p sink.Page, agent string) (n int) {
	for _, s := range p.Transcripts {
		if s.Agent == agent {
			n++
		}
	}
	return n
}

func listed(t *testing.T, b *bench) {
	var want []string
	for i := range 9 {
		s := NewScript(fmt.Sprintf("run-%d", i))
		s.Next(0, Raw("x"))
		s.Next(1, Prompt(fmt.Sprintf("number%d", i%3)))
		s.Next(1, Prompt(fmt.Sprintf("number%d again", i%3)))
		b.store(s, s.Record())
		if i%3 == 1 {
			want = append([]string{s.Transcript(1).String()}, want...)
		}
	}
	empty, err := b.Transcripts(ctx(), sink.Query{Text: "number1"})
	require.NoError(t, err)
	require.Empty(t, empty.Transcripts, "nothing is indexed yet")
	now, err := b.Indexing(ctx())
	require.NoError(t, err)
	require.Equal(t, uint64(27), now.Behind)
	hits, err := b.Search(ctx(), sink.SearchQuery{Text: "number1"})
	require.NoError(t, err)
	require.Empty(t, hits.Hits)
	require.Equal(t, uint64(27), hits.Indexing.Behind, "and it says so")
	st, err := b.Stats(ctx())
	require.NoError(t, err)
	require.Equal(t, now, st.Indexing)
	b.index()
	for _, limit := range []int{0, 1, 2} {
		var got []string
		for q := (sink.Query{Text: "number1 again", Limit: limit}); ; {
			page, err := b.Transcripts(ctx(), q)
			require.NoError(t, err)
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
}
