package embed_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/topology/embed"
)

func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestInsideTheProcessOnly(t *testing.T) {
	s, err := embed.Start(embed.Options{StoreDir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(s.Shutdown)
	require.Empty(t, s.URL())
	nc, err := s.Connect()
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	require.Equal(t, int64(embed.MaxPayload), nc.MaxPayload())
	require.Equal(t, "steno", nc.ConnectedServerName())
}

func TestListenWithAToken(t *testing.T) {
	s, err := embed.Start(embed.Options{StoreDir: t.TempDir(), Listen: "127.0.0.1:0", Token: "secret", MaxPayload: 2 << 20, Name: "x"})
	require.NoError(t, err)
	t.Cleanup(s.Shutdown)
	_, err = nats.Connect(s.URL())
	require.ErrorIs(t, err, nats.ErrAuthorization)
	nc, err := nats.Connect(s.URL(), nats.Token("secret"))
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	require.Equal(t, int64(2<<20), nc.MaxPayload())
	inside, err := s.Connect()
	require.NoError(t, err, "a connection inside the process shows the token by itself")
	t.Cleanup(inside.Close)
	require.Equal(t, "x", inside.ConnectedServerName())
}

func TestStoreOutlivesTheServer(t *testing.T) {
	for _, always := range []bool{true, false} {
		dir := t.TempDir()
		options := embed.Options{StoreDir: dir, SyncAlways: always, SyncInterval: time.Second}
		for run := range 3 {
			s, err := embed.Start(options)
			require.NoError(t, err)
			nc, err := s.Connect()
			require.NoError(t, err)
			js, err := jetstream.New(nc)
			require.NoError(t, err)
			_, err = js.CreateOrUpdateStream(deadline(t), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}})
			require.NoError(t, err)
			ack, err := js.Publish(deadline(t), "s", nil)
			require.NoError(t, err)
			require.Equal(t, uint64(run+1), ack.Sequence)
			nc.Close()
			s.Shutdown()
			s.Shutdown() // again does nothing
		}
	}
}

func TestLogLinesAreHandedOn(t *testing.T) {
	var mu sync.Mutex
	var lines []embed.Line
	s, err := embed.Start(embed.Options{StoreDir: t.TempDir(), Log: func(l embed.Line) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, l)
	}})
	require.NoError(t, err)
	s.Shutdown()
	mu.Lock()
	defer mu.Unlock()
	var texts []string
	for _, l := range lines {
		require.Contains(t, []embed.Level{embed.Info, embed.Warn}, l.Level, l.Text)
		texts = append(texts, l.Text)
	}
	require.Contains(t, texts, "Server is ready")
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	tests := []struct {
		name    string
		options embed.Options
		want    string
	}{
		{"no store", embed.Options{}, "no store directory"},
		{"address", embed.Options{StoreDir: t.TempDir(), Listen: "nowhere"}, `parse listen address "nowhere"`},
		{"port", embed.Options{StoreDir: t.TempDir(), Listen: "127.0.0.1:70000"}, "want a port"},
		{"route", embed.Options{StoreDir: t.TempDir(), Cluster: &embed.Cluster{Name: "c", Listen: "x"}}, `parse listen address "x"`},
		{"store is a file", embed.Options{StoreDir: file}, file},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := embed.Start(tt.options)
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, "start embedded server")
		})
	}

	s, err := embed.Start(embed.Options{StoreDir: t.TempDir(), Listen: "127.0.0.1:0"})
	require.NoError(t, err)
	t.Cleanup(s.Shutdown)
	_, err = embed.Start(embed.Options{StoreDir: t.TempDir(), Listen: s.URL()[len("nats://"):]})
	require.ErrorContains(t, err, "in use", "the port is another's")
}
