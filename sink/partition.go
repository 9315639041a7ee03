package sink

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// partition stores the records of one partition: a reader that decodes, and a writer that puts what
// is there into one transaction.
type partition struct {
	sink    *Sink
	number  uint32
	of      uint32    // the number of partitions
	created time.Time // of STENO_EVENTS
	blobs   *topology.Blobs
	queue   *queue
	// redriven: the claim is over, or may be, because this partition itself raised the epoch.
	redriven atomic.Bool
}

func (p *partition) run(ctx context.Context) error {
	s := p.sink
	claim, err := retry(ctx, s, "claim a partition", func() (Claim, error) { return s.o.Ledger.Claim(ctx, p.number) })
	if err != nil {
		return err
	}
	defer s.claims.hold(claim)()
	from, err := retry(ctx, s, "check a position", func() (uint64, error) { return p.from(ctx, claim.Position) })
	if err != nil {
		return err
	}
	if from > 1 {
		s.progress.set(p.number, from-1)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	wg.Go(func() { stop(p.read(ctx, from)) })
	wg.Go(func() { stop(p.write(ctx, claim)) })
	wg.Go(func() { stop(p.redrive(ctx, claim)) })
	wg.Wait()
	if p.redriven.Load() {
		return errRestart
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// from is where to read on. A position that does not fit the stream counts for nothing: the stream
// is another one, or was put back from a copy.
func (p *partition) from(ctx context.Context, at Position) (uint64, error) {
	if at.Seq == 0 {
		return 1, nil
	}
	log := p.sink.o.Log.Warn().Uint32("partition", p.number).Uint64("sequence", at.Seq)
	if !at.Created.Equal(p.created) {
		log.Time("stream", p.created).Time("position", at.Created).Msg("position is of another stream: reading from the first message")
		return 1, nil
	}
	for m, err := range topology.Read(ctx, p.sink.o.JS, topology.Events, schema.EventPartition(p.number), at.Seq) {
		if err != nil {
			return 0, err
		}
		if m.Seq == at.Seq && Digest(m.Subject, m.Header, m.Data) == at.Digest {
			return at.Seq + 1, nil
		}
		break
	}
	log.Msg("position does not fit the stream: reading from the first message")
	return 1, nil
}

func (p *partition) read(ctx context.Context, from uint64) error {
	return topology.Consume(ctx, p.sink.o.JS, topology.Events, schema.EventPartition(p.number), from, func(m topology.Message) error {
		e, err := p.entry(ctx, m)
		if err != nil || e == nil {
			return err
		}
		return p.queue.put(ctx, *e)
	})
}

// entry reads a message. One on a subject that is no capture's says nothing of any transcript: it
// gives nil, and is reported.
func (p *partition) entry(ctx context.Context, m topology.Message) (*Entry, error) {
	number, id, err := schema.ParseSubject(m.Subject)
	if err != nil || number != id.Partition(p.of) {
		p.sink.o.Log.Error().Err(err).Str("subject", m.Subject).Uint64("sequence", m.Seq).Msg("message on a subject that no capture has")
		return nil, nil
	}
	payload := m.Data
	if sha := m.Header.Get(schema.HeaderBlob); sha != "" {
		payload, err = retry(ctx, p.sink, "get a record's bytes", func() ([]byte, error) { return p.blobs.Get(ctx, id, sha) })
		if err != nil {
			return nil, fmt.Errorf("read record %d of %s: %w", m.Seq, id, err)
		}
	}
	digest := Digest(m.Subject, m.Header, m.Data)
	r, err := schema.DecodeRecord(m.Header, payload)
	if err != nil {
		e := RefusedEntry(id, m.Seq, m.Time.UTC(), digest, fmt.Errorf("read record %d of %s: %w", m.Seq, id, err))
		return &e, nil
	}
	e := NewEntry(id, m.Seq, m.Time.UTC(), digest, r)
	return &e, nil
}

func (p *partition) write(ctx context.Context, claim Claim) error {
	s := p.sink
	var entries []Entry
	for {
		var err error
		clear(entries)
		if entries, err = p.queue.take(ctx, entries[:0], s.o.MaxEvents); err != nil {
			return err
		}
		last := &entries[len(entries)-1]
		b := Batch{Claim: claim, Entries: entries, Position: Position{Created: p.created, Seq: last.Seq, Digest: last.Digest}}
		stored, err := retry(ctx, s, "store a batch", func() (Stored, error) { return Store(ctx, s.o.Ledger, b) })
		if err != nil {
			return err
		}
		p.tell(stored)
		s.progress.set(p.number, last.Seq)
	}
}

func (p *partition) tell(stored Stored) {
	for _, parked := range stored.Parked {
		p.sink.o.Log.Error().Stringer("capture", parked.Capture).Str("reason", string(parked.Reason)).
			Uint32("session", parked.Session).Uint64("ordinal", parked.Ordinal).Uint64("sequence", parked.Seq).
			Msg("capture parked: nothing more of it is stored")
	}
	p.sink.wake(stored.Heads)
	signal(p.sink.fresh)
	if p.sink.o.OnStored != nil {
		p.sink.o.OnStored(stored)
	}
}
