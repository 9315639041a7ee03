package ingest_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/ingest"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/schema/topology/embed"
)

// A program that has an agent's pipes in its hands records what goes through them.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, journals, stop := aNATS(ctx)
	defer stop()
	site := ingest.Site{Dir: journals, Conn: conn, Destination: "nats://127.0.0.1:4222"}

	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	id := schema.Identity{Namespace: "default", Workflow: "mill", Run: "monday"}
	capture, err := site.Open(id, at, schema.OpenInfo{Protocol: schema.ACP, Tap: "my-bridge"})
	if err != nil {
		log.Fatal(err)
	}
	published := make(chan error, 1)
	go func() { published <- capture.Run(ctx) }()

	for _, said := range []struct {
		from schema.From
		line string
	}{
		{schema.FromClient, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`},
		{schema.FromAgent, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`},
		{schema.FromStderr, `ready`},
	} {
		at = at.Add(time.Millisecond)
		if err := capture.Write(ctx, said.from, at, []byte(said.line)); err != nil {
			log.Fatal(err) // it is not kept: do not pass it on
		}
	}
	stored, frame, err := capture.Stored(ctx) // nothing need wait for it, but a program may
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("stored up to frame", frame, "of", stored)

	if err := capture.Close(at.Add(time.Second), schema.CloseInfo{}); err != nil {
		log.Fatal(err)
	}
	if err := <-published; err != nil {
		log.Fatal(err)
	}
	print(ctx, conn, stored)
	// Output:
	// stored up to frame 4 of default/mill/monday/0/1
	// 1 control open
	// 2 client {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
	// 3 agent {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
	// 4 stderr ready
	// 5 control {"reason":"eof"}
}

// aNATS is a server with steno's streams, and a directory for journals; a program has its own.
func aNATS(ctx context.Context) (conn *nats.Conn, journals string, stop func()) {
	dir, err := os.MkdirTemp("", "steno-example-")
	if err != nil {
		log.Fatal(err)
	}
	server, err := embed.Start(embed.Options{StoreDir: dir + "/nats"})
	if err != nil {
		log.Fatal(err)
	}
	if conn, err = server.Connect(); err != nil {
		log.Fatal(err)
	}
	js, err := jetstream.New(conn)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := topology.Apply(ctx, js, topology.Config{}); err != nil { // steno streams apply
		log.Fatal(err)
	}
	return conn, dir + "/journal", func() {
		conn.Close()
		server.Shutdown()
		if err := os.RemoveAll(dir); err != nil {
			log.Print(err)
		}
	}
}

// print reads the frames where the next stage does.
func print(ctx context.Context, conn *nats.Conn, id schema.Identity) {
	js, err := jetstream.New(conn)
	if err != nil {
		log.Fatal(err)
	}
	blobs, err := topology.OpenBlobs(ctx, js)
	if err != nil {
		log.Fatal(err)
	}
	info, err := topology.Check(ctx, js)
	if err != nil {
		log.Fatal(err)
	}
	for f, err := range (topology.Frames{JS: js, Blobs: blobs, Partitions: info.Partitions}).Frames(ctx, id, 1) {
		if err != nil {
			log.Fatal(err)
		}
		if f.Type == schema.TypeOpen {
			f.Data = []byte("open") // its labels, its program, its journal
		}
		fmt.Printf("%d %s %s\n", f.Seq, f.From, f.Data)
	}
}
