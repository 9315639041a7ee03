package replay_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/replay"
	"github.com/steno-io/steno/schema"
)

var start = time.Date(2026, 11, 29, 20, 0, 0, 0, time.UTC)

// clock stands still, but for waiting and for what a test adds.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func (c *clock) WaitUntil(ctx context.Context, at time.Time) error {
	if at.After(c.now) {
		c.now = at
	}
	return ctx.Err()
}

func at(offsets ...time.Duration) iter.Seq2[schema.Event, error] {
	return func(yield func(schema.Event, error) bool) {
		for i, offset := range offsets {
			if !yield(schema.Event{WorkerSeq: uint64(i), EmittedAt: start.Add(offset)}, nil) {
				return
			}
		}
	}
}

func TestReplayKeepsTheTiming(t *testing.T) {
	events := []time.Duration{0, time.Second, time.Second, time.Minute, 30 * time.Second, 31 * time.Second}
	for name, c := range map[string]struct {
		options replay.Options
		want    []time.Duration
	}{
		"original":   {replay.Options{}, []time.Duration{0, 1000, 1000, 60000, 60000, 61000}},
		"four times": {replay.Options{Speed: 4}, []time.Duration{0, 250, 250, 15000, 15000, 15250}},
		"half":       {replay.Options{Speed: .5}, []time.Duration{0, 2000, 2000, 120000, 120000, 122000}},
		"idle limit": {replay.Options{IdleLimit: 2 * time.Second}, []time.Duration{0, 1000, 1000, 3000, 3000, 4000}},
		"both":       {replay.Options{Speed: 4, IdleLimit: 100 * time.Millisecond}, []time.Duration{0, 100, 100, 200, 200, 300}},
	} {
		t.Run(name, func(t *testing.T) {
			now := &clock{now: start.Add(time.Hour)}
			c.options.Clock = now
			var got []time.Duration
			require.NoError(t, replay.Replay(t.Context(), at(events...), c.options, func(e schema.Event) error {
				require.Equal(t, uint64(len(got)), e.WorkerSeq)
				got = append(got, now.now.Sub(start.Add(time.Hour))/time.Millisecond)
				return nil
			}))
			require.Equal(t, c.want, got)
		})
	}
}

func TestReplayMakesUpForSlowOutput(t *testing.T) {
	now := &clock{now: start}
	var got []time.Duration
	require.NoError(t, replay.Replay(t.Context(), at(0, time.Second, 2*time.Second, 10*time.Second), replay.Options{Clock: now},
		func(schema.Event) error {
			got = append(got, now.now.Sub(start))
			now.now = now.now.Add(3 * time.Second)
			return nil
		}))
	require.Equal(t, []time.Duration{0, 3 * time.Second, 6 * time.Second, 10 * time.Second}, got)
}

func TestReplayEndsWithTheFirstError(t *testing.T) {
	boom := errors.New("boom")
	emitted := 0
	emit := func(schema.Event) error { emitted++; return nil }
	source := func(yield func(schema.Event, error) bool) {
		if yield(schema.Event{EmittedAt: start}, nil) {
			yield(schema.Event{}, boom)
		}
	}
	require.ErrorIs(t, replay.Replay(t.Context(), source, replay.Options{}, emit), boom)
	require.Equal(t, 1, emitted)

	require.ErrorIs(t, replay.Replay(t.Context(), at(0, 0), replay.Options{}, func(schema.Event) error { return boom }), boom)

	ctx, cancel := context.WithCancel(t.Context())
	err := replay.Replay(ctx, at(0, time.Hour), replay.Options{}, func(schema.Event) error { cancel(); return nil })
	require.ErrorIs(t, err, context.Canceled, "an hour is not waited for")
}

func TestReplayRefusesImpossibleOptions(t *testing.T) {
	for _, o := range []replay.Options{{Speed: -1}, {Speed: math.NaN()}, {Speed: math.Inf(1)}, {IdleLimit: -1}} {
		require.Error(t, replay.Replay(t.Context(), at(0), o, func(schema.Event) error { return nil }), "%v", o)
	}
}

func TestReplayTakesAPauseLongerThanTimeItself(t *testing.T) {
	now := &clock{now: start}
	year := 200 * 365 * 24 * time.Hour
	require.NoError(t, replay.Replay(t.Context(), at(0, year), replay.Options{Clock: now, Speed: 1e-9}, func(schema.Event) error { return nil }))
	require.True(t, now.now.After(start.Add(100*365*24*time.Hour)))
}
