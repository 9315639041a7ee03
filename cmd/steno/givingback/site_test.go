package givingback_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/archive/keeper"
	"github.com/steno-io/steno/sink/sqlite"
	"github.com/steno-io/steno/sink/verify"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/acp"
	"github.com/steno-io/steno/translate/stage"
)

// within bounds each wait, so that a fault fails the test instead of hanging it.
const within = time.Minute

func bounded(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	t.Cleanup(cancel)
	return ctx
}

// site is a server with the stages on it, a ledger and an archive.
type site struct {
	*natstest.Server
	t      *testing.T
	ledger *sqlite.Ledger
	sink   *sink.Sink
	blobs  *topology.Blobs
	store  *archive.Dir
	key    archive.Key
	id     schema.Identity
	told   []schema.Frame // all that was ever appended, as it is stored
}

func newSite(t *testing.T) *site {
	s := &site{Server: natstest.Start(t), t: t, id: schema.Identity{Namespace: "n", Workflow: "w", Run: "r", Attempt: 1}}
	var err error
	s.ledger, err = sqlite.Open(filepath.Join(t.TempDir(), "ledger.db"), sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.ledger.Close()) })
	s.blobs, err = topology.OpenBlobs(bounded(t), s.JS)
	require.NoError(t, err)
	s.store, err = archive.OpenDir(filepath.Join(t.TempDir(), "archive"), true)
	require.NoError(t, err)
	private, _, err := archive.Generate("mill")
	require.NoError(t, err)
	s.key, err = archive.NewKey(private)
	require.NoError(t, err)
	_, js := s.Connect(t)
	s.sink = sink.New(sink.Options{JS: js, Ledger: s.ledger})
	s.background(s.sink.Run)
	return s
}

// background runs something until the returned function is called, or the test ends.
func (s *site) background(do func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("background: %v", err)
		}
	})
	s.t.Cleanup(stop)
	return stop
}

func catalogue() *translate.Catalogue {
	return translate.NewCatalogue(map[schema.Protocol]translate.Translator{schema.ACP: acp.Translator{}})
}

// translate runs a translator that saves what is idle at once.
func (s *site) translate(change ...func(*stage.Options)) (stop func()) {
	_, js := s.Connect(s.t)
	o := stage.Options{JS: js, Catalogue: catalogue(), IdleAfter: 10 * time.Millisecond, MarkEvery: 10 * time.Millisecond, Log: zerolog.Nop()}
	for _, c := range change {
		c(&o)
	}
	w, err := stage.New(o)
	require.NoError(s.t, err)
	return s.background(w.Run)
}

// frames are frames of a journal at offsets first to last: an opening, then notifications; every tenth is large.
func frames(first, last uint64) []schema.Frame {
	var out []schema.Frame
	for n := first; n <= last; n++ {
		f := schema.Frame{At: time.Unix(1700000000, int64(n)).UTC(), From: schema.FromAgent, Type: schema.TypeData, End: schema.EndLF,
			Data: fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"x/note","params":{"n":%d}}`, n), Writer: schema.Writer{Offset: n}}
		if n == 1 {
			f.From, f.Type, f.End, f.Data = schema.FromControl, schema.TypeOpen, schema.EndNone, []byte(`{"protocol":"acp"}`)
		} else if n%10 == 0 {
			f.Data = fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"x/large","params":%q}`, strings.Repeat("x", schema.MaxInline))
		}
		out = append(out, f)
	}
	return out
}

// append stores frames of a journal, as its publisher does that begins anew, and gives the capture's last frame.
func (s *site) append(journal string, in []schema.Frame) uint64 {
	s.t.Helper()
	a, err := publish.NewAppender(publish.AppenderOptions{
		JS: s.JS, Blobs: s.blobs, Identity: s.id, Partitions: s.Info.Partitions, Journal: journal,
	})
	require.NoError(s.t, err)
	require.NoError(s.t, a.Append(bounded(s.t), in))
	had := len(s.told)
	for f, err := range s.stream().Frames(bounded(s.t), s.id, uint64(had)+1) {
		require.NoError(s.t, err)
		s.told = append(s.told, f)
	}
	return a.Head().Frames
}

func (s *site) stream() topology.Frames {
	return topology.Frames{JS: s.JS, Blobs: s.blobs, Partitions: s.Info.Partitions}
}

