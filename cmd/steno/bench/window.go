package bench

import (
	"context"
	"slices"
	"time"
)

// size is how much is measured.
type size struct {
	windows  int
	window   time.Duration // of loops that may run for any time
	captures int           // of a backlog
	open     int           // captures that say something at the same time
	every    time.Duration // between two frames of the live row
	streams  int           // over HTTP
}

var (
	whole = size{windows: 5, window: 500 * time.Millisecond, captures: 60, open: 50, every: time.Millisecond, streams: 1000}
	tiny  = size{windows: 1, window: time.Millisecond, captures: 2, open: 2, every: time.Millisecond, streams: 3}
)

// measure is one window; it gives what was done a second.
type measure func(ctx context.Context) (float64, error)

// beside measures figure and ceiling in turn, so that what else the machine does meets both, and gives
// the medians of the windows.
func (b *bench) beside(ctx context.Context, name string, figure, ceiling measure) (f, c float64, err error) {
	var figures, ceilings []float64
	for i := range b.size.windows {
		b.Say("%s: window %d of %d", name, i+1, b.size.windows)
		if f, err = figure(ctx); err == nil {
			c, err = ceiling(ctx)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, 0, err
		}
		figures, ceilings = append(figures, f), append(ceilings, c)
	}
	return median(figures), median(ceilings), nil
}

func median(values []float64) float64 { return quantile(values, 0.5) }

// quantile sorts the values and gives the one below which that part of them lies.
func quantile(values []float64, part float64) float64 {
	slices.Sort(values)
	return values[int(part*float64(len(values)-1))]
}

// perSecond is a rate.
func perSecond(n int, since time.Time) float64 { return float64(n) / time.Since(since).Seconds() }
