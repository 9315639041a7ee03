package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/sqlite"
	"github.com/steno-io/steno/translate/stage"
)

func (a *app) upCommand() *cobra.Command {
	var f consoleFlags
	var k keepFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run the embedded server and all stages until stopped",
		Long: `up holds the data directory: it runs the embedded NATS server, publishes the
journals of all taps as they grow, translates, numbers and keeps. Every other
command of the same directory works through it. It serves the console over HTTP
(steno console --help says what that is), on loopback unless --listen names another
address; --listen off does without.

With --archive it seals captures by itself, as steno seal does, once they have ended
or were silent for --seal-idle; long ones earlier, in parts. With --give-back what
is sealed, and was stored so long ago, goes from the streams once it was read back
out of the archive and compared; commands read it there then. With --drop-sealed so
do events from the ledger, which keeps lists, numbers, search and their SHA-256.`,
		Example: `  steno up
  steno up --listen 127.0.0.1:0
  steno up --data ./transcripts --sync 1s
  steno up --archive /srv/archive --give-back 30d --drop-sealed 180d`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.up(cmd.Context(), &f, &k) },
	}
	k.register(cmd)
	f.register(cmd, "host:port of the console; port 0: any free one; off: no console")
	return cmd
}

func (a *app) up(ctx context.Context, f *consoleFlags, k *keepFlags) error {
	options, err := a.holderOptions(holder.Up)
	if err != nil {
		return err
	}
	kept, err := a.keeping(ctx, k)
	if err != nil {
		return err
	}
	if kept != nil {
		f.archive = kept.place
		options.Returned = func(js jetstream.JetStream) stage.Returned { return returned(js, kept.place) }
		options.Sealed = a.sealedIn(kept.place)
		options.Keep = func(ctx context.Context, js jetstream.JetStream, ledger *sqlite.Ledger, claimed func(uint32) (sink.Claim, bool)) error {
			return kept.run(ctx, js, ledger, nil, claimed)
		}
	}
	l, err := a.listenConsole("up", f)
	if err != nil {
		return err
	}
	h, err := holder.TakeOver(ctx, options)
	if err != nil {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	fmt.Fprintf(a.err, "steno up: data in %s\n", options.Dir)
	if l == nil {
		_, err = h.Run(ctx)
		return err
	}
	return a.upWithConsole(ctx, h, l, f)
}

// upWithConsole runs the holder, and a console that is one of its clients. The console ends first.
func (a *app) upWithConsole(ctx context.Context, h *holder.Holder, l net.Listener, f *consoleFlags) error {
	holding, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	serving, end := context.WithCancel(ctx)
	defer end()
	held := make(chan error, 1)
	go func() { // it is waited for below
		_, err := h.Run(holding)
		end()
		held <- err
	}()
	err := a.serveConsole(serving, "up", l, f)
	if serving.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // it was stopped before it served
	}
	stop()
	return errors.Join(err, <-held)
}
