package holder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/ingest/filing"
	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// recheck asks the streams whether they still hold what journals marked as stored gave them, and has a
// journal published again whose frames are gone: an older copy of a store was put back. A mark is a hint,
// and journals are kept for a day so that they can be given again. What cannot be asked now is asked at
// the next holder's start, or in an hour.
func (j *journals) recheck(ctx context.Context) {
	infos, err := journal.List(j.o.Dir.Journals())
	if err != nil {
		j.o.Log.Warn().Err(err).Msg("look whether the streams hold what is marked as stored")
		return
	}
	streams := map[string]*filing.Options{}
	defer func() {
		for destination, o := range streams {
			if o != nil && destination != "" {
				o.JS.Conn().Close()
			}
		}
	}()
	for _, info := range infos {
		mark := j.mark(info.ID)
		if info.Err != nil || !mark.Done || info.Head.Destination != "" && j.o.Kind != Up {
			continue // who only holds the directory for a moment asks no other server
		}
		o, asked := streams[info.Head.Destination]
		if !asked {
			if o, err = j.reach(ctx, info.Head.Destination); err != nil {
				j.o.Log.Debug().Err(err).Str("journal", info.ID).Msg("look whether the streams hold what is marked as stored")
			}
			streams[info.Head.Destination] = o
		}
		if o == nil {
			continue
		}
		lost, err := gone(ctx, o.JS, o.Partitions, mark)
		if err != nil {
			j.o.Log.Debug().Err(err).Str("journal", info.ID).Msg("look whether the stream holds what is marked as stored")
		}
		if lost != nil {
			j.again(info.ID, lost)
		}
	}
}

// reach gives the streams of a destination.
func (j *journals) reach(ctx context.Context, destination string) (*filing.Options, error) {
	o := j.to
	if destination != "" {
		if _, err := j.elsewhere(ctx, destination, &o); err != nil {
			return nil, err
		}
	}
	return &o, nil
}

// gone says which capture of a mark has fewer frames than the mark's publisher knew; nil if none has.
func gone(ctx context.Context, js jetstream.JetStream, partitions uint32, mark journal.Mark) (lost, err error) {
	for id, frames := range capturesOf(mark) {
		m, ok, err := topology.Last(ctx, js, topology.Raw, schema.RawSubject(id, partitions))
		if err != nil {
			return nil, err
		}
		var last uint64
		if ok {
			if last, err = strconv.ParseUint(m.Header.Get(schema.HeaderSeq), 10, 64); err != nil {
				return nil, fmt.Errorf("read last frame of %s: %w", id, err)
			}
		}
		if last < frames {
			return fmt.Errorf("%s had %d frames and has %d", id, frames, last), nil
		}
	}
	return nil, nil
}

// again has a journal published from its start.
func (j *journals) again(id string, lost error) {
	log := j.o.Log.With().Str("journal", id).Logger()
	if err := journal.RemoveMark(j.o.Dir.Journals(), id); err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Error().Err(err).AnErr("lost", lost).Msg("the stream lost frames, and their journal cannot be given again")
		return
	}
	log.Error().AnErr("lost", lost).Msg("the stream lost frames: their journal is given again")
	j.mu.Lock()
	delete(j.done, id)
	j.mu.Unlock()
	select {
	case j.poke <- struct{}{}:
	default:
	}
}
