package sink_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink"
)

func TestMoments(t *testing.T) {
	now := time.Date(2026, 11, 29, 20, 0, 0, 0, time.FixedZone("", 3600))
	for text, want := range map[string]time.Time{
		"":                     {},
		"2h":                   now.Add(-2 * time.Hour),
		"90m":                  now.Add(-90 * time.Minute),
		"7d":                   now.Add(-7 * 24 * time.Hour),
		"1.5d":                 now.Add(-36 * time.Hour),
		"2w":                   now.Add(-14 * 24 * time.Hour),
		"0s":                   now,
		"2026-11-29T20:00:00Z": now.Add(time.Hour),
		"2026-11-29":           now.Add(-20 * time.Hour),
		"2026-11-29 19:30":     now.Add(-30 * time.Minute),
	} {
		got, err := sink.ParseMoment(text, now)
		require.NoError(t, err, text)
		require.True(t, want.Equal(got), "%s: %s", text, got)
	}
	for _, text := range []string{"yesterday", "-1h", "-1d", "d", "7", "1e99d", "NaNd", "2026-13-01", "2026-11-29T20:0"} {
		_, err := sink.ParseMoment(text, now)
		require.Error(t, err, text)
	}
}
