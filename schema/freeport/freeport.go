// Package freeport finds addresses on loopback that nobody listens on, for servers that tests start as processes.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Ports below those that systems give to clients: between the finding and the server's start none of them takes one.
const (
	first = 20000
	count = 10000
	tries = 1000
)

var (
	mu    sync.Mutex
	given = map[int]bool{}
)

// Address gives a free address, host:port, to this process once. Another process may take it before it is used:
// that is rare, and whoever starts a server there tries again with another one.
func Address() (string, error) {
	mu.Lock()
	defer mu.Unlock()
	var err error
	for range tries {
		port := first + rand.IntN(count)
		if given[port] {
			continue
		}
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err != nil {
			continue
		}
		given[port] = true
		return l.Addr().String(), l.Close()
	}
	return "", fmt.Errorf("find a free port from %d on: %w", first, err)
}
