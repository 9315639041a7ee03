package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// kvOperation is the header of a key that was deleted.
const kvOperation = "KV-Operation"

// look looks, once, that nothing holds what is sealed of a capture, and takes down the snapshot and the mark
// that bound what may go. The error is a heldError if something does.
func (r *returning) look(ctx context.Context) error {
	if r.free {
		return nil
	}
	stored, err := r.o.Ledger.Capture(ctx, r.id)
	if err != nil {
		return err
	}
	if stored.Parked != nil {
		return held("it is parked in the ledger (%s)", stored.Parked.Reason)
	}
	parked, ok, err := topology.Last(ctx, r.o.JS, topology.ParkedStream, topology.ParkedSubject(r.id.Subject()))
	if err != nil {
		return err
	}
	if ok && parked.Header.Get(kvOperation) == "" {
		return held("its translator has parked it")
	}
	if err := r.marked(ctx); err != nil {
		return err
	}
	if err := r.saved(ctx); err != nil {
		return err
	}
	r.free = true
	return nil
}

// marked reads the partition's mark: whoever takes the partition begins there.
func (r *returning) marked(ctx context.Context) error {
	key := topology.MarkKey(r.id.Partition(r.info.Partitions))
	m, ok, err := topology.Last(ctx, r.o.JS, topology.ParkedStream, topology.ParkedSubject(key))
	if err != nil {
		return err
	}
	if !ok || m.Header.Get(kvOperation) != "" {
		return held("its partition has no mark")
	}
	if err := json.Unmarshal(m.Data, &r.mark); err != nil {
		return fmt.Errorf("read key %s: %w", key, err)
	}
	for stream, at := range map[string]*topology.Place{topology.Raw: &r.mark.Frame, topology.Events: &r.mark.Record} {
		if !at.Created.Equal(r.info.Created[stream]) {
			at.Seq = 0
		}
	}
	return nil
}

// saved reads the capture's snapshot, whole, and looks that a translator can go on from it, as it does itself
// before it does so: it is of these streams and of the frame that it says, and not ahead of the last record.
func (r *returning) saved(ctx context.Context) error {
	m, ok, err := topology.Last(ctx, r.o.JS, topology.State, schema.StateSubject(r.id, r.info.Partitions))
	if err != nil {
		return err
	}
	r.unsaved = true
	if !ok {
		return held("it has no snapshot")
	}
	state := m.Data
	if name := m.Header.Get(schema.HeaderBlob); name != "" {
		if state, err = r.blobs.States().Get(ctx, r.id, name); errors.Is(err, topology.ErrBlob) {
			return held("its snapshot cannot be read: %v", err)
		}
		if err != nil {
			return err
		}
	}
	s, err := schema.DecodeSnapshot(r.id, m.Header, state)
	if err != nil {
		return held("%v", err)
	}
	if !s.Created.Equal(r.info.Created[topology.Raw]) {
		return held("its snapshot is of another stream")
	}
	if err := r.stands(ctx, &s); err != nil {
		return err
	}
	last, ok, err := topology.Last(ctx, r.o.JS, topology.Events, r.events)
	if err != nil {
		return err
	}
	if !ok {
		return held("it has no record")
	}
	record, err := schema.RecordFromHeader(last.Header)
	if err != nil {
		return err
	}
	order := s.Last.Compare(record.Last)
	if s.Translator != record.Translator || order > 0 || order < 0 && s.Frame >= record.Last.Frame || order == 0 && s.LastChain != record.Chain {
		return held("its snapshot of frame %d does not fit its last record %s", s.Frame, record.Last)
	}
	r.snapshot, r.unsaved = s, s.Frame < r.seal.Last
	return nil
}

// wake asks the translator what is open in the capture: so it loads it, and saves it once it is idle, which it does
// not by itself where it was stopped before that. The answer goes to nobody, and the request is made again when the
// capture is looked at again.
func (r *returning) wake() {
	conn := r.o.JS.Conn()
	if err := conn.PublishRequest(schema.OpenSubject(r.id, r.info.Partitions), conn.NewInbox(), nil); err != nil {
		r.o.Log.Debug().Err(err).Stringer("capture", r.id).Msg("ask for a snapshot")
	}
}

// stands looks that the snapshot's frame is where it says.
func (r *returning) stands(ctx context.Context, s *schema.Snapshot) error {
	m, there, err := topology.At(ctx, r.o.JS, topology.Raw, s.StreamSeq)
	if err != nil {
		return err
	}
	if !there {
		return held("the frame of its snapshot, %d, is not there", s.Frame)
	}
	if m.Subject != r.raw || m.Header.Get(schema.HeaderSeq) != fmt.Sprint(s.Frame) || m.Header.Get(schema.HeaderChain) != s.Chain {
		return held("its snapshot is not of what stands at sequence %d", s.StreamSeq)
	}
	return nil
}
