package api

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// sluggish is a client that takes a second for whatever it is sent.
type sluggish struct{ took int }

func (s *sluggish) Header() http.Header              { return http.Header{} }
func (s *sluggish) WriteHeader(int)                  {}
func (s *sluggish) FlushError() error                { return nil }
func (s *sluggish) SetWriteDeadline(time.Time) error { return nil }

func (s *sluggish) Write(text []byte) (int, error) {
	s.took++
	time.Sleep(time.Second)
	return len(text), nil
}

// TestLinesWaitForAClientForSoLongInAll: one that always takes a little more is cut off, too.
func TestLinesWaitForAClientForSoLongInAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &sluggish{}
		lines := &lineWriter{w: client, control: http.NewResponseController(client), left: 3500 * time.Millisecond}
		for range 10 {
			lines.line([]byte("{}"))
			lines.flush()
			time.Sleep(time.Hour) // of the fold: it is not the client's
		}
		require.ErrorIs(t, lines.err, errSlow)
		require.Equal(t, 4, client.took)
	})
}
