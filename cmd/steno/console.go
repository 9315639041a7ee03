package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/console/api"
	"github.com/steno-io/steno/console/proof"
	"github.com/steno-io/steno/console/web"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/verify"
	"github.com/steno-io/steno/translate/stage"
)

// consoleFlags say where the console is served, and what of.
type consoleFlags struct {
	listen     string
	namespaces []string
	hosts      []string
	operators  string
	grace      time.Duration
	archive    string // in which captures are sealed, if that is known by another flag
}

const (
	consoleAddress = "127.0.0.1:7070"
	listenOff      = "off"
)

func (f *consoleFlags) register(cmd *cobra.Command, usage string) {
	p := cmd.Flags()
	p.StringVar(&f.listen, "listen", consoleAddress, usage)
	p.StringArrayVar(&f.hosts, "allow-host", nil, "also answer requests for this host name, such as a reverse proxy's, on loopback; may be repeated")
	p.StringVar(&f.operators, "operators", "", "file that names who may intervene over HTTP: lines of a name and a token (without it nobody may)")
}

func (a *app) consoleCommand() *cobra.Command {
	var f consoleFlags
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Serve transcripts over HTTP: lists, events, live streams, search",
		Long: `console serves the transcripts of the data directory, or of a cluster (--nats and
--ledger), over HTTP, until stopped: lists, events and frames as JSON, what is said
now as server-sent events, and the search. /v1/openapi.json describes it. steno up
serves the same for its own data directory.

It asks nobody who reads who they are and has no TLS: keep it on loopback, or behind
what does. On loopback it answers requests for localhost only, unless --allow-host
names another host. It only reads, unless --operators names a file of who may
intervene (steno cancel --help): a name and a token a line, readable by you alone.`,
		Example: `  steno console
  curl -s http://127.0.0.1:7070/v1/transcripts | jq -r '.transcripts[].key'
  curl -sN http://127.0.0.1:7070/v1/transcripts/KEY/stream
  steno console --nats nats://127.0.0.1:4222 --ledger postgres://steno@127.0.0.1/steno
  steno console --listen 127.0.0.1:0 --namespace mill --namespace bakery`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.console(cmd.Context(), &f) },
	}
	f.register(cmd, "host:port to serve on; port 0: any free one")
	cmd.Flags().StringArrayVar(&f.namespaces, "namespace", nil, "serve this namespace only, as if there were no other; may be repeated")
	cmd.Flags().DurationVar(&f.grace, "grace", 0, "how long to go on answering, /readyz with 503, once told to stop")
	a.ledgerFlag(cmd)
	a.archiveFlag(cmd)
	return cmd
}

func (a *app) console(ctx context.Context, f *consoleFlags) error {
	for _, namespace := range f.namespaces {
		if !schema.IsToken(namespace) {
			return a.badValue(fmt.Errorf("--namespace %q: want 1 to %d characters of [A-Za-z0-9_-]", namespace, schema.MaxToken), "namespace")
		}
	}
	if f.grace < 0 {
		return a.badValue(fmt.Errorf("--grace %s: want 0 or more", f.grace), "grace")
	}
	l, err := a.listenConsole("console", f)
	if err != nil {
		return err
	}
	return a.serveConsole(ctx, "console", l, f)
}

// listenConsole takes the port before anything else is done; nil if there is to be no console.
func (a *app) listenConsole(command string, f *consoleFlags) (net.Listener, error) {
	if f.listen == listenOff && command != "console" {
		return nil, nil
	}
	if !isAddress(f.listen) {
		want := "host:port, such as " + consoleAddress
		if command != "console" {
			want += ", or off"
		}
		return nil, a.badValue(fmt.Errorf("--listen %q: want %s", f.listen, want), "listen")
	}
	l, err := net.Listen("tcp", f.listen)
	if err == nil {
		return l, nil
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s: --listen: %w", command, err)
	}
	instead := "--listen 127.0.0.1:0 takes any free port"
	if command != "console" {
		instead += ", --listen off does without the console"
	}
	return nil, fmt.Errorf("%s: something serves on %s already, another steno perhaps: %s", command, f.listen, instead)
}

// serveConsole opens the site that the flags name and serves it until ctx ends, without waiting for
// what the journals hold: it shows how that comes.
func (a *app) serveConsole(ctx context.Context, command string, l net.Listener, f *consoleFlags) error {
	open := a.openDirectoryAtOnce
	if a.clustered() {
		open = func(ctx context.Context, _ string) (*session, context.Context, error) { return a.open(ctx, command) }
	}
	s, ctx, err := open(ctx, command)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return errors.Join(a.serveSession(ctx, command, s, l, f), s.close())
}

// serveSession serves what a session has, on the listener, which it closes, until ctx ends; that is no
// error where the user wished for it.
func (a *app) serveSession(ctx context.Context, command string, s *session, l net.Listener, f *consoleFlags) error {
	server, err := a.consoleServer(ctx, s, f)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	fmt.Fprintf(a.err, "steno %s: console on http://%s\n", command, reachable(l.Addr()))
	a.sayOpen(command, l)
	err = server.Serve(ctx, l)
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		err = errors.Join(err, cause)
	}
	return err
}

func (a *app) consoleServer(ctx context.Context, s *session, f *consoleFlags) (*api.Server, error) {
	operators, err := a.operators(f)
	if err != nil {
		return nil, err
	}
	stored, err := s.stored(ctx)
	if err != nil {
		return nil, err
	}
	frames, err := s.frames(ctx)
	if err != nil {
		return nil, err
	}
	stream := verify.Stream{JS: s.js, Blobs: stored.Stream.Blobs, Partitions: s.info.Partitions, Returned: stored.Between}
	return api.New(api.Options{
		Conn: s.conn, JS: s.js, Frames: stored, Ledger: s.ledger, Search: s.ledger, Folder: frames, Partitions: s.info.Partitions,
		Prover: &proof.Source{Stream: stream, Ledger: s.ledger, Catalogue: protocols()},
		Sealed: s.sealedIn(cmp.Or(f.archive, a.archive)),
		Parked: func(ctx context.Context) (ids []schema.Identity, err error) {
			list, err := stage.ListParked(ctx, s.js)
			for _, p := range list {
				ids = append(ids, p.Identity)
			}
			return ids, err
		},
		Namespaces: f.namespaces, Hosts: f.hosts, Operators: operators, Web: web.Handler(), Grace: f.grace, Log: a.log,
	})
}

// operators reads who may intervene. A file that others read holds no secrets.
func (a *app) operators(f *consoleFlags) (api.Operators, error) {
	if f.operators == "" {
		return nil, nil
	}
	file, err := os.Open(f.operators)
	if err != nil {
		return nil, a.badValue(fmt.Errorf("--operators: %w", err), "operators")
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("%s has mode %#o: want 0600, so that only you read its tokens", f.operators, info.Mode().Perm())
	}
	var operators api.Operators
	if err == nil {
		operators, err = api.ReadOperators(file)
	}
	if err != nil {
		return nil, a.badValue(fmt.Errorf("--operators: %w", err), "operators")
	}
	return operators, nil
}
