package journal

import (
	"encoding/json"
	"fmt"

	"github.com/steno-io/steno/schema"
)

// gap counts what was passed on and not kept. It is written as a control entry twice: with the
// first chunk, so that a writer killed in a gap leaves word of it, and with the rest when keeping
// resumes or the writer closes. The entries' counts add up.
type gap struct {
	open bool           // chunks are being missed
	info schema.GapInfo // missed and not yet written down
}

func (g *gap) add(from schema.From, bytes int, cause error) {
	if g.info.Chunks == 0 {
		g.info = schema.GapInfo{Reason: cause.Error(), From: map[schema.From]uint64{}}
	}
	g.info.Chunks++
	g.info.Bytes += uint64(bytes)
	g.info.From[from] += uint64(bytes)
}

// miss counts a chunk that was not kept. The turn is held.
func (w *Writer) miss(from schema.From, ns int64, bytes int, cause error) {
	w.gap.add(from, bytes, cause)
	if w.gap.open {
		return
	}
	w.gap.open = true
	w.say(Passing, cause)
	if err := w.fillGap(ns); err != nil { // the counts stay, for the next time
		w.say(Failed, err)
	}
}

// fillGap writes down what was missed, if anything was. The turn is held.
func (w *Writer) fillGap(ns int64) error {
	if w.gap.info.Chunks == 0 {
		return nil
	}
	payload, err := json.Marshal(w.gap.info)
	if err != nil {
		return fmt.Errorf("encode gap of journal %s: %w", w.path, err)
	}
	if err := w.write(schema.FromControl, schema.TypeGap, ns, payload); err != nil {
		return fmt.Errorf("write gap of %d bytes: %w", w.gap.info.Bytes, err)
	}
	w.gap.info = schema.GapInfo{}
	return nil
}
