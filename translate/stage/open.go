package stage

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"github.com/steno-io/steno/schema"
)

// answer replies to requests on the partition's open subjects, one after the other, for any capture
// in it: one that was not seen yet is read first.
func (p *partition) answer(ctx context.Context) error {
	requests := make(chan *nats.Msg, 256)
	subject := schema.OpenPartition(p.number)
	sub, err := p.worker.js.Conn().ChanSubscribe(subject, requests)
	if err != nil {
		return fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	defer func() {
		if err := sub.Unsubscribe(); err != nil {
			p.worker.log.Warn().Err(err).Str("subject", subject).Msg("unsubscribe")
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case request := <-requests:
			if _, err := p.worker.gate.pass(ctx); err != nil {
				return err
			}
			if err := p.reply(ctx, request); err != nil {
				return err
			}
		}
	}
}

// reply answers one request. A request that names no capture of this partition, or no inbox, gets
// no answer.
func (p *partition) reply(ctx context.Context, request *nats.Msg) error {
	_, id, err := schema.ParseSubject(request.Subject)
	if err != nil || !schema.IsInbox(request.Reply) || request.Subject != schema.OpenSubject(id, p.worker.info.Partitions) {
		p.worker.log.Warn().Str("subject", request.Subject).Str("reply", request.Reply).Msg("request that cannot be answered")
		return nil
	}
	c := p.lock(id)
	defer c.mu.Unlock()
	if err := p.loadWhole(ctx, c); err != nil {
		return err
	}
	if c.frame == 0 && c.parked == nil {
		p.forget(c) // frames may come; until then it takes no memory
	}
	reply, bad := c.openReply()
	if bad != nil {
		if err := p.park(ctx, c, bad, c.frame, c.rawSeq); err != nil {
			return err
		}
		reply, _ = c.openReply()
	}
	for _, page := range schema.CutOpenPages(reply.AppendJSON(nil), uuid.NewString()) {
		msg := &nats.Msg{Subject: request.Reply, Header: page.Header, Data: page.Data}
		if err := p.worker.js.Conn().PublishMsg(msg); err != nil {
			// The console asks again; the transcript does not depend on it.
			p.worker.log.Warn().Err(err).Stringer("capture", id).Msg("answer open request")
			return nil
		}
	}
	return nil
}

// openReply tells what the capture holds unfinished. c.mu is held.
func (c *capture) openReply() (schema.OpenReply, *failure) {
	r := schema.OpenReply{Identity: c.id, Frame: c.frame, Translator: c.version, Ordinals: map[uint32]uint64{}, Frames: map[uint32]uint64{}}
	if c.parked != nil {
		r.Parked = string(c.parked.Reason)
	}
	if c.fold == nil || c.parked != nil {
		return r, nil
	}
	bad := c.guard(c.frame, func() *failure {
		r.Translator, r.Ordinals = c.fold.Version(), c.ordinals()
		open := c.fold.Open()
		for _, m := range open.Messages {
			r.Messages = append(r.Messages, schema.OpenMessage(m))
		}
		for _, n := range open.Notes {
			r.Notes = append(r.Notes, schema.OpenNote(n))
		}
		for _, t := range open.Tools {
			r.Tools = append(r.Tools, schema.OpenTool(t))
		}
		if open.Frames != nil {
			r.Frames = open.Frames
		}
		return nil
	})
	return r, bad
}
