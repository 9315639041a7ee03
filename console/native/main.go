package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
)

func main() {
	server := flag.String("server", "nats://127.0.0.1:4222", "NATS servers, with user and password")
	inbox := flag.String("inbox", "_INBOX_console", "where the user may get answers")
	api := flag.String("api", "STENO_API", "what stands for $JS.API")
	partitions := flag.Uint("partitions", schema.Partitions, "of the streams")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := show(ctx, *server, *inbox, *api, uint32(*partitions), flag.Arg(0), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "native:", err)
		os.Exit(1)
	}
}

// show prints a transcript until ctx ends or the transcript has.
func show(ctx context.Context, server, inbox, api string, partitions uint32, key string, out io.Writer) error {
	transcript, err := schema.ParseTranscript(key)
	if err != nil {
		return err
	}
	conn, err := nats.Connect(server, nats.CustomInboxPrefix(inbox), nats.MaxReconnects(-1))
	if err != nil {
		return fmt.Errorf("connect to NATS: %w", err)
	}
	defer conn.Close()
	ctx, end := context.WithCancel(ctx)
	defer end()
	c := Console{Conn: conn, Transcript: transcript, Partitions: partitions, API: api, Screen: &paper{out: out, end: end}}
	return c.Run(ctx)
}
