package main

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/ingest/intervene"
	"github.com/steno-io/steno/ingest/intervene/reach"
	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/ingest/proxy"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// attendProxy takes interventions for the conversations that come through a proxy until ctx ends, wherever their
// record goes: see whileAttended. Nothing else depends on it.
func (a *app) attendProxy(ctx context.Context, p *proxy.Proxy, head journal.Head) {
	desks, reached := intervene.NewDesks(), &reach.Proxied{Calls: p, Peer: head.Open.Peer}
	for ctx.Err() == nil {
		err := a.attendOnce(ctx, head.Destination, func(ctx context.Context, conn *nats.Conn) error {
			filed, err := openFiled(ctx, conn)
			if err != nil {
				return err
			}
			reached.Filed = func(ctx context.Context, task string) (schema.Identity, bool, error) {
				f, ok, err := filed.Get(ctx, topology.TaskKey(head.Identity.Namespace, head.Identity.Workflow, head.Open.Peer, task))
				return f.Capture, ok, err
			}
			reached.Claim = filed.Claim
			return desks.Serve(ctx, conn, reached)
		})
		if err != nil { // nobody is there yet, or the next one is awaited
			a.log.Debug().Err(err).Msg("take interventions; trying again")
		}
		select {
		case <-ctx.Done():
		case <-time.After(attendEvery):
		}
	}
}

func openFiled(ctx context.Context, conn *nats.Conn) (*topology.FiledKeys, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	return topology.OpenFiled(ctx, js)
}
