package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

// A tap whose NATS user may not take interventions says so, once, and what to do.
func TestATapWithoutTheRightToInterventions(t *testing.T) {
	t.Parallel()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, Users: []*server.User{{
		Username: "tap", Password: "x", Permissions: &server.Permissions{Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}}},
	}}})
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	require.True(t, s.ReadyForConnections(20*time.Second))
	var out bytes.Buffer
	a := &app{log: zerolog.New(&out).Level(zerolog.WarnLevel)}
	over := errors.New("over")
	url := strings.Replace(s.ClientURL(), "//", "//tap:x@", 1)
	require.ErrorIs(t, a.attendOnce(t.Context(), url, func(_ context.Context, conn *nats.Conn) error {
		closed := make(chan struct{})
		conn.SetClosedHandler(func(*nats.Conn) { close(closed) }) // behind what was said of errors
		for _, subject := range []string{"steno.intervene.a.>", "steno.intervene.b.>"} {
			_, err := conn.SubscribeSync(subject)
			require.NoError(t, err)
		}
		require.NoError(t, conn.Flush())
		conn.Close()
		<-closed
		return over
	}), over)
	require.Equal(t, 1, strings.Count(out.String(), `"level":"warn"`), out.String())
	require.Contains(t, out.String(), "allow the tap's NATS user to subscribe to steno.intervene.>")
}
