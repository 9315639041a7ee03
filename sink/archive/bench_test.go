package archive_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/steno-io/steno/sink/archive"
)

var benchEvents = flag.Int("benchevents", 100_000, "how many events the archive of BenchmarkCheck has at least")

// recordedArchive seals all bundled recordings, as often as it takes, and gives the number of their events.
func recordedArchive(b *testing.B) (store memory, events int) {
	b.Helper()
	found, err := filepath.Glob(recordingFile("recordings/*.json*"))
	require.NoError(b, err)
	store = memory{}
	key, _ := newKey(b, "mill")
	var r recorded
	frames := 0
	for n := 0; events < *benchEvents; n++ {
		for i, file := range found {
			id := r.record(b, file, fmt.Sprintf("run-%d-%d", n, i), 0)
			_, err := archive.NewSealer(store, &r, &r, key).Seal(context.Background(), id)
			require.NoError(b, err)
			for _, s := range r.infos[id].Sessions {
				events += int(s.Head)
			}
			frames += len(r.captures[id])
			clear(r.captures)
			clear(r.events)
		}
	}
	b.Logf("%d frames, %d events", frames, events)
	return store, events
}

// memory is an archive in memory: what a disk takes is not measured. One sealer writes into it.
type memory map[string][]byte

func (m memory) String() string { return "memory" }

func (m memory) Put(_ context.Context, name string, data []byte) error {
	if _, there := m[name]; there {
		return archive.ErrExists
	}
	m[name] = bytes.Clone(data)
	return nil
}

func (m memory) Replace(_ context.Context, name string, _, data []byte) error {
	m[name] = bytes.Clone(data)
	return nil
}

func (m memory) Open(_ context.Context, name string) (io.ReadCloser, error) {
	data, there := m[name]
	if !there {
		return nil, archive.ErrNotFound
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

func (m memory) List(_ context.Context, prefix string) iter.Seq2[archive.Listed, error] {
	return func(yield func(archive.Listed, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if strings.HasPrefix(name, prefix) && !yield(archive.Listed{Name: name, Bytes: int64(len(m[name]))}, nil) {
				return
			}
		}
	}
}

// BenchmarkCheck proves an archive of real recordings; ceiling unpacks and hashes the same files, side by side, and
// does nothing else.
func BenchmarkCheck(b *testing.B) {
	store, events := recordedArchive(b)
	b.Run("check", func(b *testing.B) {
		defer perProcessor(b, events)()
		for b.Loop() {
			c, err := archive.Check(context.Background(), store, archive.CheckOptions{NewFold: fold})
			require.NoError(b, err)
			require.Empty(b, c.Findings)
			require.Equal(b, uint64(events), c.Events)
		}
	})
	b.Run("ceiling", func(b *testing.B) {
		defer perProcessor(b, events)()
		for b.Loop() {
			require.NoError(b, unpackAll(store))
		}
	})
}

// perProcessor reports events a second, and events a second that one processor spends on them: on a machine that
// does other work the second says more.
func perProcessor(b *testing.B, events int) (report func()) {
	spent := func() time.Duration {
		var u unix.Rusage
		require.NoError(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := spent()
	return func() {
		done := float64(events) * float64(b.N)
		b.ReportMetric(done/b.Elapsed().Seconds(), "events/s")
		b.ReportMetric(done/(spent()-before).Seconds(), "events/cpu-s")
	}
}

var zips = sync.Pool{New: func() any {
	zip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return zip
}}

func unpackAll(store archive.Store) error {
	g, ctx := errgroup.WithContext(context.Background())
	g.SetLimit(2)
	for listed, err := range store.List(ctx, "") {
		if err != nil {
			return err
		}
		g.Go(func() error {
			in, err := store.Open(ctx, listed.Name)
			if err != nil {
				return err
			}
			defer in.Close() //nolint:errcheck // it was only read
			packed, err := io.ReadAll(in)
			if err != nil {
				return err
			}
			sum := sha256.New()
			sum.Write(packed)
			o, err := archive.ParseObject(listed.Name)
			if err != nil || o.Kind != archive.Frames && o.Kind != archive.Events {
				return err
			}
			zip := zips.Get().(*zstd.Decoder)
			defer zips.Put(zip)
			if err := zip.Reset(bytes.NewReader(packed)); err != nil {
				return err
			}
			_, err = io.Copy(sum, zip)
			return err
		})
	}
	return g.Wait()
}
