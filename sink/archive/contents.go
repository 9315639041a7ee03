package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/verify"
)

// Contents is what an archive's seals say that is in it. It gives it to a proof, and to readers. It is safe
// for concurrent use, but for the calls about one transcript.
type Contents struct {
	store    Store
	sums     *sums // nil: nobody wants to know
	captures map[schema.Identity]*sealed
	order    []*sealed // by key

	mu      sync.Mutex
	damaged map[string]error // objects that cannot be read
	idle    []*unpacker
}

// sealed is a capture with its seals, in the order in which they were made, at least one.
type sealed struct {
	id     schema.Identity
	key    string // of id
	seals  []Seal
	frames []namedPart            // in order
	events map[uint32][]namedPart // of each session

	mu   sync.Mutex
	open map[uint32]*lines // sessions that are being read
}

// opened gives a session's part that is being read; nil: none is.
func (c *sealed) opened(session uint32) *lines {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[session]
}

// set says which part of a session is being read; nil: none is any more.
func (c *sealed) set(session uint32, l *lines) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l == nil {
		delete(c.open, session)
		return
	}
	c.open[session] = l
}

// namedPart is a part and the numbers of its lines.
type namedPart struct {
	name        string
	first, last uint64
	bytes       int64 // of the lines, as the seal says
}

func (c *sealed) last() *Seal { return &c.seals[len(c.seals)-1] }

var (
	_ verify.Ledger = (*Contents)(nil)
	_ verify.Lender = (*Contents)(nil)
)

// add takes a capture's seals in. Captures are added in the order of their keys.
func (c *Contents) add(id schema.Identity, seals []Seal) {
	one := &sealed{id: id, key: id.String(), seals: seals, events: map[uint32][]namedPart{}, open: map[uint32]*lines{}}
	for i := range seals {
		for _, f := range seals[i].Files {
			o, err := ParseObject(Folder(id) + f.Name)
			if err != nil {
				continue // the check of the seal says so
			}
			part := namedPart{name: f.Name, first: o.First, last: o.Last}
			if f.Content != nil {
				part.bytes = f.Content.Bytes
			}
			switch o.Kind {
			case Frames:
				one.frames = append(one.frames, part)
			case Events:
				one.events[o.Session] = append(one.events[o.Session], part)
			}
		}
	}
	c.captures[id] = one
	c.order = append(c.order, one)
}

// Captures gives what the ledger knew of the captures whose keys sort behind after, as of their last seals.
func (c *Contents) Captures(_ context.Context, after string, limit int) ([]sink.CaptureInfo, error) {
	at, found := slices.BinarySearchFunc(c.order, after, func(one *sealed, key string) int { return strings.Compare(one.key, key) })
	if found {
		at++
	}
	var out []sink.CaptureInfo
	for _, one := range c.order[at:][:min(limit, len(c.order)-at)] {
		out = append(out, one.info())
	}
	return out, nil
}

// Capture implements verify.Ledger.
func (c *Contents) Capture(_ context.Context, id schema.Identity) (sink.CaptureInfo, error) {
	one := c.captures[id]
	if one == nil {
		return sink.CaptureInfo{}, fmt.Errorf("%s in archive %s: %w", id, c.store, sink.ErrNotFound)
	}
	return one.info(), nil
}

func (c *sealed) info() sink.CaptureInfo {
	last := c.last()
	origin, _ := schema.ParseOrigin(last.Origin) // DecodeSeal has read it
	info := sink.CaptureInfo{Capture: sink.Capture{
		Capture: c.id, Last: origin, Chain: last.Chain, Translator: last.Translator, Open: last.Open,
	}}
	for _, h := range last.Sessions {
		info.Sessions = append(info.Sessions, sink.SessionInfo{Session: h.Session, Head: h.Head})
	}
	return info
}

// Events implements sink.Reader: it goes on where the call before it for this transcript ended, or begins
// with the part that holds the first event wanted.
func (c *Contents) Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error] {
	return func(yield func(sink.Event, error) bool) {
		for e, err := range c.Lend(ctx, key, after, limit) {
			e.Bytes = bytes.Clone(e.Bytes)
			if !yield(e, err) {
				return
			}
		}
	}
}

// Lend implements verify.Lender.
func (c *Contents) Lend(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error] {
	return func(yield func(sink.Event, error) bool) {
		one := c.captures[key.Identity]
		if one == nil {
			return
		}
		for given := 0; limit == 0 || given < limit; given++ {
			e, err := c.event(ctx, one, key.Session, after+1)
			if errors.Is(err, io.EOF) {
				return
			}
			more := yield(e, err)
			c.finish(one, key.Session) // its bytes are given back
			if !more || err != nil {
				return
			}
			after = e.Seq
		}
	}
}

// LetGo implements verify.Lender.
func (c *Contents) LetGo(key schema.Transcript) {
	if one := c.captures[key.Identity]; one != nil {
		c.letGo(one, key.Session, one.opened(key.Session))
	}
}

// finish lets go of a session's part that was read to its end.
func (c *Contents) finish(one *sealed, session uint32) {
	if l := one.opened(session); l != nil && l.next > l.last {
		c.letGo(one, session, l)
	}
}

// letGo lets go of a session's part; nil: none is being read.
func (c *Contents) letGo(one *sealed, session uint32, l *lines) {
	if l != nil {
		c.close(l)
		one.set(session, nil)
	}
}

// event gives the event of that number, or the first behind it that can be had; io.EOF behind the last.
// What is damaged is passed over, and noted.
func (c *Contents) event(ctx context.Context, one *sealed, session uint32, number uint64) (sink.Event, error) {
	for _, p := range one.events[session] {
		if p.last < number {
			continue
		}
		number = max(number, p.first)
		e, err := c.eventIn(ctx, one, session, p, number)
		if !errors.Is(err, errDamaged) {
			return e, err
		}
		c.damage(Folder(one.id)+p.name, err)
		number = p.last + 1
	}
	return sink.Event{}, io.EOF
}

// eventIn reads an event of a part, which may be open from the call before.
func (c *Contents) eventIn(ctx context.Context, one *sealed, session uint32, p namedPart, number uint64) (sink.Event, error) {
	l := one.opened(session)
	if l != nil && (l.name != p.name || number < l.next) {
		c.letGo(one, session, l)
		l = nil
	}
	if l == nil {
		var err error
		if l, err = c.unpack(ctx, one.id, p); err != nil {
			return sink.Event{}, err
		}
		l.next, l.last = p.first, p.last
		one.set(session, l)
	}
	if err := l.pass(number); err != nil {
		return sink.Event{}, err
	}
	line, err := l.line()
	if err != nil {
		return sink.Event{}, err
	}
	return sink.Event{Seq: number, Bytes: line}, nil
}

// damage notes an object that cannot be read, once.
func (c *Contents) damage(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.damaged == nil {
		c.damaged = map[string]error{}
	}
	if c.damaged[name] == nil {
		c.damaged[name] = err
	}
}

// Close lets go of what is open.
func (c *Contents) Close() {
	for _, one := range c.order {
		for session, l := range one.open {
			c.letGo(one, session, l)
		}
	}
	for _, u := range c.idle {
		u.zip.Close()
	}
	c.idle = nil
}
