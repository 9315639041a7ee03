package stage_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/stage"
)

// BenchmarkBacklog folds a stored backlog and commits it, and beside it, in the same run, does what
// cannot be left out: a loop that reads the same frames in the same way, does not decode them, and
// publishes as many fenced records of the same size. The reported ratio is stage to loop.
func BenchmarkBacklog(b *testing.B) {
	for _, shape := range []struct{ captures, frames, size int }{
		{1, 40_000, 1024}, {50, 1000, 1024}, {1000, 50, 1024}, {50, 1000, 256},
	} {
		b.Run(fmt.Sprintf("captures=%d/bytes=%d", shape.captures, shape.size), func(b *testing.B) {
			s := natstest.Start(b)
			_, js := s.InProcess(b)
			var taps []*tap
			for n := range shape.captures {
				tp := newTap(b, js, identity(n))
				tp.async = true
				taps = append(taps, tp)
			}
			// One durable message in four frames: three chunks, a tool call.
			text := strings.Repeat("x", shape.size)
			for i := range shape.frames {
				line := "say 1 " + text
				if i%4 == 3 {
					line = "tool 1 " + text[:shape.size/4]
				}
				for _, tp := range taps {
					tp.say(b, line)
				}
			}
			taps[0].flush(b)
			total := shape.captures * (shape.frames + 1)
			raw, err := js.Stream(bounded(b), topology.Raw)
			require.NoError(b, err)
			require.EqualValues(b, total, raw.CachedInfo().State.Msgs, "the server did not take every frame")

			var staged, looped time.Duration
			rounds, records := 0, 0
			for b.Loop() {
				start := time.Now()
				w, stop := run(b, stage.Options{JS: js})
				for _, tp := range taps {
					require.NoError(b, w.Committed(bounded(b), tp.id, uint64(len(tp.frames))))
				}
				staged += time.Since(start)
				stop()
				progress, err := w.Progress(bounded(b))
				require.NoError(b, err)
				stream, err := js.Stream(bounded(b), topology.Events)
				require.NoError(b, err)
				state := stream.CachedInfo().State
				require.EqualValues(b, progress.Records, state.Msgs)
				size := 0
				if state.Msgs > 0 {
					size = int(state.Bytes / state.Msgs)
				}
				require.NoError(b, stream.Purge(bounded(b)))

				start = time.Now()
				loop(b, js, total, int(progress.Records), size)
				looped += time.Since(start)
				rounds, records = rounds+1, records+int(progress.Records)
				require.NoError(b, stream.Purge(bounded(b)))
			}
			frames := float64(total * rounds)
			b.ReportMetric(frames/staged.Seconds(), "stage-frames/s")
			b.ReportMetric(frames/looped.Seconds(), "loop-frames/s")
			b.ReportMetric(looped.Seconds()/staged.Seconds(), "ratio")
			b.ReportMetric(float64(records)/float64(rounds), "records")
		})
	}
}

// loop reads every frame and publishes records of the given number and size, evenly, each fenced on a
// subject of its own, as many at a time as the stage does.
func loop(b *testing.B, js jetstream.JetStream, frames, records, size int) {
	ctx, cancel := context.WithCancel(bounded(b))
	defer cancel()
	payload := make([]byte, size)
	due := make(chan int, records)
	var publishers, readers sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range 64 {
		publishers.Go(func() {
			for n := range due {
				msg := &nats.Msg{Subject: schema.EventSubject(identity(n), schema.Partitions), Data: payload}
				if _, err := js.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(0)); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			}
		})
	}
	read, published := 0, 0
	for p := range uint32(schema.Partitions) {
		readers.Go(func() {
			// Returns when ctx ends.
			_ = topology.Consume(ctx, js, topology.Raw, schema.RawPartition(p), 1, func(topology.Message) error {
				mu.Lock()
				defer mu.Unlock()
				read++
				for ; published < read*records/frames; published++ {
					due <- published
				}
				if read == frames {
					close(due)
				}
				return nil
			})
		})
	}
	publishers.Wait()
	cancel()
	readers.Wait()
	require.NoError(b, failed)
	require.Equal(b, frames, read)
}
