package main

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
)

// askOpen asks the owner of a capture's partition what is open in it, once. The error wraps
// nats.ErrNoResponders if the partition has no owner, and ctx's error if the answer does not come.
func askOpen(ctx context.Context, conn *nats.Conn, partitions uint32, id schema.Identity) (schema.OpenReply, error) {
	reply, err := requestOpen(ctx, conn, schema.OpenSubject(id, partitions))
	if err != nil {
		return schema.OpenReply{}, fmt.Errorf("ask what is open in %s: %w", id, err)
	}
	return reply, nil
}

func requestOpen(ctx context.Context, conn *nats.Conn, subject string) (reply schema.OpenReply, err error) {
	answers, err := conn.SubscribeSync(conn.NewInbox())
	if err != nil {
		return reply, err
	}
	defer func() { _ = answers.Unsubscribe() }() // the connection may be gone
	if err := conn.PublishRequest(subject, answers.Subject, nil); err != nil {
		return reply, err
	}
	var pages schema.OpenPages
	for whole := false; !whole; {
		page, err := answers.NextMsgWithContext(ctx)
		if err != nil {
			return reply, err
		}
		if reply, whole, err = pages.Add(page.Header, page.Data); err != nil {
			return reply, err
		}
	}
	return reply, nil
}
