package capturefile

import (
	"errors"
	"fmt"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// maxDefaultSeq is the last seq whose default time is in the year 9999 or before.
const maxDefaultSeq = 253402300799999

// complete gives the frame its defaults and checks it.
func (r *Reader) complete(f *schema.Frame, has given) error {
	if has.text && has.b64 {
		return errors.New("the line has both text and b64: want one of them")
	}
	if !has.text && !has.b64 && f.Blob == "" {
		return errors.New("the line has neither text nor b64: want one of them")
	}
	if has.http && has.httpB64 {
		return errors.New("the line has both http and http_b64: want one of them")
	}
	if !has.typ {
		f.Type = schema.TypeData
	}
	control := f.Type != schema.TypeData
	if !has.from {
		if !control {
			return errors.New(`member "from" is missing: want client, agent or stderr`)
		}
		f.From = schema.FromControl
	}
	if err := r.number(f, has); err != nil {
		return err
	}
	if err := r.speak(f, has); err != nil {
		return err
	}
	if !has.end {
		f.End = schema.EndNone
		if !control && f.Protocol == schema.ACP {
			f.End = schema.EndLF
		}
	}
	return f.Validate()
}

// number gives the frame its seq and time, and checks that the seq continues the file.
func (r *Reader) number(f *schema.Frame, has given) error {
	switch {
	case !has.seq:
		f.Seq = uint64(r.line)
		if r.frames > 0 && f.Seq <= r.last {
			return fmt.Errorf(`member "seq" is missing, and the line's number does not follow seq %d: want %d`, r.last, r.last+1)
		}
	case f.Seq == 0:
		return errors.New(`member "seq": want 1 or more, got 0`)
	case r.frames > 0 && f.Seq != r.last+1:
		return fmt.Errorf(`member "seq": want %d, one more than the frame before, got %d`, r.last+1, f.Seq)
	}
	if !has.at {
		if f.Seq > maxDefaultSeq {
			return fmt.Errorf(`member "at" is missing, and seq %d gives no time before the year 10000`, f.Seq)
		}
		f.At = time.UnixMilli(int64(f.Seq)).UTC()
	}
	return nil
}

// speak gives the frame its protocol and checks a control frame's payload.
func (r *Reader) speak(f *schema.Frame, has given) error {
	fallback := schema.ACP
	if r.frames > 0 {
		fallback = r.protocol
	}
	if !r.verbatim && f.Type != schema.TypeData && (has.text || has.b64) {
		end, err := r.tree.Read(f.Data)
		root := r.tree.Root()
		if err != nil || end != len(f.Data) || root.Kind() != jsontree.Object {
			return fmt.Errorf("the payload of a %s frame: want one JSON object, got %s", f.Type, cut(f.Data))
		}
		if f.Type == schema.TypeOpen {
			said, ok := root.Get("protocol").Text()
			if !ok {
				return errors.New(`the payload of an open frame names no protocol: want {"protocol":"acp"} or {"protocol":"a2a"} in it`)
			}
			fallback = schema.Protocol(said)
			if has.protocol && f.Protocol != fallback {
				return fmt.Errorf("protocol %q, but the open frame's payload says %q", f.Protocol, said)
			}
		}
	}
	if !has.protocol {
		f.Protocol = fallback
	}
	switch f.Protocol {
	case schema.ACP, schema.A2A:
		return nil
	}
	return fmt.Errorf(`member "protocol": want acp or a2a, got %q`, f.Protocol)
}
