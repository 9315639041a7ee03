package main

import (
	"context"
	"fmt"
	"net"

	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/ingest/proxy"
)

// serveProxy serves until ctx ends, and returns when all that was recorded is in a closed journal. ready is
// called when it is about to serve; what that begins goes on until ctx ends, and what it returns waits for it.
// Calls of the proxy's own have the same grace as the clients'.
func (a *app) serveProxy(ctx context.Context, p *proxy.Proxy, r *recorder, clients, pushes net.Listener, ready func(context.Context) func()) error {
	recording, stop := context.WithCancel(context.WithoutCancel(ctx))
	closed := make(chan struct{})
	go func() { defer close(closed); r.series.Run(recording) }()
	defer func() { stop(); <-closed }()
	if err := r.try(ctx); err != nil {
		return fmt.Errorf("proxy: nothing can be recorded (--when-full pass lets conversations pass all the same): %w", err)
	}
	defer func() { r.settle(context.WithoutCancel(ctx)) }()
	g, ctx := errgroup.WithContext(ctx)
	begun := ready(ctx)
	g.Go(func() error { return p.Serve(ctx, clients, p.Handler()) })
	if pushes != nil {
		g.Go(func() error { return p.Serve(ctx, pushes, p.PushHandler()) })
	}
	g.Go(func() error { <-ctx.Done(); p.EndCalls(); return nil })
	err := g.Wait()
	begun()
	if err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	return nil
}

func (a *app) sayProxy(f *proxyFlags, o proxy.Options, clients, pushes net.Listener) {
	address := "http://" + reachable(clients.Addr())
	if f.publicURL != "" {
		address = f.publicURL
	}
	data := ""
	if a.from["data"] == commandLine {
		data = " --data " + a.data
	}
	fmt.Fprintf(a.err, "steno proxy: give clients %s in the place of %s\n", address, proxy.MaskURL(f.upstream))
	if pushes != nil {
		fmt.Fprintf(a.err, "steno proxy: push notifications come through %s\n", o.Push.BaseURL)
	}
	fmt.Fprintf(a.err, "steno proxy: follow the newest conversation with: steno tail%s\n", data)
	a.sayOpen("proxy", clients, pushes)
}

// reachable is an address that a client on this machine can use.
func reachable(address net.Addr) string {
	host, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return address.String()
	}
	if net.ParseIP(host).IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
