package s3

import (
	"context"
	"net/http"
	"sync/atomic"
)

// lostKey is where a context holds whether an answer was lost.
type lostKey struct{}

// watch gives a context that remembers whether a write of its may have been carried out without an answer
// that says so. The library then sends it again by itself.
func watch(ctx context.Context) (context.Context, *atomic.Bool) {
	lost := new(atomic.Bool)
	return context.WithValue(ctx, lostKey{}, lost), lost
}

// witness passes requests on, and notes writes without an answer.
type witness struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (w witness) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := w.RoundTripper.RoundTrip(r)
	lost, watched := r.Context().Value(lostKey{}).(*atomic.Bool)
	if watched && r.Method == http.MethodPut && (err != nil || undecided(answer.StatusCode)) {
		lost.Store(true)
	}
	return answer, err
}

// undecided reports whether a status leaves open what was done.
func undecided(status int) bool {
	return status >= http.StatusInternalServerError || status == http.StatusRequestTimeout || status == 499
}
