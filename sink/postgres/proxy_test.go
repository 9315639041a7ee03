package postgres_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Messages of PostgreSQL's protocol that the proxy knows, by direction and type.
const (
	toServer   = 0
	fromServer = 1

	copyDone        = 'c' // from the client: all rows are sent
	commandComplete = 'C' // from the server
)

// proxy stands between a client and the database. It passes messages on one by one, after it has asked
// whether to cut the connection instead.
type proxy struct {
	address string
	// cut is asked before each message; true: both sides lose the connection, and the message is
	// not passed on. It is called by several goroutines.
	cut func(direction int, kind byte, body []byte) bool

	listener net.Listener
	wg       sync.WaitGroup
	mu       sync.Mutex // guards what follows
	conns    map[net.Conn]bool
	frozen   chan struct{} // closed while messages pass
}

// newProxy listens in front of a database.
func newProxy(t *testing.T, database string, cut func(int, byte, []byte) bool) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{address: l.Addr().String(), cut: cut, listener: l, conns: map[net.Conn]bool{}, frozen: make(chan struct{})}
	close(p.frozen)
	p.wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			p.wg.Go(func() { p.connection(client, database) })
		}
	})
	t.Cleanup(p.close)
	return p
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.thaw()
	p.mu.Lock()
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}

// freeze holds back all messages: each side sees a silent peer.
func (p *proxy) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = make(chan struct{})
}

func (p *proxy) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.frozen:
	default:
		close(p.frozen)
	}
}

func (p *proxy) connection(client net.Conn, database string) {
	server, err := net.Dial("tcp", database)
	if err != nil {
		_ = client.Close()
		return
	}
	p.mu.Lock()
	p.conns[client], p.conns[server] = true, true
	p.mu.Unlock()
	end := sync.OnceFunc(func() {
		_ = client.Close()
		_ = server.Close()
	})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer end()
		_ = p.pass(toServer, client, server) // it ends with the connection
	})
	wg.Go(func() {
		defer end()
		_ = p.pass(fromServer, server, client)
	})
	wg.Wait()
	p.mu.Lock()
	delete(p.conns, client)
	delete(p.conns, server)
	p.mu.Unlock()
}

var errCut = errors.New("cut")

// pass passes messages on: a type, then the length of itself and the body, then the body. The first
// from a client has no type.
func (p *proxy) pass(direction int, from, to net.Conn) error {
	r := bufio.NewReaderSize(from, 64<<10)
	typed := direction == fromServer
	for {
		head := make([]byte, 5)
		if !typed {
			head = head[1:]
		}
		if _, err := io.ReadFull(r, head); err != nil {
			return err
		}
		body := make([]byte, binary.BigEndian.Uint32(head[len(head)-4:])-4)
		if _, err := io.ReadFull(r, body); err != nil {
			return err
		}
		if typed && p.cut != nil && p.cut(direction, head[0], body) {
			return errCut
		}
		typed = true
		p.mu.Lock()
		frozen := p.frozen
		p.mu.Unlock()
		<-frozen
		if _, err := to.Write(append(head, body...)); err != nil {
			return err
		}
	}
}
