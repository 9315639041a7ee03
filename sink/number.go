package sink

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/steno-io/steno/schema"
)

// Tx is one open transaction of a ledger, as numbering needs it.
type Tx interface {
	// Capture gives what is kept of a capture, making an empty one where nothing is.
	Capture(ctx context.Context, id schema.Identity) (*Capture, error)
	// Transcript gives what is kept of a session, making an empty one where nothing is.
	Transcript(ctx context.Context, c *Capture, session uint32) (*Transcript, error)
	// Event gives the bytes stored under a number, those put in this transaction included; nil if there are none.
	Event(ctx context.Context, t *Transcript, seq uint64) ([]byte, error)
	// Dropped gives the SHA-256 of a dropped event; nil if it was not dropped.
	Dropped(ctx context.Context, t *Transcript, seq uint64) ([]byte, error)
	// Put stores an event's bytes under its number; both are kept until the transaction ends.
	Put(ctx context.Context, t *Transcript, seq uint64, event []byte) error
}

// Names gives the keys of the captures and the sessions that Number asks a batch's Tx for, or more:
// a ledger may read them all at once.
func (b Batch) Names() (captures []string, sessions []uint32) {
	keys, numbers := map[string]bool{}, map[uint32]bool{0: true}
	for i := range b.Entries {
		e := &b.Entries[i]
		keys[e.Capture.String()] = true
		for session := range e.Record.First {
			numbers[session] = true
		}
		for session := range e.Record.Open {
			numbers[session] = true
		}
		for session := range e.Record.About {
			numbers[session] = true
		}
	}
	return slices.Sorted(maps.Keys(keys)), slices.Sorted(maps.Keys(numbers))
}

// Numbered is what Number changed; the ledger saves it in the same transaction.
type Numbered struct {
	Stored
	Captures    []*Capture
	Transcripts []*Transcript
}

// Number gives the batch's events their numbers. A record is taken whole or not at all: one that
// does not fit parks its capture, and the later records of a parked capture are passed over.
func Number(ctx context.Context, tx Tx, b Batch) (Numbered, error) {
	n := numbering{
		tx: tx, batch: b,
		captures: map[schema.Identity]*captureInBatch{}, heads: map[schema.Transcript]*Transcript{},
	}
	for i := range b.Entries {
		e := &b.Entries[i]
		if err := n.record(ctx, e); err != nil {
			return Numbered{}, fmt.Errorf("number record %d of %s: %w", e.Seq, e.Capture, err)
		}
	}
	for i, key := range n.order {
		n.out.Heads = append(n.out.Heads, Head{Transcript: key, Seq: n.out.Transcripts[i].Head})
	}
	return n.out, nil
}

type numbering struct {
	tx       Tx
	batch    Batch
	captures map[schema.Identity]*captureInBatch
	heads    map[schema.Transcript]*Transcript
	order    []schema.Transcript
	out      Numbered
}

type captureInBatch struct {
	*Capture
	changed bool
}

func (n *numbering) record(ctx context.Context, e *Entry) error {
	c, err := n.capture(ctx, e)
	if err != nil {
		return err
	}
	if c.Parked != nil {
		return nil
	}
	if e.Refused != nil {
		n.park(c, e, Parked{Reason: ReasonRefused, Got: []byte(e.Refused.Error())})
		return nil
	}
	misfit, err := n.check(ctx, c, e)
	if err != nil {
		return err
	}
	if misfit != nil {
		n.park(c, e, *misfit)
		return nil
	}
	return n.take(ctx, c, e)
}

func (n *numbering) capture(ctx context.Context, e *Entry) (*captureInBatch, error) {
	if c, ok := n.captures[e.Capture]; ok {
		return c, nil
	}
	kept, err := n.tx.Capture(ctx, e.Capture)
	if err != nil {
		return nil, err
	}
	kept.Partition = n.batch.Claim.Partition
	c := &captureInBatch{Capture: kept}
	n.captures[e.Capture] = c
	_, err = n.transcript(ctx, c, e, 0) // lists show a capture by its session 0
	return c, err
}

func (n *numbering) transcript(ctx context.Context, c *captureInBatch, e *Entry, session uint32) (*Transcript, error) {
	key := schema.Transcript{Identity: c.Capture.Capture, Session: session}
	if t, ok := n.heads[key]; ok {
		return t, nil
	}
	t, err := n.tx.Transcript(ctx, c.Capture, session)
	if err != nil {
		return nil, err
	}
	if t.AddedAt.IsZero() {
		t.AddedAt = e.added()
	}
	n.heads[key] = t
	n.order = append(n.order, key)
	n.out.Transcripts = append(n.out.Transcripts, t)
	return t, nil
}

