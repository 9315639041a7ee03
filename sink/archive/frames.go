package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/capturefile"
	"github.com/steno-io/steno/sink/verify"
)

// AllFrames is the other side of Contents: the frames.
type AllFrames struct{ *Contents }

var (
	_ verify.Frames = AllFrames{}
	_ verify.Apart  = AllFrames{}
)

// Captures implements verify.Frames.
func (s AllFrames) Captures(context.Context) iter.Seq2[verify.Held, error] {
	return func(yield func(verify.Held, error) bool) {
		for _, one := range s.order {
			if !yield(verify.Held{Capture: one.id, Frames: one.last().Last}, nil) {
				return
			}
		}
	}
}

// Frames implements verify.Frames.
func (s AllFrames) Frames(ctx context.Context) iter.Seq2[verify.Frame, error] {
	return func(yield func(verify.Frame, error) bool) {
		for _, one := range s.order {
			for f, err := range s.FramesOf(ctx, one.id) {
				if !yield(f, err) || err != nil {
					return
				}
			}
		}
	}
}

// FramesOf implements verify.Apart.
func (s AllFrames) FramesOf(ctx context.Context, id schema.Identity) iter.Seq2[verify.Frame, error] {
	return func(yield func(verify.Frame, error) bool) {
		for f, err := range s.framesOf(ctx, s.captures[id]) {
			out := verify.Frame{Capture: id, Frame: f, Unreadable: err}
			if storeFailed(err) || ctx.Err() != nil {
				yield(out, errors.Join(ctx.Err(), err))
				return
			}
			if !yield(out, nil) || err != nil {
				return
			}
		}
	}
}

// framesOf gives a capture's frames with their bytes. Behind an error, beside which stands what could be read of the
// frame, nil if nothing could, there are no more; one that is not of the store is noted as damage of its part, too.
func (c *Contents) framesOf(ctx context.Context, one *sealed) iter.Seq2[*schema.Frame, error] {
	return func(yield func(*schema.Frame, error) bool) {
		for _, p := range one.frames {
			in, err := c.unpack(ctx, one.id, p)
			if err != nil {
				if !storeFailed(err) {
					c.damage(Folder(one.id)+p.name, err)
				}
				yield(nil, err)
				return
			}
			more := c.partOf(ctx, one, in, yield)
			c.close(in)
			if !more {
				return
			}
		}
	}
}

// framesAtOnce is how many frames are allocated together.
const framesAtOnce = 32

func (c *Contents) partOf(ctx context.Context, one *sealed, in *lines, yield func(*schema.Frame, error) bool) bool {
	name := Folder(one.id) + in.name
	r := capturefile.NewArchiveReader(name, in.text)
	var room []schema.Frame
	for {
		if len(room) == 0 {
			room = make([]schema.Frame, framesAtOnce)
		}
		f := &room[0]
		room = room[1:]
		err := r.Read(f)
		if errors.Is(err, io.EOF) {
			return true
		}
		switch {
		case err != nil && in.object.err != nil:
			f, err = nil, &storeError{in.object.err}
		case err != nil:
			f = nil
			c.damage(name, err)
		}
		if f != nil && f.Blob != "" {
			f.Data, err = c.blob(ctx, one.id, f.Blob)
		}
		if !yield(f, err) || err != nil {
			return false
		}
	}
}

// blob reads a large frame's bytes and checks them.
func (c *Contents) blob(ctx context.Context, id schema.Identity, sha string) ([]byte, error) {
	name := Folder(id) + blobName(sha)
	data, err := read(ctx, c.store, name, maxObject)
	if err != nil {
		return data, err
	}
	have := hexSum(data)
	c.sums.tell(name, have, nil)
	if have != sha {
		err = fmt.Errorf("read %s: its bytes have SHA-256 %s", name, have)
	}
	return data, err
}
