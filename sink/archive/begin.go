package archive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Begun is what a seal will cover, decided before anything of it is written, by an object that is put only
// if absent. So several sealers, and one that was killed and starts again, make the same files.
type Begun struct {
	Version    int               `json:"steno_seal_begun"`
	Capture    string            `json:"capture"`
	Protocol   schema.Protocol   `json:"protocol"`
	Translator string            `json:"translator"`
	First      uint64            `json:"first_frame"` // behind the seal before
	Last       uint64            `json:"last_frame"`
	Origin     string            `json:"last_origin"`
	Chain      string            `json:"chain"`
	Sessions   []Heads           `json:"sessions"`
	Open       map[uint32]uint64 `json:"open"`
}

// maxSeal bounds the JSON of a seal and of what was begun, in bytes.
const maxSeal = 64 << 20

// begin decides what the seal behind previous covers: what was decided before, or else all that the
// ledger has. nil: there is nothing behind it.
func (s *Sealer) begin(ctx context.Context, id schema.Identity, previous *Seal) (*Begun, error) {
	first := uint64(1)
	if previous != nil {
		first = previous.Last + 1
	}
	name := Folder(id) + begunName(first)
	b, err := readBegun(ctx, s.store, id, first)
	if !errors.Is(err, ErrNotFound) {
		return b, err
	}
	info, err := s.ledger.Capture(ctx, id)
	if err != nil {
		return nil, err
	}
	if info.Last.Frame < first {
		return nil, nil
	}
	if b, err = s.beginning(ctx, info, first); err != nil {
		return nil, err
	}
	data, err := b.encode()
	if err != nil {
		return nil, err
	}
	err = s.store.Put(ctx, name, data)
	if errors.Is(err, ErrExists) {
		return readBegun(ctx, s.store, id, first)
	}
	return b, err
}

func (s *Sealer) beginning(ctx context.Context, info sink.CaptureInfo, first uint64) (*Begun, error) {
	b := &Begun{
		Version: SealVersion, Capture: info.Capture.Capture.String(), Translator: info.Translator,
		First: first, Last: info.Last.Frame, Origin: info.Last.String(), Chain: info.Chain,
		Sessions: []Heads{}, Open: info.Open,
	}
	if b.Open == nil {
		b.Open = map[uint32]uint64{}
	}
	for _, session := range info.Sessions {
		if session.Head == 0 {
			continue
		}
		b.Sessions = append(b.Sessions, Heads{session.Session, session.Head})
		if b.Protocol == "" {
			t, err := s.ledger.Transcript(ctx, schema.Transcript{Identity: info.Capture.Capture, Session: session.Session})
			if err != nil {
				return nil, err
			}
			b.Protocol = t.Protocol
		}
	}
	slices.SortFunc(b.Sessions, func(x, y Heads) int { return cmp.Compare(x.Session, y.Session) })
	return b, nil
}

func (b *Begun) encode() ([]byte, error) {
	out, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write what is sealed of %s: %w", b.Capture, err)
	}
	return append(out, '\n'), nil
}

// readBegun reads what was decided of the seal that begins at a frame; ErrNotFound if nothing was.
func readBegun(ctx context.Context, store Store, id schema.Identity, first uint64) (*Begun, error) {
	name := Folder(id) + begunName(first)
	data, err := read(ctx, store, name, maxSeal)
	if err != nil {
		return nil, err
	}
	var b Begun
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	again, err := b.encode()
	if err != nil {
		return nil, err
	}
	switch {
	case b.Version != SealVersion:
		return nil, fmt.Errorf("read %s: its version is %d, this build reads %d", name, b.Version, SealVersion)
	case b.Capture != id.String() || b.First != first || b.Last < first:
		return nil, fmt.Errorf("read %s: it is of frames %d to %d of %s", name, b.First, b.Last, b.Capture)
	case !bytes.Equal(again, data):
		return nil, fmt.Errorf("read %s: byte %d is not as it is written", name, differAt(again, data))
	}
	return &b, nil
}
