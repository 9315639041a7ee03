package keeper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
)

// records finds the records that may go, and compares each of their events with what the archive has.
func (r *returning) records(ctx context.Context) (found, error) {
	var out found
	first, ok, err := topology.First(ctx, r.o.JS, topology.Events, r.events)
	if err != nil || !ok {
		return out, err
	}
	last, ok, err := topology.Last(ctx, r.o.JS, topology.Events, r.events)
	if err != nil || !ok || last.Seq == first.Seq {
		return out, err
	}
	if err := r.look(ctx); err != nil {
		return out, err
	}
	c := &comparing{returning: r, sessions: map[uint32]*session{}}
	defer c.close()
	for m, err := range topology.Read(ctx, r.o.JS, topology.Events, r.events, first.Seq) {
		if err != nil {
			return out, err
		}
		record, _, err := r.blobs.Record(ctx, m)
		if err != nil {
			return out, err
		}
		if m.Seq == last.Seq || record.Last.Frame > r.seal.Last {
			break
		}
		if m.Seq >= r.mark.Record.Seq || m.Time.After(r.cutoff) {
			out.left++
			break
		}
		if err := c.record(ctx, &record); err != nil {
			return out, err
		}
		out.count, out.before, out.last, out.chain = out.count+1, m.Seq+1, record.Last.Frame, record.Chain
	}
	return out, nil
}

// comparing holds records against the archived events of their sessions, one after the other.
type comparing struct {
	*returning
	sessions map[uint32]*session
}

// session is an archived session that is read along.
type session struct {
	next uint64
	read func() (sink.Event, bool, error)
	stop func()
}

func (c *comparing) close() {
	for _, s := range c.sessions {
		s.stop()
	}
}

func (c *comparing) record(ctx context.Context, record *schema.Record) error {
	given := map[uint32]uint64{}
	for _, line := range record.Events {
		var e struct {
			Session uint32 `json:"session"`
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("read record %s of %s: %w", record.Last, c.id, err)
		}
		ordinal := record.First[e.Session] + given[e.Session]
		given[e.Session]++
		want, err := schema.WithStoreSeq(line, ordinal)
		if err != nil {
			return err
		}
		have, err := c.event(ctx, e.Session, ordinal)
		if err != nil {
			return err
		}
		if !bytes.Equal(have, want) {
			return fmt.Errorf("%w: event %d of session %d is another one on %s", archive.ErrDiffers, ordinal, e.Session, topology.Events)
		}
	}
	return nil
}

// event gives an archived event; nil if the archive has none of that number.
func (c *comparing) event(ctx context.Context, number uint32, ordinal uint64) ([]byte, error) {
	s := c.sessions[number]
	if s == nil || s.next != ordinal {
		if s != nil {
			s.stop()
		}
		if ordinal == 0 {
			return nil, errors.New("a record states no ordinal of its events")
		}
		s = &session{next: ordinal}
		s.read, s.stop = pull(c.archived.Events(ctx, schema.Transcript{Identity: c.id, Session: number}, ordinal-1))
		c.sessions[number] = s
	}
	e, ok, err := s.read()
	if err != nil || !ok || e.Seq != ordinal {
		return nil, err
	}
	s.next++
	return e.Bytes, nil
}
