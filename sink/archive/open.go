package archive

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/steno-io/steno/schema"
)

// Open reads the seals of an archive, which say what is in it and where. It checks that they follow one
// another, and nothing else: whether what is read is what was sealed, Check says. An error wraps ErrUnfit where
// they do not. only says of which captures; nil: of all.
func Open(ctx context.Context, store Store, only func(schema.Identity) bool) (*Contents, error) {
	c := newContents(store)
	found := map[schema.Identity][]uint64{}
	for listed, err := range store.List(ctx, "") {
		if err != nil {
			return nil, fmt.Errorf("open archive %s: %w", store, err)
		}
		if o, err := ParseObject(listed.Name); err == nil && o.Kind == SealFile && (only == nil || only(o.Capture)) {
			found[o.Capture] = append(found[o.Capture], o.Last)
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(found), compareIdentities) {
		seals, err := sealsIn(ctx, store, id, found[id])
		if err != nil {
			return nil, fmt.Errorf("open archive %s: %w", store, unfit(ctx, err))
		}
		c.add(id, seals)
	}
	return c, nil
}

// sealsIn reads a capture's seals, which end at these frames.
func sealsIn(ctx context.Context, store Store, id schema.Identity, lasts []uint64) (seals []Seal, err error) {
	slices.Sort(lasts)
	var before *Link
	for _, last := range lasts {
		name := Folder(id) + sealName(last)
		data, err := read(ctx, store, name, maxSeal)
		if err != nil {
			return nil, err
		}
		s, err := DecodeSeal(data)
		if err == nil && (s.Capture != id.String() || s.Last != last) {
			err = fmt.Errorf("it is of %s up to frame %d", s.Capture, s.Last)
		}
		if err == nil && !follows(s.Previous, before) {
			err = errors.New("it does not follow the seal before it")
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w (steno verify finds what is wrong)", name, err)
		}
		before = &Link{last, hexSum(data)}
		seals = append(seals, s)
	}
	return seals, nil
}

// follows reports whether a seal's link is to the seal before it.
func follows(link, before *Link) bool {
	if link == nil || before == nil {
		return link == before
	}
	return *link == *before
}

func newContents(store Store) *Contents {
	return &Contents{store: store, captures: map[schema.Identity]*sealed{}}
}

// FramesOf gives a capture's frames from number first on, with their bytes, up to the end of its last seal.
// An error ends them, and wraps ErrUnfit unless the store failed. A capture that is not in the archive has none.
func (c *Contents) FramesOf(ctx context.Context, id schema.Identity, first uint64) iter.Seq2[schema.Frame, error] {
	return func(yield func(schema.Frame, error) bool) {
		one := c.captures[id]
		if one == nil {
			return
		}
		for f, err := range c.framesOf(ctx, one) {
			if err != nil {
				yield(schema.Frame{}, unfit(ctx, err))
				return
			}
			if f.Seq >= first && !yield(*f, nil) {
				return
			}
		}
	}
}
