// Package natstest gives each test a NATS server of its own, real and with a file store, on which
// the topology is applied.
package natstest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/schema/topology/embed"
)

// within bounds each wait for a server.
const within = 30 * time.Second

// Options of a test's server. The zero value is a server with lazy sync and the default topology.
type Options struct {
	SyncAlways bool
	Config     topology.Config
	Bare       bool // leave the topology to the test
}

// Server is a test's server. It and its connections end with the test.
type Server struct {
	NC   *nats.Conn
	JS   jetstream.JetStream
	Info topology.Info // zero on a bare server
	Dir  string        // the store

	options Options
	mu      sync.Mutex
	server  *embed.Server
	listen  string
}

// Start starts a server on a fresh store.
func Start(t testing.TB) *Server { return StartWith(t, Options{}) }

// StartWith starts a server with options on a fresh store.
func StartWith(t testing.TB, o Options) *Server {
	t.Helper()
	s := &Server{Dir: t.TempDir(), options: o, listen: "127.0.0.1:0"}
	s.up(t)
	t.Cleanup(func() { s.Stop() })
	s.NC, s.JS = s.Connect(t)
	if !o.Bare {
		s.Info = apply(t, s.JS, o.Config)
	}
	return s
}

func apply(t testing.TB, js jetstream.JetStream, c topology.Config) topology.Info {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	_, err := topology.Apply(ctx, js, c)
	require.NoError(t, err)
	info, err := topology.Check(ctx, js)
	require.NoError(t, err)
	return info
}

// up starts the server at the address that it had before, so that connections come back by
// themselves.
func (s *Server) up(t testing.TB) {
	t.Helper()
	server, err := embed.Start(embed.Options{StoreDir: s.Dir, Listen: s.listen, SyncAlways: s.options.SyncAlways})
	require.NoError(t, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server, s.listen = server, server.URL()[len("nats://"):]
}

// URL is the server's address; it stays the same over restarts.
func (s *Server) URL() string { return "nats://" + s.listen }

// Connect makes another connection over loopback TCP. It reconnects for ever and is closed with the
// test.
func (s *Server) Connect(t testing.TB) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	return connect(t, s.URL())
}

func connect(t testing.TB, url string) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond), nats.ReconnectJitter(0, 0))
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	return nc, js
}

// InProcess makes a connection without a socket, as the embedded pipeline has. It does not survive
// a restart, and is closed with the test.
func (s *Server) InProcess(t testing.TB) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	s.mu.Lock()
	server := s.server
	s.mu.Unlock()
	nc, err := server.Connect()
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	return nc, js
}

// Stop stops the server and keeps its store; Restart starts it again.
func (s *Server) Stop() {
	s.mu.Lock()
	server := s.server
	s.mu.Unlock()
	server.Shutdown()
}

// Restart stops the server, if it runs, and starts it on the same store and address. Connections
// come back by themselves, and NC is back: what was written to one that has not heard of the server's end is never
// answered. Consumers in memory and open batches are gone.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	before := s.NC.Stats().Reconnects // while the server is stopped there is none
	s.Stop()
	s.up(t)
	require.Eventually(t, func() bool { return s.NC.IsClosed() || s.NC.Stats().Reconnects > before }, within, time.Millisecond)
}
