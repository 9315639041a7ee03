package stage_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	"github.com/steno-io/steno/translate/stage"
)

// within bounds each wait, so that a fault fails the test instead of hanging it; look is between two looks at what is
// waited for: the processor is the worker's.
const (
	within = time.Minute
	look   = time.Millisecond
)

func bounded(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	t.Cleanup(cancel)
	return ctx
}

func identity(n int) schema.Identity {
	return schema.Identity{Namespace: "default", Workflow: "words", Run: fmt.Sprintf("run-%d", n), Attempt: 1}
}

// tap stores frames as the append does: numbered, salted, chained, large ones by reference.
type tap struct {
	js     jetstream.JetStream
	blobs  *topology.Blobs
	id     schema.Identity
	frames []schema.Frame
	async  bool
}

func newTap(t testing.TB, js jetstream.JetStream, id schema.Identity) *tap {
	t.Helper()
	blobs, err := topology.OpenBlobs(bounded(t), js)
	require.NoError(t, err)
	tp := &tap{js: js, blobs: blobs, id: id}
	tp.control(t, schema.TypeOpen, `{"protocol":"acp"}`)
	return tp
}

func (tp *tap) say(t testing.TB, lines ...string) {
	t.Helper()
	for _, line := range lines {
		tp.store(t, schema.Frame{From: schema.FromAgent, Type: schema.TypeData, End: schema.EndLF, Data: []byte(line)}, nil)
	}
}

func (tp *tap) control(t testing.TB, kind schema.FrameType, payload string) {
	t.Helper()
	tp.store(t, schema.Frame{From: schema.FromControl, Type: kind, End: schema.EndNone, Data: []byte(payload)}, nil)
}

// store appends a frame; spoil changes the message on its way.
func (tp *tap) store(t testing.TB, f schema.Frame, spoil func(*nats.Msg)) {
	t.Helper()
	f.Seq = uint64(len(tp.frames)) + 1
	f.At = time.Unix(1700000000, int64(f.Seq)*1000).UTC()
	f.Salt = fmt.Sprintf("%032x", f.Seq)
	f.Writer = schema.Writer{Journal: "j", Offset: f.Seq}
	payload := f.Data
	if len(payload) > schema.MaxInline {
		sha, err := tp.blobs.Put(bounded(t), tp.id, payload)
		require.NoError(t, err)
		f.Blob, payload = sha, nil
	}
	previous := ""
	if n := len(tp.frames); n > 0 {
		previous = tp.frames[n-1].Chain
	}
	chain, err := schema.ChainHash(previous, &f)
	require.NoError(t, err)
	f.Chain = chain
	msg := &nats.Msg{Subject: schema.RawSubject(tp.id, schema.Partitions), Header: f.Header(), Data: payload}
	if spoil != nil {
		spoil(msg)
	}
	if tp.async {
		_, err = tp.js.PublishMsgAsync(msg, jetstream.WithStallWait(within))
		require.NoError(t, err)
	} else {
		expected := tp.last(t)
		for { // the server may be away for a moment, and the answer lost
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			_, err := tp.js.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(expected))
			cancel()
			if err == nil || topology.Classify(err) == topology.Refused {
				break
			}
		}
	}
	tp.frames = append(tp.frames, f)
}

// last asks for the capture's last sequence until the server answers.
func (tp *tap) last(t testing.TB) uint64 {
	t.Helper()
	for whole := bounded(t); ; {
		ctx, cancel := context.WithTimeout(whole, time.Second)
		m, _, err := topology.Last(ctx, tp.js, topology.Raw, schema.RawSubject(tp.id, schema.Partitions))
		cancel()
		if err == nil {
			return m.Seq
		}
		require.NoError(t, whole.Err(), "%v", err)
	}
}

// flush waits until what was appended asynchronously is stored.
func (tp *tap) flush(t testing.TB) {
	t.Helper()
	select {
	case <-tp.js.PublishAsyncComplete():
	case <-time.After(within):
		require.Fail(t, "frames are not stored")
	}
}

// alone gives the partitions of captures: a worker of these few begins, and ends, much sooner than one of all.
func alone(taps ...*tap) (partitions []uint32) {
	for _, tp := range taps {
		if p := tp.id.Partition(schema.Partitions); !slices.Contains(partitions, p) {
			partitions = append(partitions, p)
		}
	}
	return partitions
}

// run starts a worker; stop ends it and waits.
func run(t testing.TB, o stage.Options) (w *stage.Worker, stop func()) {
	t.Helper()
	if o.Catalogue == nil {
		o.Catalogue = catalogue()
	}
	o.Log = zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.ErrorLevel)
	w, err := stage.New(o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				require.NoError(t, err)
			case <-time.After(within):
				require.Fail(t, "worker does not stop")
			}
		})
	}
	t.Cleanup(stop)
	return w, stop
}

// killed starts a worker on a connection of its own; kill takes the connection away, and with it all that
// the worker might still write.
func killed(t testing.TB, s *natstest.Server, o stage.Options) (w *stage.Worker, kill func()) {
	t.Helper()
	conn, js := s.Connect(t)
	o.JS = js
	if o.Catalogue == nil {
		o.Catalogue = catalogue()
	}
	w, err := stage.New(o)
	require.NoError(t, err)
	done := make(chan error, 1)
	ctx := bounded(t)
	go func() { done <- w.Run(ctx) }()
	kill = sync.OnceFunc(func() {
		conn.Close()
		require.Error(t, <-done)
	})
	t.Cleanup(kill)
	return w, kill
}

// until asks a worker for its progress until it is as wanted.
func until(t testing.TB, w *stage.Worker, wanted func(stage.Progress) bool) stage.Progress {
	t.Helper()
	for ctx := bounded(t); ; {
		progress, err := w.Progress(ctx)
		require.NoError(t, err)
		if wanted(progress) {
			return progress
		}
		time.Sleep(look)
	}
}

// fault is a JetStream whose publishes fail as told: of records, or on the subjects that begin otherwise.
type fault struct {
	jetstream.JetStream
	on     string
	mu     sync.Mutex
	n      int
	decide func(n int) how
	before func() // called before each publish
	after  func() // and after each
}

type how int

const (
	clean how = iota
	refused
	lost
)

var errInjected = errors.New("injected")

func (f *fault) PublishMsg(ctx context.Context, msg *nats.Msg, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if !strings.HasPrefix(msg.Subject, cmp.Or(f.on, "steno.event.")) {
		return f.JetStream.PublishMsg(ctx, msg, opts...)
	}
	if f.before != nil {
		f.before()
	}
	f.mu.Lock()
	f.n++
	n := f.n
	f.mu.Unlock()
	what := clean
	if f.decide != nil {
		what = f.decide(n)
	}
	if what == refused {
		return nil, fmt.Errorf("publish: %w", errInjected)
	}
	ack, err := f.JetStream.PublishMsg(ctx, msg, opts...)
	if f.after != nil {
		f.after()
	}
	if what == lost {
		return nil, fmt.Errorf("read answer: %w", errInjected)
	}
	return ack, err
}

func sha(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
