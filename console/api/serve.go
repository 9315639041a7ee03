package api

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"time"
)

// Times and sizes of connections. There is no limit on reading a whole request: one with a body is
// refused, and a stream's would end with it.
const (
	headerWithin = 10 * time.Second
	answerWithin = 60 * time.Second // a page to be written; streams have their own
	idleWithin   = 2 * time.Minute
	stopWithin   = 3 * time.Second // for answers that are being written when the server stops
	maxHeader    = 32 << 10
	sendBuffer   = 256 << 10 // of the system, for each connection: what a slow client has not taken
)

// Serve answers on the listener, which it closes, until ctx ends, which is no error. It is then not
// ready for Options.Grace, ends the streams, and waits a little for the other answers.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer s.stop()
	server := &http.Server{
		Handler:           s.handler(isLoopback(l.Addr())),
		ReadHeaderTimeout: headerWithin, WriteTimeout: answerWithin, IdleTimeout: idleWithin, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(faults{s}, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetWriteBuffer(sendBuffer) // the system's own does as well
			}
			return ctx
		},
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }() // end waits for it
	select {
	case err := <-served:
		served <- err
		return errors.Join(fmt.Errorf("serve on %s: %w", l.Addr(), err), s.end(ctx, server, served))
	case <-ctx.Done():
	}
	s.stopping.Store(true)
	if s.o.Grace > 0 {
		select {
		case err := <-served:
			served <- err
			return errors.Join(fmt.Errorf("serve on %s: %w", l.Addr(), err), s.end(ctx, server, served))
		case <-time.After(s.o.Grace):
		}
	}
	if err := s.end(ctx, server, served); err != nil {
		return fmt.Errorf("stop serving on %s: %w", l.Addr(), err)
	}
	return nil
}

// end ends the streams, waits a little for the other answers, then ends them, too. Nothing of the server
// runs when it returns.
func (s *Server) end(ctx context.Context, server *http.Server, served <-chan error) error {
	s.stop()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	err := server.Shutdown(ending)
	if errors.Is(err, context.DeadlineExceeded) { // clients that take no more
		err = nil
	}
	err = errors.Join(err, server.Close())
	<-served
	s.answering.close()
	return err
}

// faults logs what the HTTP server has to say.
type faults struct{ s *Server }

// Write implements io.Writer.
func (f faults) Write(line []byte) (int, error) {
	f.s.o.Log.Warn().Msg(strings.TrimSpace(string(line)))
	return len(line), nil
}

func isLoopback(address net.Addr) bool {
	at, ok := address.(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}
