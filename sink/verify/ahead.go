package verify

import (
	"context"
	"fmt"
	"iter"

	"github.com/steno-io/steno/schema"
)

// Frames are handed over in batches of so many, or fewer if they are large.
const (
	batchFrames = 256
	batchBytes  = 1 << 20
)

// checked is a frame with what its chain says.
type checked struct {
	frame    *schema.Frame
	chainErr error // its chain is not that of its bytes, headers and predecessor
}

type batch struct {
	frames []checked
	err    error
}

// readAhead reads frames and checks their chain on a goroutine of its own, beside the fold.
func readAhead(ctx context.Context, frames iter.Seq2[*schema.Frame, error]) iter.Seq2[[]checked, error] {
	return func(yield func([]checked, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		batches := make(chan batch, 2)
		go func() {
			defer close(batches)
			read(ctx, frames, batches)
		}()
		defer func() {
			stop()
			for range batches { // until the reader has ended
			}
		}()
		for b := range batches {
			if !yield(b.frames, b.err) || b.err != nil {
				return
			}
		}
	}
}

func read(ctx context.Context, frames iter.Seq2[*schema.Frame, error], batches chan<- batch) {
	send := func(b batch) bool {
		select {
		case batches <- b:
			return true
		case <-ctx.Done():
			return false
		}
	}
	var b batch
	var end error
	chain, size := "", 0
	for f, err := range frames {
		if err != nil {
			end = err
			break
		}
		c := checked{frame: f}
		want, err := schema.ChainHash(chain, f)
		switch {
		case err != nil:
			c.chainErr = err
		case want != f.Chain:
			c.chainErr = fmt.Errorf("chain is %q, its bytes, headers and predecessor give %q", f.Chain, want)
		}
		chain = f.Chain
		b.frames, size = append(b.frames, c), size+len(f.Data)
		if len(b.frames) == batchFrames || size > batchBytes {
			if !send(b) {
				return
			}
			b, size = batch{}, 0
		}
	}
	if len(b.frames) > 0 && !send(b) {
		return
	}
	if end != nil {
		send(batch{err: end})
	}
}