// joined reads as every command does.
func (s *site) joined() archive.Joined {
	return archive.Joined{Stream: s.stream(), Open: func(context.Context, schema.Identity) (archive.Store, error) { return s.store, nil }}
}

// stored waits until the ledger covers a frame.
func (s *site) stored(frame uint64) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		c, err := s.ledger.Capture(bounded(s.t), s.id)
		return err == nil && c.Last.Frame >= frame
	}, within, 2*time.Millisecond, "frame %d is not numbered", frame)
}

// settled waits until the capture is numbered and saved, and its partition's mark has passed it.
func (s *site) settled(frame uint64) {
	s.t.Helper()
	s.stored(frame)
	require.Eventually(s.t, func() bool {
		m, ok, err := topology.Last(bounded(s.t), s.JS, topology.State, schema.StateSubject(s.id, s.Info.Partitions))
		if err != nil || !ok {
			return false
		}
		snapshot, err := schema.SnapshotFromHeader(m.Header)
		mark, there, markErr := topology.Last(bounded(s.t), s.JS, topology.ParkedStream, topology.ParkedSubject(topology.MarkKey(s.id.Partition(s.Info.Partitions))))
		return err == nil && snapshot.Frame == frame && markErr == nil && there &&
			strings.Contains(string(mark.Data), fmt.Sprintf(`"seq":%d,`, snapshot.StreamSeq))
	}, within, 2*time.Millisecond, "frame %d is not saved", frame)
}

// keeper makes a keeper that finds everything old enough.
func (s *site) keeper(js jetstream.JetStream, change ...func(*keeper.Options)) *keeper.Keeper {
	o := keeper.Options{
		JS: js, Ledger: s.ledger, Store: s.store, Key: s.key, Idle: time.Nanosecond, Keep: time.Nanosecond, Every: time.Nanosecond,
		Log: zerolog.New(zerolog.NewTestWriter(s.t)).Level(zerolog.DebugLevel),
	}
	for _, c := range change {
		c(&o)
	}
	return keeper.New(o)
}

// through reads the ledger as every command does.
func (s *site) through() archive.Through {
	return archive.Through{Kept: s.ledger, Dropped: archive.NewDropped(nil, func(context.Context, sink.Dropped) (archive.Store, error) { return s.store, nil })}
}

// left counts the messages of the capture on a stream.
func (s *site) left(stream, subject string) (n int) {
	s.t.Helper()
	for _, err := range topology.Read(bounded(s.t), s.JS, stream, subject, 1) {
		require.NoError(s.t, err)
		n++
	}
	return n
}

func (s *site) leftOfBoth() [2]int {
	s.t.Helper()
	return [2]int{
		s.left(topology.Raw, schema.RawSubject(s.id, s.Info.Partitions)), s.left(topology.Events, schema.EventSubject(s.id, s.Info.Partitions)),
	}
}

// whole proves that nothing is missing: every frame can be read, ledger and archive agree with them.
func (s *site) whole() {
	s.t.Helper()
	var got []schema.Frame
	for f, err := range s.joined().Frames(bounded(s.t), s.id, 1) {
		require.NoError(s.t, err)
		got = append(got, f)
	}
	require.Equal(s.t, len(s.told), len(got))
	for i := range got {
		require.Equal(s.t, s.told[i], got[i], "frame %d", i+1)
	}
	report, err := verify.Run(bounded(s.t), verify.Options{
		Frames: verify.Stream{JS: s.JS, Blobs: s.blobs, Partitions: s.Info.Partitions, Returned: s.joined().Between},
		Ledger: s.through(), NewFold: fold,
	})
	require.NoError(s.t, err)
	require.Empty(s.t, report.Findings)
	require.Equal(s.t, uint64(len(s.told)), report.Frames)
	require.Zero(s.t, report.Unaccounted)
	checked, err := archive.Check(bounded(s.t), s.store, archive.CheckOptions{NewFold: fold})
	require.NoError(s.t, err)
	require.Empty(s.t, checked.Findings)
}

// fold starts a capture's fold, for a proof.
func fold(id schema.Identity, version string) verify.Fold {
	capture := translate.NewCapture(id, catalogue(), version)
	var events []schema.Event
	return verify.Fold{
		Step: func(f *schema.Frame) ([]schema.Event, error) {
			var err error
			events, err = capture.Step(events[:0], f)
			return events, err
		},
		Open: func() map[uint32]uint64 { return capture.Open().Frames },
	}
}
