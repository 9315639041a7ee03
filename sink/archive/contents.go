package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/verify"
)

// Contents is what an archive's seals say that is in it. It gives it to a proof, and to readers. It is safe
// for concurrent use, but for the calls about one transcript.
type Contents struct {
	store    Store
	captures map[schema.Identity]*sealed
	order    []*sealed // by key
}

// sealed is a capture with its seals, in the order in which they were made, at least one.
type sealed struct {
	id     schema.Identity
	seals  []Seal
	frames []string            // names of the parts, in order
	events map[uint32][]string // of each session
	open   map[uint32]*lines   // sessions that are being read
}

func (c *sealed) last() *Seal { return &c.seals[len(c.seals)-1] }

var _ verify.Ledger = (*Contents)(nil)

// add takes a capture's seals in.
func (c *Contents) add(id schema.Identity, seals []Seal) {
	one := &sealed{id: id, seals: seals, events: map[uint32][]string{}, open: map[uint32]*lines{}}
	for i := range seals {
		for _, f := range seals[i].Files {
			o, err := ParseObject(Folder(id) + f.Name)
			if err != nil {
				continue // the check of the seal says so
			}
			switch o.Kind {
			case Frames:
				one.frames = append(one.frames, f.Name)
			case Events:
				one.events[o.Session] = append(one.events[o.Session], f.Name)
			}
		}
	}
	c.captures[id] = one
	c.order = append(c.order, one)
	slices.SortFunc(c.order, func(a, b *sealed) int { return strings.Compare(a.id.String(), b.id.String()) })
}

// Captures gives what the ledger knew of the captures whose keys sort behind after, as of their last seals.
func (c *Contents) Captures(_ context.Context, after string, limit int) ([]sink.CaptureInfo, error) {
	var out []sink.CaptureInfo
	for _, one := range c.order {
		if len(out) < limit && one.id.String() > after {
			out = append(out, one.info())
		}
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

// lines is a part that is being read, and where.
type lines struct {
	object io.Closer
	zip    *zstd.Decoder
	text   *bufio.Reader
	part   int    // which of the session's
	next   uint64 // number of the line that comes next
}

func (l *lines) close() {
	l.zip.Close()
	_ = l.object.Close() // it was only read
}

func (c *Contents) unpack(ctx context.Context, name string) (*lines, error) {
	in, err := c.store.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	zip, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("unpack %s: %w", name, err), in.Close())
	}
	return &lines{object: in, zip: zip, text: bufio.NewReaderSize(zip, 64<<10)}, nil
}

// Events implements sink.Reader: it goes on where the call before it for this transcript ended, or begins
// with the part that holds the first event wanted.
func (c *Contents) Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error] {
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
			if !yield(e, err) || err != nil {
				return
			}
			after = e.Seq
		}
	}
}

// event gives the event of that number; io.EOF behind the last.
func (c *Contents) event(ctx context.Context, one *sealed, session uint32, number uint64) (sink.Event, error) {
	l, err := c.at(ctx, one, session, number)
	if err != nil {
		return sink.Event{}, err
	}
	line, err := l.text.ReadBytes('\n')
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return sink.Event{}, fmt.Errorf("read event %d of session %d of %s in archive %s: %w", number, session, one.id, c.store, err)
	}
	l.next++
	return sink.Event{Seq: number, Bytes: bytes.TrimSuffix(line, []byte{'\n'})}, nil
}

// at opens the part that holds an event, unless it is open and stands there, and passes over the lines
// before it.
func (c *Contents) at(ctx context.Context, one *sealed, session uint32, number uint64) (*lines, error) {
	parts := one.events[session]
	which, first := -1, uint64(0)
	for i, name := range parts {
		o, err := ParseObject(Folder(one.id) + name)
		if err == nil && o.First <= number && number <= o.Last {
			which, first = i, o.First
		}
	}
	l := one.open[session]
	if l != nil && (which != l.part || number < l.next) {
		l.close()
		delete(one.open, session)
		l = nil
	}
	if which < 0 {
		return nil, io.EOF
	}
	if l == nil {
		var err error
		if l, err = c.unpack(ctx, Folder(one.id)+parts[which]); err != nil {
			return nil, err
		}
		l.part, l.next = which, first
		one.open[session] = l
	}
	return l, l.pass(number)
}

// pass passes over the lines before a number.
func (l *lines) pass(number uint64) error {
	for l.next < number {
		switch _, err := l.text.ReadSlice('\n'); {
		case err == nil:
			l.next++
		case !errors.Is(err, bufio.ErrBufferFull): // of a long line more is to come
			return err
		}
	}
	return nil
}

// Close lets go of what is open.
func (c *Contents) Close() {
	for _, one := range c.order {
		for session, l := range one.open {
			l.close()
			delete(one.open, session)
		}
	}
}
