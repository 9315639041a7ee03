package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Serve serves handler on l until ctx ends, or l fails. Then nothing more is taken, what runs may go
// on for the grace, or until Hurry, and what runs on is cut off; it returns when the journal holds the
// end of every exchange. The end of ctx is no error.
func (p *Proxy) Serve(ctx context.Context, l net.Listener, handler http.Handler) error {
	base, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	var own running
	server := &http.Server{
		Handler:           own.count(handler),
		BaseContext:       func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: 10 * time.Second, // answers may take for ever, the head of a request not
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(panics{&p.notices}, "", 0),
		Protocols:         new(http.Protocols),
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 1000, SendPingTimeout: pingAfter, PingTimeout: pingWait},

		DisableGeneralOptionsHandler: true, // the peer's to answer
	}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
		err = fmt.Errorf("serve on %s: %w", l.Addr(), err)
	}
	wait, cancel := context.WithTimeout(base, p.grace)
	defer cancel()
	go func() {
		select {
		case <-p.hurry:
			cancel()
		case <-wait.Done():
		}
	}()
	shut := server.Shutdown(wait)
	cut(errStopped)
	// What waits for a client that does not read ends only with its connection.
	if shut != nil {
		if closed := server.Close(); closed != nil && !errors.Is(closed, net.ErrClosed) {
			err = errors.Join(err, fmt.Errorf("close connections: %w", closed))
		}
	}
	own.wait()
	return err
}

// panics says what should never happen; whatever else net/http logs stands in the close entries.
type panics struct{ notices *notices }

func (p panics) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("panic")) {
		p.notices.once(string(b))
	}
	return len(b), nil
}

// running counts the requests in a handler.
type running struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // made by who waits
}

func (r *running) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.add(1)
		defer r.add(-1)
		next.ServeHTTP(w, req)
	})
}

func (r *running) add(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n += n; r.n == 0 && r.none != nil {
		close(r.none)
		r.none = nil
	}
}

// wait returns at a moment when no request runs.
func (r *running) wait() {
	r.mu.Lock()
	if r.n == 0 {
		r.mu.Unlock()
		return
	}
	if r.none == nil {
		r.none = make(chan struct{})
	}
	none := r.none
	r.mu.Unlock()
	<-none
}
