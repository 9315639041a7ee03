package holder

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink/sqlite"
)

// Held is what a directory's holder works on.
type Held struct {
	JS     jetstream.JetStream
	Info   topology.Info
	Ledger *sqlite.Ledger
}

// Alone holds the directory without running its pipeline while do works on it: nothing is published,
// translated or stored meanwhile but by do. The error wraps ErrHeld if another process holds the directory.
func Alone(ctx context.Context, o Options, do func(context.Context, Held) error) error {
	h, err := Acquire(ctx, o)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, Held{h.js, h.info, h.ledger}), h.stop(false))
}
