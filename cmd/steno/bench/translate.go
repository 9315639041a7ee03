package bench

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// Goals of a chunk frame.
const (
	goalChunks = 600_000
	goalAllocs = 4
)

// messageChunks is how many chunks make a message where a recording has fewer.
const messageChunks = 500

// translate folds chunk frames on one core. The ceiling reads the tokens of the same JSON texts, and
// nothing else.
func (b *bench) translate(ctx context.Context) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, p := range []schema.Protocol{schema.ACP, schema.A2A} {
		if err := b.chunkFrames(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) chunkFrames(ctx context.Context, p schema.Protocol) error {
	r, err := b.recording(p)
	if err != nil {
		return err
	}
	load, err := b.chunksOf(r)
	if err != nil {
		return err
	}
	translator, err := b.Catalogue.ByProtocol(p)
	if err != nil {
		return err
	}
	recorded := len(load.chunks)
	for i := 0; len(load.chunks) < messageChunks; i++ {
		load.chunks = append(load.chunks, load.chunks[i%recorded])
	}
	for i := range load.chunks {
		load.chunks[i].Seq = uint64(len(load.before) + i + 1)
	}
	var texts [][]byte
	for i := range load.chunks {
		texts = append(texts, jsonText(load.chunks[i].Data))
	}
	name := "translate " + string(p)
	var allocs, plainAllocs float64
	figure, ceiling, err := b.beside(ctx, name,
		func(ctx context.Context) (rate float64, err error) {
			rate, allocs = b.fold(ctx, translator, load)
			return rate, nil
		},
		func(ctx context.Context) (rate float64, err error) {
			rate, plainAllocs, err = b.tokens(ctx, texts)
			return rate, err
		})
	if err != nil {
		return err
	}
	return errors.Join(
		b.higher(name, "frames/s", figure, ceiling, goalChunks),
		b.lower(name+" allocations", "a frame", allocs, plainAllocs, goalAllocs))
}

// fold folds the chunks of one message after the other, from its continuation to its end; what stands
// before it is not measured.
func (b *bench) fold(ctx context.Context, t translate.Translator, load chunks) (rate, allocs float64) {
	var dst []schema.Event
	var took time.Duration
	n, rounds := 0, 0
	var counted uint64
	for ; rounds == 0 || took < b.size.window && ctx.Err() == nil; rounds++ {
		fold := t.Fold(identity("translate", 0))
		for i := range load.before {
			dst = fold.Step(dst[:0], &load.before[i])
		}
		before := mallocs(rounds)
		begin := time.Now()
		for i := range load.chunks {
			dst = fold.Step(dst[:0], &load.chunks[i])
		}
		dst = fold.End(dst[:0])
		took += time.Since(begin)
		counted += mallocs(rounds) - before
		n += len(load.chunks)
	}
	return float64(n) / took.Seconds(), float64(counted) / float64(min(rounds, countedRounds)*len(load.chunks))
}

// tokens reads the texts' tokens.
func (b *bench) tokens(ctx context.Context, texts [][]byte) (rate, allocs float64, err error) {
	reader := bytes.NewReader(nil)
	decoder := jsontext.NewDecoder(reader)
	var took time.Duration
	n, rounds := 0, 0
	var counted uint64
	for ; rounds == 0 || took < b.size.window && ctx.Err() == nil; rounds++ {
		before := mallocs(rounds)
		begin := time.Now()
		for _, text := range texts {
			reader.Reset(text)
			decoder.Reset(reader)
			for {
				if _, err := decoder.ReadToken(); err == io.EOF {
					break
				} else if err != nil {
					return 0, 0, err
				}
			}
		}
		took += time.Since(begin)
		counted += mallocs(rounds) - before
		n += len(texts)
	}
	return float64(n) / took.Seconds(), float64(counted) / float64(min(rounds, countedRounds)*len(texts)), nil
}

// countedRounds are the rounds of a window in which allocations are counted: counting stops the world.
const countedRounds = 3

// mallocs is the number of allocations so far, in the rounds that count.
func mallocs(round int) uint64 {
	if round >= countedRounds {
		return 0
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// jsonText is the JSON text of a frame: a line, or an event's data.
func jsonText(data []byte) []byte {
	if _, text, ok := bytes.Cut(data, []byte("data: ")); ok {
		return text
	}
	return data
}
