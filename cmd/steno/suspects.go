package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/secrets"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
)

// suspects counts what looks like a secret in frames and events, as they pass.
type suspects struct {
	*secrets.Tally
	first, last uint64 // frames that passed
}

func newSuspects() *suspects { return &suspects{Tally: secrets.NewTally()} }

// frames gives a capture's frames on.
func (s *suspects) frames(id schema.Identity, in iter.Seq2[schema.Frame, error]) iter.Seq2[schema.Frame, error] {
	capture := id.String()
	return func(yield func(schema.Frame, error) bool) {
		for f, err := range in {
			if err == nil {
				s.Frame(capture, f.Seq, f.Data, f.HTTP)
				s.last = f.Seq
				if s.first == 0 {
					s.first = f.Seq
				}
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// events gives a transcript's events on.
func (s *suspects) events(key schema.Transcript, in iter.Seq2[sink.Event, error]) iter.Seq2[sink.Event, error] {
	transcript := key.String()
	return func(yield func(sink.Event, error) bool) {
		for e, err := range in {
			if err == nil {
				s.Event(transcript, e.Seq, e.Bytes)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// sealing is what a sealer reads, with suspects counted.
type sealing struct {
	archive.Source
	archive.Ledger
	*suspects
}

// Frames implements archive.Source.
func (s sealing) Frames(ctx context.Context, id schema.Identity, first uint64) iter.Seq2[schema.Frame, error] {
	return s.frames(id, s.Source.Frames(ctx, id, first))
}

// Events implements archive.Ledger.
func (s sealing) Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error] {
	return s.events(key, s.Ledger.Events(ctx, key, after, limit))
}

// whole counts anew, in all that a seal and those before it cover.
func (s sealing) whole(ctx context.Context, id schema.Identity, seal *archive.Seal) (*suspects, error) {
	all := sealing{s.Source, s.Ledger, newSuspects()}
	for f, err := range all.Frames(ctx, id, 1) {
		if err != nil {
			return nil, err
		}
		if f.Seq >= seal.Last {
			break
		}
	}
	for _, h := range seal.Sessions {
		key := schema.Transcript{Identity: id, Session: h.Session}
		for e, err := range all.Events(ctx, key, 0, 0) {
			if err != nil {
				return nil, err
			}
			if e.Seq >= h.Head {
				break
			}
		}
	}
	return all.suspects, nil
}

// count says how many suspects there are, by kind.
func (s *suspects) count() string {
	if s.Found.Secrets == 0 {
		return "no suspected secret"
	}
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(s.Found.Kinds)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", s.Found.Kinds[kind], kind))
	}
	return fmt.Sprintf("%s: %s", plural(s.Found.Secrets, "suspected secret"), strings.Join(kinds, ", "))
}

// maxSuspectsSaid bounds the suspects of which a command says where they are.
const maxSuspectsSaid = 20

// sayPlaces says where the suspects are, each on a line, and never what they are.
func (s *suspects) sayPlaces(w io.Writer) {
	for i, p := range s.Found.Places {
		if i == maxSuspectsSaid {
			break
		}
		var where []string
		if p.Transcript != "" {
			where = append(where, fmt.Sprintf("event %d of %s", p.Seq, p.Transcript))
		}
		if p.Capture != "" {
			where = append(where, fmt.Sprintf("frame %d of %s", p.Frame, p.Capture))
		}
		fmt.Fprintf(w, "  %s: %s\n", p.Kind, strings.Join(where, ", "))
	}
	if more := s.Found.Secrets - min(s.Found.Secrets, maxSuspectsSaid); more > 0 {
		fmt.Fprintf(w, "  … and %d more\n", more)
	}
}
