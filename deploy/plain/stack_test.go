package plain_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/deploy/plain"
)

// The three servers of the Compose file, alone: one that is killed comes back with what it held.
func TestThreeServers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	program := filepath.Join(t.TempDir(), "nats-server")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/nats-io/nats-server/v2").CombinedOutput()
	require.NoError(t, err, string(out))
	members := []string{"nats-1", "nats-2", "nats-3"}
	s, err := plain.Start(ctx, plain.Options{
		Compose: compose, Dir: t.TempDir(), Only: members, Programs: map[string]string{"nats-server": program},
		Variables:    map[string]string{"STENO_NATS_PASSWORD": "0123", "STENO_DB_PASSWORD": "none"},
		RestartAfter: 500 * time.Millisecond,
	})
	t.Cleanup(func() { require.NoError(t, s.Stop(), s.Logs()) })
	require.NoError(t, err)
	require.Equal(t, members, s.Names())
	for _, name := range members {
		require.NoError(t, s.Healthy(ctx, name), s.Logs())
	}
	address, err := s.Address("nats-2:4222")
	require.NoError(t, err)
	_, err = nats.Connect("nats://" + address)
	require.ErrorIs(t, err, nats.ErrAuthorization)
	conn, err := nats.Connect("nats://steno:0123@"+address, nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	stream, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "KEPT", Subjects: []string{"kept"}, Replicas: 3})
	require.NoError(t, err)
	_, err = js.Publish(ctx, "kept", []byte("before"))
	require.NoError(t, err)

	require.NoError(t, s.Kill("nats-2"))
	require.Eventually(t, func() bool { return !conn.IsConnected() }, time.Minute, time.Millisecond)
	require.NoError(t, s.Healthy(ctx, "nats-2"))
	require.Eventually(t, func() bool {
		m, err := stream.GetLastMsgForSubject(ctx, "kept")
		return err == nil && string(m.Data) == "before"
	}, 30*time.Second, 20*time.Millisecond)
	require.Error(t, s.Kill("postgres"), "what does not run here cannot be killed")
}
