package main

import (
	"context"
	"errors"
	"fmt"
)

// errNobody: nobody holds the data directory, so that nobody can be asked.
var errNobody = errors.New("nobody can be asked")

// canAsk is an error where nobody could answer: over the NATS that the flags name, or over whoever holds the data
// directory.
func (a *app) canAsk(ctx context.Context) error {
	if a.remote() {
		conn, err := dial(a.destination())
		if err != nil {
			return err
		}
		conn.Close()
		return nil
	}
	client, err := a.dir().ConnectOr(ctx, "steno run", func() error { return errNobody })
	if errors.Is(err, errNobody) {
		return &exitError{exitUnavailable, fmt.Errorf(
			"--permissions ask: %w: start steno up --data %s before, or give --nats or --context", err, a.dir())}
	}
	if err != nil {
		return err
	}
	client.Close()
	return nil
}