func (n *numbering) park(c *captureInBatch, e *Entry, p Parked) {
	p.Capture, p.Seq, p.At = e.Capture, e.Seq, e.At
	c.Parked = &p
	n.change(c)
	n.out.Parked = append(n.out.Parked, p)
}

func (n *numbering) change(c *captureInBatch) {
	if !c.changed {
		c.changed = true
		n.out.Captures = append(n.out.Captures, c.Capture)
	}
}

// check holds every event's ordinal against the number that it would get, and an event that came before against
// the one that is stored: byte for byte, or, where that one was dropped, SHA-256 for SHA-256, so that no archive
// is needed to store. Nothing is changed.
func (n *numbering) check(ctx context.Context, c *captureInBatch, e *Entry) (*Parked, error) {
	given := map[uint32]uint64{} // events of this record, by session
	for i := range e.facts {
		f := &e.facts[i]
		t, err := n.transcript(ctx, c, e, f.session)
		if err != nil {
			return nil, err
		}
		ordinal := e.Record.First[f.session] + given[f.session]
		given[f.session]++
		next := t.Head + 1
		p := Parked{Session: f.session, Ordinal: ordinal}
		switch {
		case e.Record.First[f.session] > next: // a record's events of a session follow one another
			p.Reason, p.Have, p.Got = ReasonGap, strconv.AppendUint(nil, next, 10), strconv.AppendUint(nil, ordinal, 10)
			return &p, nil
		case ordinal > t.Head && f.origin.Compare(c.Last) <= 0:
			p.Reason, p.Have, p.Got = ReasonOrigin, []byte(c.Last.String()), []byte(f.origin.String())
			return &p, nil
		case ordinal > t.Head:
			continue
		}
		got, err := schema.WithStoreSeq(e.Record.Events[i], ordinal)
		if err != nil {
			return nil, err
		}
		have, same, err := n.compare(ctx, t, ordinal, got)
		if err != nil {
			return nil, fmt.Errorf("read event %d of session %d: %w", ordinal, f.session, err)
		}
		if !same {
			p.Reason, p.Have, p.Got = ReasonChanged, have, got
			return &p, nil
		}
	}
	return nil, nil
}

// compare holds an event that came again against what is kept of the first one, and gives that; nil: nothing is. One
// that is not there may have been dropped since the transcript was read, by the owner of another partition.
func (n *numbering) compare(ctx context.Context, t *Transcript, ordinal uint64, got []byte) (have []byte, same bool, err error) {
	if ordinal > t.Dropped {
		if have, err = n.tx.Event(ctx, t, ordinal); err != nil || have != nil {
			return have, bytes.Equal(have, got), err
		}
	}
	digest, err := n.tx.Dropped(ctx, t, ordinal)
	if err != nil || digest == nil {
		return nil, false, err
	}
	have, same = again(digest, got)
	return have, same, nil
}

// take stores what is new of a record that fits.
func (n *numbering) take(ctx context.Context, c *captureInBatch, e *Entry) error {
	given := map[uint32]uint64{}
	for i := range e.facts {
		f := &e.facts[i]
		ordinal := e.Record.First[f.session] + given[f.session]
		given[f.session]++
		t, err := n.transcript(ctx, c, e, f.session)
		if err != nil {
			return err
		}
		if ordinal <= t.Head {
			continue
		}
		event, err := schema.WithStoreSeq(e.Record.Events[i], ordinal)
		if err != nil {
			return err
		}
		t.take(f, c.count(f))
		if err := n.tx.Put(ctx, t, ordinal, event); err != nil {
			return fmt.Errorf("store event %d of session %d: %w", ordinal, f.session, err)
		}
		n.out.Events++
	}
	if !c.covers(&e.Record) {
		return nil
	}
	n.change(c)
	for _, session := range slices.Sorted(maps.Keys(e.Record.Open)) { // listed before its first event
		if _, err := n.transcript(ctx, c, e, session); err != nil {
			return err
		}
	}
	for _, session := range slices.Sorted(maps.Keys(e.Record.About)) {
		t, err := n.transcript(ctx, c, e, session)
		if err != nil {
			return err
		}
		t.merge(e.Record.About[session])
	}
	return nil
}
