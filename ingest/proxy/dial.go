package proxy

import (
	"context"
	"net"
	"time"
)

// dial connects to a peer. Keep-alive probes tell of one that vanished without a word.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialWait, KeepAlive: 30 * time.Second}
	return d.DialContext(ctx, network, address)
}
