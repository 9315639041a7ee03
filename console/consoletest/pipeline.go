// Package consoletest gives tests of consoles what they look at: the real pipeline in one process, and
// conversations that go into it frame by frame, as a tap's would.
package consoletest

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/sqlite"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/a2a"
	"github.com/steno-io/steno/translate/acp"
	"github.com/steno-io/steno/translate/stage"
)

// Within bounds each wait, so that a fault fails the test instead of hanging it.
const Within = time.Minute

// Pipeline is a server with the real stages and ledger on it. It ends with the test.
type Pipeline struct {
	*natstest.Server
	Ledger    *sqlite.Ledger
	Blobs     *topology.Blobs
	Conn      *nats.Conn          // consoles'
	Streams   jetstream.JetStream // on Conn
	Namespace string              // of what tests record; "default"

	t    testing.TB
	file string // the ledger's
}

// Catalogue has every protocol's translator.
func Catalogue() *translate.Catalogue {
	return translate.NewCatalogue(map[schema.Protocol]translate.Translator{schema.ACP: acp.Translator{}, schema.A2A: a2a.Translator{}})
}

// New starts a pipeline on a fresh store.
func New(t testing.TB) *Pipeline {
	t.Helper()
	p := &Pipeline{Server: natstest.Start(t), Namespace: "default", t: t}
	p.file = filepath.Join(t.TempDir(), "ledger.db")
	l, err := sqlite.Open(p.file, sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	p.Ledger = l
	_, js := p.Connect(t)
	p.Background(sink.New(sink.Options{JS: js, Ledger: l, Index: l}).Run)
	_, js = p.Connect(t)
	w, err := stage.New(stage.Options{JS: js, Log: zerolog.Nop(), Catalogue: Catalogue()})
	require.NoError(t, err)
	p.Background(w.Run)
	p.Conn, p.Streams = p.Connect(t)
	p.Blobs, err = topology.OpenBlobs(t.Context(), p.Streams)
	require.NoError(t, err)
	return p
}

// For gives the pipeline to another test, which has a namespace of it for itself.
func (p *Pipeline) For(t testing.TB, namespace string) *Pipeline {
	other := *p
	other.Namespace, other.t = namespace, t
	return &other
}

// Identity names a capture in the pipeline's namespace.
func (p *Pipeline) Identity(run string) schema.Identity {
	return schema.Identity{Namespace: p.Namespace, Workflow: "w", Run: run, Attempt: 1}
}

// Background runs something until the returned function is called, which waits for it.
func (p *Pipeline) Background(do func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := do(ctx); err != nil { // said at once: whoever waits for it would only say that he waits
			p.t.Errorf("background: %v", err)
		}
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	p.t.Cleanup(stop)
	return stop
}

// Stored waits until the ledger has that of a transcript.
func (p *Pipeline) Stored(key schema.Transcript, enough func(sink.Summary) bool) (s sink.Summary) {
	p.t.Helper()
	var err error
	require.Eventually(p.t, func() bool {
		s, err = p.Ledger.Transcript(p.t.Context(), key)
		return err == nil && enough(s)
	}, Within, 2*time.Millisecond, "%s is not stored", key)
	return s
}

// Ended is a transcript's end, for Stored.
func Ended(s sink.Summary) bool { return s.Status == schema.StatusEnded }

// Indexed waits until the search has everything that is stored.
func (p *Pipeline) Indexed() {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		i, err := p.Ledger.Indexing(p.t.Context())
		return err == nil && i.Behind == 0
	}, Within, 2*time.Millisecond, "not everything is indexed")
}

// Folded waits until all of a capture's frames are.
func (p *Pipeline) Folded(tap *Tap) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		m, err := p.NC.Request(schema.OpenSubject(tap.Identity, schema.Partitions), nil, Within)
		if err != nil {
			return false
		}
		reply, whole, err := new(schema.OpenPages).Add(m.Header, m.Data)
		return err == nil && whole && reply.Frame == tap.seq
	}, Within, 2*time.Millisecond, "%s is not folded", tap.Identity)
}
