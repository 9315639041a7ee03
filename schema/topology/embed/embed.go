// Package embed runs a NATS server inside the process. It takes no lock: two servers on one store
// directory lose acknowledged messages, so whoever starts one holds the directory's lock first.
package embed

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// MaxPayload is the default bound of a message in bytes. Larger frames go to the blob bucket well
// below it.
const MaxPayload = 1 << 20

// readyWithin bounds the start: a large store is read first, about half a second a million messages.
const (
	readyWithin = 2 * time.Minute
	readyLook   = 50 * time.Millisecond
)

// Options is what a server is started with.
type Options struct {
	StoreDir string // where the streams live; made if it is missing
	Name     string // the server's name; empty: steno
	// Listen is the TCP address of other processes, such as 127.0.0.1:0; empty: none, and only
	// Connect reaches the server.
	Listen string
	Token  string // that a connection shows; empty: none
	// SyncAlways has every write fsynced before its ack. Otherwise writes are fsynced each
	// SyncInterval (0: the server's 2 minutes): a power cut loses what is younger, a killed process
	// nothing.
	SyncAlways   bool
	SyncInterval time.Duration
	MaxPayload   int32 // bytes; 0: MaxPayload
	Cluster      *Cluster
	Log          func(Line) // takes the server's log lines, from any goroutine; nil: dropped
}

// Cluster makes the server one of several.
type Cluster struct {
	Name   string
	Listen string   // address of the routes
	Routes []string // addresses of the members' routes
}

// Server is a running server.
type Server struct {
	ns    *server.Server
	token string
}

// Start starts a server and returns once it takes connections.
func Start(o Options) (*Server, error) {
	opts, err := o.server()
	if err != nil {
		return nil, fmt.Errorf("start embedded server: %w", err)
	}
	ns, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("start embedded server on %s: %w", o.StoreDir, err)
	}
	// Start only logs what is wrong with a store and then shuts down; keep the reason.
	log := newLog(o.Log)
	ns.SetLogger(log, false, false)
	ns.Start()
	if err := ready(ns, log); err != nil {
		ns.Shutdown()
		ns.WaitForShutdown()
		return nil, fmt.Errorf("start embedded server on %s: %w", o.StoreDir, err)
	}
	return &Server{ns: ns, token: o.Token}, nil
}

// ready waits until the server takes connections or has said why it never will.
func ready(ns *server.Server, log *serverLog) error {
	for end := time.Now().Add(readyWithin); time.Now().Before(end); {
		if ns.ReadyForConnections(readyLook) {
			return nil
		}
		if reason := log.fatal(); reason != "" {
			return errors.New(reason)
		}
	}
	return fmt.Errorf("not ready within %s", readyWithin)
}

func (o Options) server() (*server.Options, error) {
	if o.StoreDir == "" {
		return nil, errors.New("no store directory")
	}
	opts := &server.Options{
		ServerName:    o.Name,
		JetStream:     true,
		StoreDir:      o.StoreDir,
		NoSigs:        true, // the process's signals are its own
		DontListen:    o.Listen == "",
		Authorization: o.Token,
		SyncAlways:    o.SyncAlways,
		SyncInterval:  o.SyncInterval,
		MaxPayload:    o.MaxPayload,
	}
	if opts.ServerName == "" {
		opts.ServerName = "steno"
	}
	if opts.MaxPayload == 0 {
		opts.MaxPayload = MaxPayload
	}
	var err error
	if o.Listen != "" {
		if opts.Host, opts.Port, err = address(o.Listen); err != nil {
			return nil, err
		}
	}
	if o.Cluster != nil {
		opts.Cluster.Name = o.Cluster.Name
		if opts.Cluster.Host, opts.Cluster.Port, err = address(o.Cluster.Listen); err != nil {
			return nil, err
		}
		for _, route := range o.Cluster.Routes {
			opts.Routes = append(opts.Routes, server.RoutesFromStr("nats://"+route)...)
		}
	}
	return opts, nil
}

// address splits host:port; port 0 is any free one.
func address(s string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(s)
	if err != nil {
		return "", 0, fmt.Errorf("parse listen address %q: %w", s, err)
	}
	if port, err = strconv.Atoi(text); err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("parse listen address %q: want a port of 0 to 65535", s)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	return host, port, nil
}

// URL is the address of other processes; empty if the server listens on none.
func (s *Server) URL() string {
	addr := s.ns.Addr()
	if addr == nil {
		return ""
	}
	return "nats://" + addr.String()
}

// Connect connects inside the process. The caller closes the connection before Shutdown.
func (s *Server) Connect(options ...nats.Option) (*nats.Conn, error) {
	all := []nats.Option{nats.InProcessServer(s.ns)}
	if s.token != "" {
		all = append(all, nats.Token(s.token))
	}
	nc, err := nats.Connect("", append(all, options...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to embedded server: %w", err)
	}
	return nc, nil
}

// Shutdown stops the server and returns once its store is closed. It may be called again.
func (s *Server) Shutdown() {
	s.ns.Shutdown()
	s.ns.WaitForShutdown()
}
