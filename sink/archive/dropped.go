package archive

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Bounds of what is kept of archives that were read.
const (
	recentBytes    = 64 << 20 // of unpacked lines and where they are, passed by at most one part
	lineBytes      = 24       // that it takes to say where a line is
	recentListings = 4096     // parts of captures
)

// Cache keeps some of what was read of archives, for all that read with it. The zero value is empty. It is safe for
// concurrent use.
type Cache struct {
	listings recent[captureIn, []sealedFile]
	parts    recent[partOf, [][]byte] // line by line: a reader may begin anywhere
}

// Dropped reads the events that ledgers have dropped. What is read next is often in the part that was read last, or
// beside it: some are kept. It is safe for concurrent use.
type Dropped struct {
	cache *Cache
	open  func(ctx context.Context, d sink.Dropped) (Store, error)
}

// captureIn is a capture in an archive.
type captureIn struct {
	archive string
	capture schema.Identity
}

// partOf is a part of it.
type partOf struct {
	captureIn
	name string
}

// NewDropped makes a reader, which shares the cache with others; nil: with none. open gives the archive that has a piece,
// and is asked each time.
func NewDropped(cache *Cache, open func(ctx context.Context, d sink.Dropped) (Store, error)) *Dropped {
	if cache == nil {
		cache = &Cache{}
	}
	return &Dropped{cache, open}
}

// Events is a sink.Sealed. Each event is held against the digest that the ledger has kept of it, whatever the
// archive's seals say. An error wraps a *sink.DroppedError, which names the archive.
func (r *Dropped) Events(ctx context.Context, d sink.Dropped, from uint64) iter.Seq2[sink.Event, error] {
	return func(yield func(sink.Event, error) bool) {
		fail := func(err error) {
			yield(sink.Event{}, fmt.Errorf("%w: %w", &sink.DroppedError{Dropped: d}, err))
		}
		store, err := r.open(ctx, d)
		if err != nil {
			fail(err)
			return
		}
		a := Archived{Telling(store)}
		for next := max(from, d.First); next <= d.Last; {
			first, lines, err := r.part(ctx, a, d.Transcript, next)
			if err != nil {
				fail(err)
				return
			}
			for _, line := range lines[next-first:] {
				if next > d.Last {
					return
				}
				if !d.Is(next, line) {
					fail(fmt.Errorf("event %d is not the one that was dropped, in archive %s: %w", next, store, sink.ErrOther))
					return
				}
				if !yield(sink.Event{Seq: next, Bytes: bytes.Clone(line)}, nil) {
					return
				}
				next++
			}
		}
	}
}

// part gives the lines of the part that has an event, that one's among them, and the number of the first.
func (r *Dropped) part(ctx context.Context, a Archived, key schema.Transcript, number uint64) (first uint64, lines [][]byte, err error) {
	in := captureIn{a.Store.String(), key.Identity}
	known, ok := r.cache.listings.get(in)
	f := partWith(known, key.Session, number)
	if !ok || f == nil { // more may have been sealed since
		if known, err = r.list(ctx, a, in); err != nil {
			return 0, nil, err
		}
		f = partWith(known, key.Session, number)
	}
	if f == nil {
		return 0, nil, fmt.Errorf("archive %s has no event %d of %s", a.Store, number, key)
	}
	name := partOf{in, f.Name}
	if lines, ok := r.cache.parts.get(name); ok {
		return f.First, lines, nil
	}
	text, err := a.unpack(ctx, key.Identity, f.File)
	if err != nil {
		return 0, nil, err
	}
	lines = bytes.Split(text[:len(text)-1], []byte{'\n'}) // as many as its seal says
	r.cache.parts.put(name, lines, len(text)+len(lines)*lineBytes, recentBytes)
	return f.First, lines, nil
}

// list reads which parts with events a capture's seals name.
func (r *Dropped) list(ctx context.Context, a Archived, in captureIn) (known []sealedFile, err error) {
	for f, err := range a.parts(ctx, in.capture) {
		if err != nil {
			return nil, err
		}
		if f.Kind == Events && f.Content != nil && f.First > 0 && f.Last-f.First < uint64(f.Content.Lines) {
			known = append(known, f)
		}
	}
	r.cache.listings.put(in, known, 1+len(known), recentListings)
	return known, nil
}

// partWith finds the part that has an event; nil if there is none.
func partWith(files []sealedFile, session uint32, number uint64) *sealedFile {
	for i := range files {
		if f := &files[i]; f.Session == session && f.First <= number && number <= f.Last {
			return f
		}
	}
	return nil
}
