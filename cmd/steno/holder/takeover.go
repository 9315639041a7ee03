package holder

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Times of an up that takes a directory over.
const (
	takeEvery = 100 * time.Millisecond
	askWithin = 2 * time.Second
)

// TakeOver is Acquire for an up: it asks a command that holds the directory to hand it over, and waits up to
// Patience. While it waits no command takes the directory. A command that has no answer yet when it hands over
// wants the directory back at once, and would have it before the up looks again: neither would ever come to
// what it is there for.
func TakeOver(ctx context.Context, o Options) (*Holder, error) {
	deadline := time.Now().Add(Patience)
	var turn *lock
	defer func() { turn.end(o.Log) }()
	for {
		h, err := (*Holder)(nil), error(nil)
		if turn == nil {
			turn, err = o.Dir.takeTurn()
		}
		if err == nil {
			h, err = Acquire(ctx, o)
		}
		if !errors.Is(err, ErrHeld) || time.Now().After(deadline) {
			return h, err
		}
		if address, err := o.Dir.ReadAddress(); err == nil && address.Kind == Up && address.Answers() {
			return nil, fmt.Errorf("%w: steno up runs there already (process %d)", ErrHeld, address.PID)
		}
		if turn != nil {
			o.askToHandOver(ctx)
		}
		if err := sleep(ctx, takeEvery); err != nil {
			return nil, err
		}
	}
}

// askToHandOver may fail: the holder is just starting or ending, and is asked again.
func (o Options) askToHandOver(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	client, err := o.Dir.Connect(ctx, "steno up")
	if err == nil {
		defer client.Close()
		err = client.HandOver(ctx)
	}
	if err != nil {
		o.Log.Debug().Err(err).Msg("ask the holder to hand over")
	}
}
