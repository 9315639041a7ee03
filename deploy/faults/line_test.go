//go:build faults

package faults

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// evidence is what was seen on the wire.
type evidence struct {
	fencedRaw, fencedEvent, fencedOther atomic.Int64 // answers 10071, by what was published
	busy                                atomic.Int64 // answers 10164
	refused                             atomic.Int64 // publishes that never reached a server
	lost                                atomic.Int64 // clean acknowledgements that never reached a client
	cuts, stalls                        atomic.Int64 // connections
}

// trouble is what a line does to the next publish of a frame or a record.
type trouble int

const (
	refuse  trouble = iota + 1 // it does not reach the server, and an error is answered
	lose                       // it does, and the answer does not come back
	loseCut                    // likewise, and the connection is cut
)

// line is what stands between one process and the servers: a TCP proxy for each, which reads what
// passes.
type line struct {
	seen      *evidence
	listeners []net.Listener
	users     string

	mu     sync.Mutex
	links  map[*link]struct{}
	armed  []trouble
	until  time.Time // nothing passes before
	closed bool
	wg     sync.WaitGroup
}

// newLine makes a line to servers, of which user:password@ is asked.
func newLine(servers []string, user string, seen *evidence) (*line, error) {
	l := &line{seen: seen, users: user, links: map[*link]struct{}{}}
	for _, server := range servers {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			l.close()
			return nil, err
		}
		l.listeners = append(l.listeners, listener)
		l.wg.Go(func() { l.serve(listener, server) })
	}
	return l, nil
}

// url is where the process finds the servers.
func (l *line) url() string {
	var urls []string
	for _, listener := range l.listeners {
		urls = append(urls, fmt.Sprintf("nats://%s@%s", l.users, listener.Addr()))
	}
	return strings.Join(urls, ",")
}

func (l *line) serve(listener net.Listener, server string) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		upstream, err := net.Dial("tcp", server)
		if err != nil {
			_ = client.Close() // as the server, which is down, would
			continue
		}
		k := &link{
			line: l, client: client, server: upstream, toClient: bufio.NewWriterSize(client, buffer),
			asked: map[string]string{}, swallow: map[string]trouble{},
		}
		l.mu.Lock()
		l.links[k] = struct{}{}
		closed := l.closed
		l.mu.Unlock()
		if closed {
			k.close()
		}
		l.wg.Go(k.run)
	}
}

func (l *line) gone(k *link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.links, k)
}

// cut cuts all connections.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k := range l.links {
		l.seen.cuts.Add(1)
		k.close()
	}
}

// stall lets nothing pass for a while.
func (l *line) stall(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen.stalls.Add(int64(len(l.links)))
	l.until = time.Now().Add(d)
}

// arm prepares trouble for the next publish.
func (l *line) arm(t trouble) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = append(l.armed, t)
}

// calm ends all trouble.
func (l *line) calm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed, l.until = nil, time.Time{}
}

// next takes the trouble for a publish, 0 for none.
func (l *line) next() trouble {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.armed) == 0 {
		return 0
	}
	t := l.armed[0]
	l.armed = l.armed[1:]
	return t
}

var errClosed = errors.New("the line is closed")

// pass waits while the line is stalled.
func (l *line) pass() error {
	for {
		l.mu.Lock()
		wait, closed := time.Until(l.until), l.closed
		l.mu.Unlock()
		if closed {
			return errClosed
		}
		if wait <= 0 {
			return nil
		}
		time.Sleep(min(wait, 50*time.Millisecond))
	}
}

// close cuts everything for good and waits until it is gone.
func (l *line) close() {
	l.mu.Lock()
	l.closed = true
	for _, listener := range l.listeners {
		_ = listener.Close() // it only listened
	}
	for k := range l.links {
		k.close()
	}
	l.mu.Unlock()
	l.wg.Wait()
}
