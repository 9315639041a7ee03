package holder

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// ErrGone: the directory's holder went away and none has come for Patience.
var ErrGone = errors.New("nobody holds the data directory any more")

// Patience is how long a command waits for the next holder.
const Patience = 2 * time.Minute

// Times of a client.
const (
	dialWithin = 2 * time.Second
	dialEvery  = 50 * time.Millisecond
)

// Client is a connection to whoever holds a directory: when the holder changes, the connection moves
// to the next one.
type Client struct {
	Conn *nats.Conn
	dir  Dir
	gone chan struct{}
	lost chan struct{}

	mu      sync.Mutex
	closed  bool
	timer   *time.Timer     // of the holder's absence; nil while there is one
	present context.Context // ends when the connection that there is, or the next one, is lost
	end     context.CancelFunc
	changes uint64
}

// Connect connects to the directory's holder and waits for one up to Patience; the error then wraps
// ErrGone.
func (d Dir) Connect(ctx context.Context, name string) (*Client, error) {
	return d.ConnectOr(ctx, name, func() error { return nil })
}

// ConnectOr is Connect for those who may hold the directory themselves: it calls vacant between its
// tries, and returns vacant's error.
func (d Dir) ConnectOr(ctx context.Context, name string, vacant func() error) (*Client, error) {
	deadline := time.Now().Add(Patience)
	for {
		c, err := d.dial(name)
		if err == nil {
			return c, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("connect to the holder of %s: %w: %w", d, ErrGone, err)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(dialEvery):
		}
		if err := vacant(); err != nil {
			return nil, err
		}
	}
}

// dial connects to the holder that there is.
func (d Dir) dial(name string) (c *Client, err error) {
	c = &Client{dir: d, gone: make(chan struct{}), lost: make(chan struct{}, 1)}
	c.present, c.end = context.WithCancel(context.Background())
	c.Conn, err = nats.Connect(nats.DefaultURL,
		nats.Name(name),
		nats.SetCustomDialer(dialer{d}),
		nats.TokenHandler(func() string {
			token, err := d.readToken()
			if err != nil {
				return "" // refused by the server, and tried again
			}
			return token
		}),
		nats.MaxReconnects(-1), nats.ReconnectWait(dialEvery), nats.ReconnectJitter(20*time.Millisecond, 0),
		nats.IgnoreAuthErrorAbort(), nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { c.disconnected() }),
		nats.ReconnectHandler(func(*nats.Conn) { c.reconnected() }),
	)
	if err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

func (c *Client) disconnected() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end()
	c.present, c.end = context.WithCancel(context.Background())
	c.changes++
	if c.closed {
		c.end()
		return
	}
	if c.timer == nil {
		c.timer = time.AfterFunc(Patience, func() { close(c.gone) })
	}
	select {
	case c.lost <- struct{}{}:
	default:
	}
}

func (c *Client) reconnected() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	if c.timer != nil && c.timer.Stop() {
		c.timer = nil
	}
}

// Gone is closed when no holder has come for Patience.
func (c *Client) Gone() <-chan struct{} { return c.gone }

// Lost holds a token when the connection may have been lost since it was last read.
func (c *Client) Lost() <-chan struct{} { return c.lost }

// Connected reports whether there is a connection to a holder.
func (c *Client) Connected() bool { return c.Conn.IsConnected() }

// Changes counts how often a connection was lost or made: what was asked meanwhile may have been lost.
func (c *Client) Changes() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// Close closes the connection.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	if c.timer != nil {
		c.timer.Stop()
	}
	c.end()
	c.mu.Unlock()
	c.Conn.Close()
}

// dialer connects to the holder of now, whatever address it is asked for. It never touches the lock:
// a free directory must not look held to others.
type dialer struct{ dir Dir }

// Dial implements nats.CustomDialer.
func (d dialer) Dial(string, string) (net.Conn, error) {
	a, err := d.dir.ReadAddress()
	if err != nil {
		return nil, err
	}
	return net.DialTimeout("tcp", a.Server, dialWithin)
}
