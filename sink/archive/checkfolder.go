package archive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/verify"
)

// allFolders checks the captures' folders, several at a time: reading seals and signatures takes more than
// hashing the files. What is found stands in the order of the captures.
func (c *check) allFolders(ctx context.Context) error {
	ids := slices.SortedFunc(maps.Keys(c.folders), compareIdentities)
	parts := make([]check, len(ids))
	good := make([][]Seal, len(ids))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, id := range ids {
		parts[i] = check{store: c.store, o: c.o, sums: c.sums, keys: map[string]bool{}}
		g.Go(func() (err error) {
			if good[i], err = parts[i].folder(ctx, id, c.folders[id]); err != nil {
				return fmt.Errorf("verify %s in archive %s: %w", id, c.store, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, id := range ids {
		part := &parts[i]
		c.findings, c.unfinished = append(c.findings, part.findings...), append(c.unfinished, part.unfinished...)
		c.seals += part.seals
		maps.Copy(c.keys, part.keys)
		if len(good[i]) > 0 {
			c.contents.add(id, good[i])
		}
	}
	return nil
}

// folder checks a capture's objects against its seals, and the seals against one another. It gives the seals that
// can be read.
func (c *check) folder(ctx context.Context, id schema.Identity, f *folder) (good []Seal, err error) {
	slices.Sort(f.seals)
	named := map[string]bool{}
	for _, last := range f.seals {
		name := sealName(last)
		named[name], named[noteName(name)] = true, true
		c.seals++
		data, err := read(ctx, c.store, Folder(id)+name, maxSeal)
		if err != nil {
			if err := c.unread(ctx, Folder(id)+name, err); err != nil {
				return nil, err
			}
			continue
		}
		f.links[last] = hexSum(data)
		s, err := DecodeSeal(data)
		if err == nil && (s.Capture != id.String() || s.Last != last) {
			err = fmt.Errorf("it is of %s up to frame %d", s.Capture, s.Last)
		}
		if err != nil {
			c.find(verify.BadSeal, Folder(id)+name, "%v", err)
			continue
		}
		var before *Seal
		if len(good) > 0 {
			before = &good[len(good)-1]
		}
		if err := c.seal(ctx, id, f, &s, before, data, named); err != nil {
			return nil, err
		}
		good = append(good, s)
	}
	return good, c.rest(ctx, id, f, good, named)
}

// seal checks one seal: what was begun, its link to the one before, its note and its files.
func (c *check) seal(ctx context.Context, id schema.Identity, f *folder, s, before *Seal, data []byte, named map[string]bool) error {
	name := Folder(id) + sealName(s.Last)
	first := uint64(1)
	var link *Link
	if before != nil {
		first, link = before.Last+1, &Link{before.Last, f.links[before.Last]}
	}
	switch {
	case link == nil && s.Previous != nil:
		c.find(verify.BadSeal, name, "it follows a seal up to frame %d, which is not there or not good", s.Previous.Last)
		first = s.Previous.Last + 1
	case link != nil && (s.Previous == nil || *s.Previous != *link):
		c.find(verify.BadSeal, name, "it does not follow the seal up to frame %d that is before it", link.Last)
	}
	if err := c.wasBegun(ctx, id, s, first, named); err != nil {
		return err
	}
	if err := c.signed(ctx, id, f, s, data); err != nil {
		return err
	}
	for _, file := range s.Files {
		if named[file.Name] && file.Content != nil {
			c.find(verify.BadSeal, name, "it names %s, which another seal has named", file.Name)
		}
		named[file.Name] = true
		c.file(Folder(id), f, file)
	}
	c.parts(id, s, before, first)
	return nil
}

func (c *check) wasBegun(ctx context.Context, id schema.Identity, s *Seal, first uint64, named map[string]bool) error {
	name := begunName(first)
	named[name] = true
	b, err := readBegun(ctx, c.store, id, first)
	switch {
	case storeFailed(err):
		return err
	case errors.Is(err, ErrNotFound):
		c.find(verify.BadFile, Folder(id)+name, "it is missing")
	case err != nil:
		c.find(verify.BadFile, Folder(id)+name, "%v", err)
	case b.Last != s.Last || b.Origin != s.Origin || b.Chain != s.Chain || b.Protocol != s.Protocol ||
		b.Translator != s.Translator || !slices.Equal(b.Sessions, s.Sessions) || !maps.Equal(b.Open, s.Open):
		c.find(verify.BadSeal, Folder(id)+name, "%s says something else", sealName(s.Last))
	}
	return ctx.Err()
}

// signed checks the note beside a seal.
func (c *check) signed(ctx context.Context, id schema.Identity, f *folder, s *Seal, data []byte) error {
	name := Folder(id) + noteName(sealName(s.Last))
	if !f.note[s.Last] {
		c.find(verify.BadFile, name, "it is missing: the seal is not signed, or sealing was broken off (steno seal completes it)")
		return nil
	}
	text, err := read(ctx, c.store, name, maxEntry)
	if err != nil {
		return c.unread(ctx, name, err)
	}
	n, by, err := openNote(text, c.o.Trusted)
	f.noted[s.Last] = n.sha256
	if by.Hash != "" {
		c.keys[by.Hash] = true
	}
	switch {
	case err != nil:
		c.find(verify.BadSignature, name, "%v", err)
	case n.origin != sealOrigin+s.Capture || n.size != s.Last || n.root != s.Root || n.sha256 != hexSum(data):
		c.find(verify.BadSeal, name, "it signs another seal: of %s up to frame %d with SHA-256 %s", n.origin, n.size, n.sha256)
	}
	return nil
}

// parts checks that the parts that a seal names hold all that it covers, each number once.
func (c *check) parts(id schema.Identity, s, before *Seal, first uint64) {
	name := Folder(id) + sealName(s.Last)
	next := map[uint32]uint64{}
	for _, h := range s.Sessions {
		next[h.Session] = before.head(h.Session) + 1
	}
	frame := first
	for _, file := range s.Files {
		o, err := ParseObject(Folder(id) + file.Name)
		if err != nil {
			c.find(verify.BadSeal, name, "it names a file: %v", err)
			continue
		}
		switch o.Kind {
		case Frames:
			c.follows(name, file, o, &frame)
		case Events:
			n, sealed := next[o.Session]
			if !sealed {
				c.find(verify.BadSeal, name, "it names %s, of a session that it does not have", file.Name)
				continue
			}
			c.follows(name, file, o, &n)
			next[o.Session] = n
		case Blob:
		default:
			c.find(verify.BadSeal, name, "it names %s, which is no part of it", file.Name)
		}
	}
	if frame != s.Last+1 {
		c.find(verify.BadSeal, name, "its files end at frame %d", frame-1)
	}
	for _, h := range s.Sessions {
		if next[h.Session] != h.Head+1 {
			c.find(verify.BadSeal, name, "its files end at event %d of session %d, it says %d", next[h.Session]-1, h.Session, h.Head)
		}
	}
}

func (c *check) follows(seal string, file File, o Object, next *uint64) {
	if o.First != *next || file.Content == nil || o.Last < o.First || o.Last-o.First+1 != uint64(file.Content.Lines) {
		c.find(verify.BadSeal, seal, "%s does not begin at %d, or has other lines than its name says", file.Name, *next)
	}
	*next = o.Last + 1
}

// rest checks what no seal names: what was begun behind the last seal, and may not be finished.
func (c *check) rest(ctx context.Context, id schema.Identity, f *folder, good []Seal, named map[string]bool) error {
	first := uint64(1)
	var before *Seal
	if len(good) > 0 {
		before = &good[len(good)-1]
		first = before.Last + 1
	}
	var b *Begun
	if slices.Contains(f.begun, first) && !named[begunName(first)] {
		var err error
		if b, err = readBegun(ctx, c.store, id, first); storeFailed(err) {
			return err
		} else if err != nil {
			c.find(verify.BadFile, Folder(id)+begunName(first), "%v", err)
		} else {
			c.unfinished = append(c.unfinished, id.String())
		}
		named[begunName(first)] = true
	}
	for _, name := range slices.Sorted(maps.Keys(f.sizes)) {
		if !named[name] && !b.mayHave(id, name, before) {
			c.find(verify.BadFile, Folder(id)+name, "it was added, or its seal was taken away: no seal names it")
		}
	}
	return nil
}

// mayHave reports whether an object may have been written for a seal that was not finished.
func (b *Begun) mayHave(id schema.Identity, name string, before *Seal) bool {
	o, err := ParseObject(Folder(id) + name)
	if b == nil || err != nil {
		return false
	}
	switch o.Kind {
	case Frames:
		return o.First >= b.First && o.Last <= b.Last
	case Events:
		for _, h := range b.Sessions {
			if h.Session == o.Session {
				return o.First > before.head(h.Session) && o.Last <= h.Head
			}
		}
	case Blob:
		return true
	}
	return false
}
