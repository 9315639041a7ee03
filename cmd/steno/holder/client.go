package holder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// ErrGone: the directory's holder went away and none has come for Patience.
var ErrGone = errors.New("nobody holds the data directory any more")

// Patience is how long a command waits for the next holder.
const Patience = 2 * time.Minute

// Client is a connection to whoever holds a directory: when the holder changes, the connection moves
// to the next one.
type Client struct {
	Conn *nats.Conn
	gone chan struct{}
	once sync.Once
}

// Connect connects to the directory's holder and waits for one up to Patience; the error then wraps
// ErrGone.
func (d Dir) Connect(ctx context.Context, name string) (*Client, error) {
	c := &Client{gone: make(chan struct{})}
	var mu sync.Mutex
	var timer *time.Timer
	options := []nats.Option{
		nats.Name(name),
		nats.SetCustomDialer(dialer{d}),
		nats.TokenHandler(func() string {
			token, err := d.readToken()
			if err != nil {
				return "" // refused by the server, and tried again
			}
			return token
		}),
		nats.MaxReconnects(-1), nats.ReconnectWait(50 * time.Millisecond), nats.ReconnectJitter(20*time.Millisecond, 0),
		nats.IgnoreAuthErrorAbort(), nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(*nats.Conn, error) {
			mu.Lock()
			defer mu.Unlock()
			timer = time.AfterFunc(Patience, func() { c.once.Do(func() { close(c.gone) }) })
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			mu.Lock()
			defer mu.Unlock()
			if timer != nil {
				timer.Stop()
			}
		}),
	}
	deadline := time.Now().Add(Patience)
	for {
		conn, err := nats.Connect(nats.DefaultURL, options...)
		if err == nil {
			c.Conn = conn
			return c, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("connect to the holder of %s: %w: %w", d, ErrGone, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Gone is closed when no holder has come for Patience.
func (c *Client) Gone() <-chan struct{} { return c.gone }

// Close closes the connection.
func (c *Client) Close() { c.Conn.Close() }

// dialer connects to the holder of now, whatever address it is asked for.
type dialer struct{ dir Dir }

// Dial implements nats.CustomDialer.
func (d dialer) Dial(string, string) (net.Conn, error) {
	held, err := d.dir.Held()
	if err != nil {
		return nil, err
	}
	if !held {
		return nil, fmt.Errorf("dial the holder of %s: %w", d.dir, fs.ErrNotExist)
	}
	a, err := d.dir.ReadAddress()
	if err != nil {
		return nil, err
	}
	return net.DialTimeout("tcp", a.Server, 2*time.Second)
}
