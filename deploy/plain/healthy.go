package plain

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// ErrEnded marks a wait for a process that has ended.
var ErrEnded = errors.New("it has ended")

// Healthy waits until a health check answers with 200. The error is ctx's, with the last answer's, or
// ErrEnded when ended is closed; nil: nobody says.
func Healthy(ctx context.Context, url string, ended <-chan struct{}) error {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			if err = answer.Body.Close(); err == nil && answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return errors.Join(errors.New("wait until it is healthy"), ctx.Err(), err)
		case <-ended:
			return ErrEnded
		case <-time.After(look):
		}
	}
}
