package files

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/steno-io/steno/schema"
)

// bracket numbers a file's frames and puts an open and a close frame around them where the file has
// none.
type bracket struct {
	protocol schema.Protocol
	command  []string
	yield    func(schema.Frame) bool
	seq      uint64
	last     time.Time
	closed   bool
}

// add takes the file's next frame. ok is false when the taker has enough.
func (b *bracket) add(f schema.Frame) (ok bool, err error) {
	if b.seq == 0 && f.Type != schema.TypeOpen {
		if ok, err := b.control(schema.TypeOpen, f.At, schema.OpenInfo{Protocol: b.protocol, Tap: "import", Command: b.command}); err != nil || !ok {
			return false, err
		}
	}
	if f.Type == schema.TypeClose {
		var info schema.CloseInfo
		if err := json.Unmarshal(f.Data, &info); err != nil {
			return false, fmt.Errorf("read close frame %d of the file: %w", f.Seq, err)
		}
		b.closed = b.closed || info.Exchange == "" // else it ends one exchange only
	}
	b.last = f.At
	return b.give(f), nil
}

// end takes the file's end.
func (b *bracket) end() error {
	if b.closed {
		return nil
	}
	_, err := b.control(schema.TypeClose, b.last, schema.CloseInfo{Reason: schema.ReasonEOF})
	return err
}

func (b *bracket) control(typ schema.FrameType, at time.Time, info any) (bool, error) {
	payload, err := json.Marshal(info)
	if err != nil {
		return false, fmt.Errorf("write %s frame: %w", typ, err)
	}
	return b.give(schema.Frame{
		At: at, From: schema.FromControl, Type: typ, Protocol: b.protocol, End: schema.EndNone, Data: payload,
	}), nil
}

func (b *bracket) give(f schema.Frame) bool {
	b.seq++
	f.Seq = b.seq
	return b.yield(f)
}
