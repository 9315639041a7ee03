package stage_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// folded is what a capture must have become, by the fold alone.
type folded struct {
	lines  []string
	frame  []uint64          // of each line
	first  []string          // session:ordinal of each line
	open   map[uint64]string // after each frame
	chains map[uint64]string
	about  map[uint32]schema.About // at the end
}

func foldOffline(t translate.Translator, id schema.Identity, frames []schema.Frame) folded {
	out := folded{open: map[uint64]string{}, chains: map[uint64]string{}, about: map[uint32]schema.About{}}
	fold := t.Fold(id)
	ordinals := map[uint32]int{}
	for i := range frames {
		f := frames[i]
		for _, e := range fold.Step(nil, &f) {
			if e.Ephemeral {
				continue
			}
			ordinals[e.Session]++
			out.lines = append(out.lines, string(e.AppendJSON(nil)))
			out.frame = append(out.frame, f.Seq)
			out.first = append(out.first, fmt.Sprintf("%d:%d", e.Session, ordinals[e.Session]))
		}
		var open []string
		for session := uint32(0); session < 100; session++ {
			if n := fold.Open().Frames[session]; n > 0 {
				open = append(open, fmt.Sprintf("%d:%d", session, n))
			}
		}
		out.open[f.Seq], out.chains[f.Seq] = strings.Join(open, ","), f.Chain
	}
	for session := range ordinals {
		out.about[session] = fold.About(session)
	}
	return out
}

// check reads STENO_EVENTS message by message, on its own, and compares each capture's records with the
// fold of its frames.
func check(t testing.TB, js jetstream.JetStream, taps ...*tap) {
	t.Helper()
	want := map[string]folded{}
	for _, tp := range taps {
		want["steno.event."+fmt.Sprint(tp.id.Partition(32))+"."+tp.id.Subject()] = foldOffline(words{version: "words/1"}, tp.id, tp.frames)
	}
	checkAgainst(t, js, want)
}

func checkAgainst(t testing.TB, js jetstream.JetStream, want map[string]folded) {
	t.Helper()
	ctx := bounded(t)
	stream, err := js.Stream(ctx, "STENO_EVENTS")
	require.NoError(t, err)
	blobs, err := js.ObjectStore(ctx, "STENO_BLOBS")
	require.NoError(t, err)
	given := map[string]int{}
	about := map[string]map[uint32]schema.About{}
	for seq := uint64(1); seq <= stream.CachedInfo().State.LastSeq; seq++ {
		m, err := stream.GetMsg(ctx, seq)
		require.NoError(t, err)
		w, ok := want[m.Subject]
		require.True(t, ok, "record on %s", m.Subject)
		payload := m.Data
		if ref := m.Header.Get("Steno-Blob"); ref != "" {
			require.Empty(t, payload)
			key := strings.ReplaceAll(strings.SplitN(m.Subject, ".", 4)[3], ".", "/") + "/" + ref
			payload, err = blobs.GetBytes(ctx, key)
			require.NoError(t, err)
			require.Equal(t, ref, sha(payload))
		} else {
			require.NotEmpty(t, payload)
		}
		require.True(t, bytes.HasSuffix(payload, []byte("\n")))
		lines := strings.Split(strings.TrimSuffix(string(payload), "\n"), "\n")
		start := given[m.Subject]
		require.LessOrEqual(t, start+len(lines), len(w.lines), "%s has more events than its fold", m.Subject)
		seen := map[string]bool{}
		var firsts []string
		for i, line := range lines {
			require.Equal(t, w.lines[start+i], line, "%s event %d", m.Subject, start+i+1)
			if session, _, _ := strings.Cut(w.first[start+i], ":"); !seen[session] {
				seen[session] = true
				firsts = append(firsts, w.first[start+i])
			}
		}
		end := start + len(lines)
		last := w.frame[end-1]
		require.True(t, end == len(w.lines) || w.frame[end] != last, "%s: frame %d is cut", m.Subject, last)
		require.ElementsMatch(t, firsts, strings.Split(m.Header.Get("Steno-Ordinals"), ","))
		var place struct {
			Frame uint64 `json:"worker_seq"`
			Part  uint32 `json:"part"`
		}
		require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &place))
		require.Equal(t, fmt.Sprintf("%d.%d", place.Frame, place.Part), m.Header.Get("Steno-Origin"))
		require.Equal(t, w.chains[last], m.Header.Get("Steno-Chain"))
		require.Equal(t, w.open[last], m.Header.Get("Steno-Open"))
		if text := m.Header.Get("Steno-About"); text != "" {
			data, err := base64.StdEncoding.DecodeString(text)
			require.NoError(t, err)
			changes := map[uint32]schema.About{}
			require.NoError(t, json.Unmarshal(data, &changes))
			if about[m.Subject] == nil {
				about[m.Subject] = map[uint32]schema.About{}
			}
			for session, a := range changes {
				about[m.Subject][session] = a
			}
		}
		given[m.Subject] = end
	}
	for subject, w := range want {
		require.Equal(t, len(w.lines), given[subject], "events of %s", subject)
		require.Equal(t, w.about, about[subject], "about of %s", subject)
	}
}

// storedLines gives the events of a capture's records, in their order.
func storedLines(t testing.TB, js jetstream.JetStream, id schema.Identity) []string {
	t.Helper()
	ctx := bounded(t)
	stream, err := js.Stream(ctx, "STENO_EVENTS")
	require.NoError(t, err)
	blobs, err := js.ObjectStore(ctx, "STENO_BLOBS")
	require.NoError(t, err)
	var lines []string
	for seq := stream.CachedInfo().State.FirstSeq; seq <= stream.CachedInfo().State.LastSeq; seq++ {
		m, err := stream.GetMsg(ctx, seq)
		require.NoError(t, err)
		if !strings.HasSuffix(m.Subject, "."+id.Subject()) {
			continue
		}
		payload := m.Data
		if ref := m.Header.Get("Steno-Blob"); ref != "" {
			payload, err = blobs.GetBytes(ctx, id.String()+"/"+ref)
			require.NoError(t, err)
		}
		lines = append(lines, strings.Split(strings.TrimSuffix(string(payload), "\n"), "\n")...)
	}
	return lines
}
