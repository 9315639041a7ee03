package sink

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseMoment reads a filter's time as people write it: a time, a day or time of the zone that now has, or how
// long before now, such as 90m, 2h, 7d or 2w. Empty is the zero time.
func ParseMoment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	for _, layout := range []string{time.DateOnly, time.DateTime, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	if d, ok := ParsePeriod(text); ok {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q: want how long ago, such as 90m, 2h, 7d or 2w, a day, such as 2026-11-29, or a time, such as 2026-11-29T20:00:00Z", text)
}

// ParsePeriod reads a length of time as people write it: a duration, which may also be in days or weeks, such
// as 90m, 2h, 7d or 2w; false: it is none.
func ParsePeriod(text string) (time.Duration, bool) {
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			const most = 100 * 366 * 24 * time.Hour // which a Duration holds
			n, err := strconv.ParseFloat(number, 64)
			return time.Duration(n * float64(length)), err == nil && n >= 0 && n*float64(length) < float64(most)
		}
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0
}
