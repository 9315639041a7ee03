package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/console/parked"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Options say what is served. Conn, JS, Frames, Ledger, Search, Folder, Prover and Partitions are needed.
type Options struct {
	Conn       *nats.Conn // all followers share it
	JS         jetstream.JetStream
	Frames     Frames
	Ledger     sink.Reader
	Search     sink.Searcher
	Folder     Folder // when text was typed
	Prover     Prover
	Partitions uint32 // of the streams
	// Parked gives the captures that the translators have parked, of which the ledger does not know.
	Parked func(context.Context) ([]schema.Identity, error)
	// Sealed gives the last frame of a capture that is sealed, 0 if none is; known is false where there is no archive to
	// look into. nil: there is none.
	Sealed func(ctx context.Context, id schema.Identity) (frame uint64, known bool, err error)
	// Namespaces are those that are served; empty = all. What is in others is answered as what is nowhere.
	Namespaces []string
	// Operators are who may intervene; none = nobody.
	Operators Operators
	// Hosts are the names, besides this machine's own, under which a server on loopback answers.
	Hosts []string
	// Web answers what is not the API's own; nil = there is nothing else.
	Web http.Handler
	// Grace is how long it goes on answering, not ready, once it was told to stop.
	Grace     time.Duration
	Heartbeat time.Duration // of a stream that says nothing; 0 = 10 s
	Stall     time.Duration // how long a client takes nothing before it is cut off; 0 = 30 s
	Poll      time.Duration // of followers; 0 = 2 s
	Log       zerolog.Logger
}

// Server answers requests. It is used once.
type Server struct {
	o       Options
	hub     *follow.Hub
	view    parked.View     // of the ledger
	stopped context.Context // its end ends all streams
	stop    context.CancelFunc

	streams   atomic.Int64
	folds     chan struct{} // has an entry for each fold that runs
	proofs    *proofs
	stopping  atomic.Bool
	answering answering
}

// New makes a server. It starts nothing.
func New(o Options) (*Server, error) {
	switch {
	case o.JS == nil:
		return nil, errors.New("make API server: no streams")
	case o.Frames == nil:
		return nil, errors.New("make API server: no frames")
	case o.Search == nil:
		return nil, errors.New("make API server: no search")
	case o.Folder == nil:
		return nil, errors.New("make API server: nothing that folds")
	case o.Prover == nil:
		return nil, errors.New("make API server: nothing that proves")
	}
	for _, namespace := range o.Namespaces {
		if !schema.IsToken(namespace) {
			return nil, fmt.Errorf("make API server: namespace %q is not 1 to %d characters of [A-Za-z0-9_-]", namespace, schema.MaxToken)
		}
	}
	if o.Parked == nil {
		o.Parked = func(context.Context) ([]schema.Identity, error) { return nil, nil }
	}
	if o.Heartbeat <= 0 {
		o.Heartbeat = 10 * time.Second
	}
	if o.Stall <= 0 {
		o.Stall = 30 * time.Second
	}
	s := &Server{o: o, folds: make(chan struct{}, maxFolds), proofs: newProofs()}
	var err error
	if s.hub, err = follow.NewHub(o.Conn, o.Ledger, o.Partitions); err != nil {
		return nil, fmt.Errorf("make API server: %w", err)
	}
	list := &parkedList{connected: o.Conn.IsConnected, list: o.Parked, log: o.Log}
	s.view = parked.View{Reader: o.Ledger, Searcher: o.Search, Parked: list.now}
	s.stopped, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// serves reports whether what is in a namespace may be seen.
func (s *Server) serves(namespace string) bool {
	return len(s.o.Namespaces) == 0 || slices.Contains(s.o.Namespaces, namespace)
}
