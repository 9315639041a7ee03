// Package alloctest bounds what hot paths allocate: a figure that is the same on every machine, loaded
// or not, where a time is not.
package alloctest

import (
	"math"
	"testing"
)

// Row is an operation of a hot path.
type Row struct {
	What string  // is counted once: a frame, an event, a record
	Most float64 // allocations for each
	Each int     // how many of them one Run does; 0 = 1
	Run  func()  // is called some twenty times
}

// What a measurement is made of. Other goroutines of the process may allocate meanwhile, so the least
// of several counts.
const (
	measurements = 3
	runs         = 5
)

// Check fails the test where a row allocates more than it may, and logs what each does.
func Check(t *testing.T, rows ...Row) {
	t.Helper()
	for _, r := range rows {
		least := math.Inf(1)
		for range measurements {
			least = min(least, testing.AllocsPerRun(runs, r.Run)/float64(max(r.Each, 1)))
		}
		switch {
		case detector: // it keeps pools from keeping, at random
			t.Logf("%s: %.2f allocations under the race detector, which adds its own", r.What, least)
		case least > r.Most:
			t.Errorf("%s: %.2f allocations, want at most %.2f", r.What, least, r.Most)
		default:
			t.Logf("%s: %.2f allocations, at most %.2f", r.What, least, r.Most)
		}
	}
}
