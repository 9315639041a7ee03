package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// errNobody: nobody holds the data directory, so that nobody can be asked.
var errNobody = errors.New("nobody can be asked")

// askLine connects to where somebody can be asked: the NATS that the flags name, or whoever holds the data
// directory; when its holder changes, the connection moves to the next one. The caller hangs up.
func (a *app) askLine(ctx context.Context) (line *nats.Conn, hangUp func(), err error) {
	if a.remote() {
		if line, err = dial(a.destination()); err != nil {
			return nil, nil, err
		}
		return line, line.Close, nil
	}
	client, err := a.dir().ConnectOr(ctx, "steno run", func() error { return errNobody })
	if errors.Is(err, errNobody) {
		return nil, nil, &exitError{exitUnavailable, fmt.Errorf(
			"--permissions ask: %w: start steno up --data %s before, or give --nats or --context", err, a.dir())}
	}
	if err != nil {
		return nil, nil, err
	}
	return client.Conn, client.Close, nil
}
