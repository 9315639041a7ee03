package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/sqlite"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/acp"
	"github.com/steno-io/steno/translate/stage"
)

// within bounds each wait, so that a fault fails the test instead of hanging it.
const within = time.Minute

// rig is a server as README.md says, with the pipeline on it as the user steno.
type rig struct {
	t      *testing.T
	conf   string // the server's configuration
	store  string
	url    string // host and port
	stop   func() // the server
	js     jetstream.JetStream
	ledger *sqlite.Ledger
}

// configuration is the code block of README.md that is a part of a server's configuration.
func configuration(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```\n(accounts {\n.*?\n}\n)```\n").FindAllStringSubmatch(string(text), -1)
	require.Len(t, blocks, 1)
	return blocks[0][1]
}

// configure writes deploy/nats/one.conf with the README's piece in the place of its own, if it is wanted.
func (r *rig) configure(accounts bool) {
	r.t.Helper()
	conf, err := os.ReadFile("../../deploy/nats/one.conf")
	require.NoError(r.t, err)
	own := regexp.MustCompile(`(?s)\nauthorization {\n.*?\n}\n`)
	require.Len(r.t, own.FindAll(conf, -1), 1)
	if accounts {
		piece := configuration(r.t)
		conf = own.ReplaceAllFunc(conf, func([]byte) []byte { return []byte("\n" + piece) })
	}
	require.NoError(r.t, os.WriteFile(r.conf, conf, 0o600))
}

// start starts the server, at the address that it had before.
func (r *rig) start() {
	r.t.Helper()
	r.t.Setenv("STENO_NATS_LISTEN", cmp.Or(r.url, "127.0.0.1:-1"))
	options, err := server.ProcessConfigFile(r.conf)
	require.NoError(r.t, err)
	options.NoSigs = true
	ns, err := server.NewServer(options)
	require.NoError(r.t, err)
	ns.Start()
	r.stop = sync.OnceFunc(func() { ns.Shutdown(); ns.WaitForShutdown() })
	r.t.Cleanup(r.stop)
	require.True(r.t, ns.ReadyForConnections(within))
	r.url = ns.Addr().String()
}

// prepare makes a rig without a server.
func prepare(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	for name, value := range map[string]string{
		"STENO_NATS_NAME": "one", "STENO_NATS_MONITOR": "127.0.0.1:-1", "STENO_NATS_STORE": filepath.Join(dir, "store"),
		"STENO_NATS_PASSWORD": `"secret"`, "STENO_CONSOLE_PASSWORD": `"public"`,
	} {
		t.Setenv(name, value)
	}
	return &rig{t: t, conf: filepath.Join(dir, "nats.conf"), store: filepath.Join(dir, "store")}
}

// newRig starts a server as README.md says, with streams and a sink.
func newRig(t *testing.T) *rig {
	t.Helper()
	r := prepare(t)
	r.configure(true)
	r.start()
	_, r.js = r.steno()
	_, err := topology.Apply(r.bounded(), r.js, topology.Config{})
	require.NoError(t, err)
	r.ledger, err = sqlite.Open(filepath.Join(t.TempDir(), "ledger.db"), sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.ledger.Close()) })
	_, js := r.steno()
	r.background(sink.New(sink.Options{JS: js, Ledger: r.ledger}).Run)
	return r
}

// Streams that were made before there were accounts are found by the account that has their directory.
func TestStreamsMoveIntoAnAccount(t *testing.T) {
	r := prepare(t)
	r.configure(false)
	r.start()
	_, js := r.steno()
	_, err := topology.Apply(r.bounded(), js, topology.Config{Partitions: 8})
	require.NoError(t, err)
	before, err := topology.Check(r.bounded(), js)
	require.NoError(t, err)
	r.stop()

	r.configure(true)
	under := filepath.Join(r.store, "jetstream")
	require.NoError(t, os.Rename(filepath.Join(under, "$G"), filepath.Join(under, "STENO")))
	r.start()
	_, js = r.steno()
	after, err := topology.Check(r.bounded(), js)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func (r *rig) bounded() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	r.t.Cleanup(cancel)
	return ctx
}

func (r *rig) steno() (*nats.Conn, jetstream.JetStream) {
	r.t.Helper()
	nc, err := nats.Connect("nats://steno:secret@"+r.url, nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
	require.NoError(r.t, err)
	r.t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(r.t, err)
	return nc, js
}

// console is the server's address for the user of the README.
func (r *rig) console() string { return "nats://console:public@" + r.url }

// background runs something until the test ends, and waits for it.
func (r *rig) background(do func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	r.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("background: %v", err)
		}
	})
}

// translator starts one; kill takes its connection away, and with it all that it might still write.
func (r *rig) translator() (kill func()) {
	r.t.Helper()
	conn, js := r.steno()
	w, err := stage.New(stage.Options{
		JS: js, Log: zerolog.Nop(),
		Catalogue: translate.NewCatalogue(map[schema.Protocol]translate.Translator{schema.ACP: acp.Translator{}}),
	})
	require.NoError(r.t, err)
	done := make(chan error, 1)
	go func() { done <- w.Run(context.Background()) }()
	kill = sync.OnceFunc(func() {
		conn.Close()
		if err := <-done; err == nil {
			r.t.Error("the translator ended by itself")
		}
	})
	r.t.Cleanup(kill)
	return kill
}
