package natstest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/freeport"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/schema/topology/embed"
)

// members of a cluster.
const members = 3

// Cluster is three servers in this process, with the topology in three replicas.
type Cluster struct {
	NC   *nats.Conn
	JS   jetstream.JetStream
	Info topology.Info

	options []embed.Options
	mu      sync.Mutex
	servers []*embed.Server
}

// StartCluster starts three servers on fresh stores. c.Replicas is set to three.
func StartCluster(t testing.TB, c topology.Config) *Cluster {
	t.Helper()
	clients, routes := freePorts(t, members), freePorts(t, members)
	cl := &Cluster{servers: make([]*embed.Server, members)}
	for i := range members {
		cl.options = append(cl.options, embed.Options{
			StoreDir: t.TempDir(), Name: fmt.Sprintf("steno-%d", i+1), Listen: clients[i],
			Cluster: &embed.Cluster{Name: "steno", Listen: routes[i], Routes: routes},
		})
	}
	for i := range members {
		cl.StartMember(t, i)
	}
	t.Cleanup(func() {
		for i := range members {
			cl.StopMember(i)
		}
	})
	cl.NC, cl.JS = connect(t, cl.URL())
	c.Replicas = members
	cl.Info = applyWhenLed(t, cl.JS, c)
	return cl
}

// applyWhenLed applies the topology as soon as the members have found each other and a leader.
func applyWhenLed(t testing.TB, js jetstream.JetStream, c topology.Config) topology.Info {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*within)
	defer cancel()
	for {
		_, err := topology.Apply(ctx, js, c)
		if err == nil {
			break
		}
		require.NoError(t, ctx.Err(), "apply the topology to the cluster: %v", err)
		time.Sleep(50 * time.Millisecond)
	}
	info, err := topology.Check(ctx, js)
	require.NoError(t, err)
	return info
}

// freePorts finds loopback addresses that nobody listens on: routes must be known before the start.
func freePorts(t testing.TB, n int) []string {
	t.Helper()
	var addresses []string
	for range n {
		address, err := freeport.Address()
		require.NoError(t, err)
		addresses = append(addresses, address)
	}
	return addresses
}

// URL lists the members' addresses.
func (c *Cluster) URL() string {
	url := ""
	for i, o := range c.options {
		if i > 0 {
			url += ","
		}
		url += "nats://" + o.Listen
	}
	return url
}

// Connect makes another connection to any member; it reconnects for ever and is closed with the test.
func (c *Cluster) Connect(t testing.TB) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	return connect(t, c.URL())
}

// StartMember starts member i, 0 to 2, on its store.
func (c *Cluster) StartMember(t testing.TB, i int) {
	t.Helper()
	server, err := embed.Start(c.options[i])
	require.NoError(t, err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.servers[i] = server
}

// StopMember stops member i, which hands over what it leads.
func (c *Cluster) StopMember(i int) {
	c.mu.Lock()
	server := c.servers[i]
	c.mu.Unlock()
	if server != nil {
		server.Shutdown()
	}
}

// Leader is the member that leads a stream; -1 while none does.
func (c *Cluster) Leader(t testing.TB, stream string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	s, err := c.JS.Stream(ctx, stream)
	require.NoError(t, err)
	for i, o := range c.options {
		if info := s.CachedInfo(); info.Cluster != nil && info.Cluster.Leader == o.Name {
			return i
		}
	}
	return -1
}
