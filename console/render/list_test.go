package render_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

var now = time.Date(2026, 11, 29, 20, 0, 0, 0, time.UTC)

func rows() []sink.Summary {
	var out []sink.Summary
	for i, r := range []sink.Summary{
		{Agent: "goose", Title: "Refactor the parser so that it keeps comments and white space", Status: schema.StatusOpen, Frames: 571, Events: 158},
		{Agent: "claude-code-acp-preview", SessionID: "sess-0198", Status: schema.StatusEnded, Frames: 12, Events: 9},
		{Agent: "mill", Title: "日本語のとても長いタイトルがここにあります", Status: schema.StatusAbandoned, Frames: 1234567, Events: 90000},
		{Title: "parked", Status: schema.StatusParked, Unaccounted: 3},
	} {
		r.Transcript = schema.Transcript{Identity: schema.Identity{Namespace: "default", Workflow: "acp",
			Run: fmt.Sprintf("0197a3b0-7d1c-7c10-9c1e-3f2a1b9c0d1%d", i), Attempt: 1}, Session: uint32(i % 2)}
		r.Key, r.Protocol, r.AddedAt = r.Transcript.String(), schema.ACP, now.Add(-time.Duration(1<<(6*i))*time.Second)
		out = append(out, r)
	}
	return out
}

func list(t *testing.T, width int, rows []sink.Summary) string {
	var page bytes.Buffer
	require.NoError(t, render.List(&page, render.Options{Width: width}, now, rows))
	return page.String()
}

func TestListFitsTheWidth(t *testing.T) {
	for _, width := range []int{80, 100, 120, 160, 0} {
		page := list(t, width, rows())
		want(t, fmt.Sprintf("list.%d", width), page)
		fits(t, width, page)
	}
	require.Equal(t, "no transcripts\n", list(t, 80, nil))
}

func TestTheListSaysWhatHasBeenIdleForLong(t *testing.T) {
	for idle, want := range map[time.Duration]string{
		0: "open  ", 10*time.Minute - 1: "open  ", 10 * time.Minute: "open, idle 10m  ", 50 * time.Hour: "open, idle 2d  ", -time.Hour: "open  ",
	} {
		some := rows()[:1]
		some[0].IdleSince = now.Add(-idle)
		page := list(t, 100, some)
		require.Contains(t, page, want, idle)
		fits(t, 100, page)
	}
	ended := rows()[1:2]
	ended[0].IdleSince = now.Add(-time.Hour)
	require.NotContains(t, list(t, 100, ended), "idle")
	require.NotContains(t, list(t, 100, rows()), "idle", "nobody knows since when")
}

func fits(t *testing.T, width int, page string) {
	t.Helper()
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		require.True(t, width == 0 || uniseg.StringWidth(line) <= width, "%d: %d: %q", width, uniseg.StringWidth(line), line)
	}
}

func TestNoRowIsWrappedAndNoKeyIsCut(t *testing.T) {
	long, alike := rows(), rows()
	for i := range long {
		long[i].Transcript.Workflow = strings.Repeat("w", 64)
		long[i].Key = long[i].Transcript.String()
		alike[i].Transcript = alike[0].Transcript // its short name would name several
		alike[i].Transcript.Workflow = fmt.Sprint("w", i)
		alike[i].Key = alike[i].Transcript.String()
	}
	for _, width := range []int{64, 80, 140, 180, 240} {
		page := list(t, width, long)
		fits(t, width, page)
		require.Contains(t, page, shortOf(long[0]))
	}
	for _, width := range []int{120, 140, 200} {
		page := list(t, width, alike)
		fits(t, width, page)
		for _, row := range alike {
			require.Contains(t, page, row.Key)
		}
	}
	for _, row := range rows() {
		require.Contains(t, list(t, 0, rows()), row.Title)
	}
}

func shortOf(s sink.Summary) string {
	return s.Transcript.Run[len(s.Transcript.Run)-8:] + fmt.Sprintf("/%d/%d/%d", s.Transcript.Activity, s.Transcript.Attempt, s.Transcript.Session)
}

func TestListNamesEachTranscriptUnambiguously(t *testing.T) {
	all := rows()
	other := all[0] // 0/1/10 has 0/1/1 in it
	other.Transcript.Session = 10
	all[0].Transcript.Session = 1
	all[0].Key, other.Key = all[0].Transcript.String(), other.Transcript.String()
	all = append(all, other)
	for line := range strings.Lines(list(t, 80, all)) {
		words := strings.Fields(line)
		key := words[len(words)-1]
		if !strings.Contains(key, "/") {
			continue
		}
		exact, part := 0, 0
		for _, row := range all {
			if row.Key == key {
				exact++
			}
			if strings.Contains(row.Key, key) {
				part++
			}
		}
		require.True(t, exact == 1 || part == 1, "%q", key)
	}
}
