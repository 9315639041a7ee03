package consoletest

import (
	"context"
	"net"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/api"
	"github.com/steno-io/steno/console/proof"
	"github.com/steno-io/steno/console/refold"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink/verify"
)

// Site is a server of the API on loopback.
type Site struct {
	*Pipeline
	URL  string
	Stop func() // waits for its end

	options api.Options
}

// Options fills in what the options leave out of the pipeline's.
func (p *Pipeline) Options(o api.Options) api.Options {
	o.Conn, o.JS, o.Partitions = p.Conn, p.Streams, p.Info.Partitions
	stored := topology.Frames{JS: p.Streams, Blobs: p.Blobs, Partitions: p.Info.Partitions}
	if o.Frames == nil {
		o.Frames = stored
	}
	if o.Ledger == nil {
		o.Ledger = p.Ledger
	}
	if o.Search == nil {
		o.Search = p.Ledger
	}
	if o.Folder == nil {
		o.Folder = &refold.Source{Stored: stored, Versions: p.Ledger, Catalogue: Catalogue()}
	}
	if o.Prover == nil {
		o.Prover = p.Prover()
	}
	return o
}

// Prover proves the pipeline's captures.
func (p *Pipeline) Prover() *proof.Source {
	return &proof.Source{
		Stream: verify.Stream{JS: p.Streams, Blobs: p.Blobs, Partitions: p.Info.Partitions}, Ledger: p.Ledger, Catalogue: Catalogue(),
	}
}

// Serve serves the pipeline's transcripts; what the options leave out is the pipeline's.
func (p *Pipeline) Serve(o api.Options) *Site {
	p.t.Helper()
	s := &Site{Pipeline: p, options: p.Options(o)}
	s.listen("127.0.0.1:0")
	return s
}

// Again serves at the same address as before, once it was stopped.
func (s *Site) Again() {
	s.t.Helper()
	s.listen(s.URL[len("http://"):])
}

func (s *Site) listen(address string) {
	s.t.Helper()
	server, err := api.New(s.options)
	require.NoError(s.t, err)
	l, err := net.Listen("tcp", address)
	require.NoError(s.t, err)
	s.URL = "http://" + l.Addr().String()
	s.Stop = s.Background(func(ctx context.Context) error { return server.Serve(ctx, l) })
}
