package journal

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/steno-io/steno/schema"
)

// gap counts what was passed on and not kept, each exchange's apart. It is written as control entries
// twice: with an exchange's first chunk, so that a writer killed in a gap leaves word of it, and with the rest
// when keeping resumes or the writer closes. The entries' counts add up.
type gap struct {
	told   []uuid.UUID // the exchanges of which chunks are being missed, and that there is word of it
	missed []missed
}

// open reports whether chunks are being missed.
func (g *gap) open() bool { return len(g.told) > 0 }

// missed is what is not yet written down of one exchange.
type missed struct {
	exchange uuid.UUID
	info     schema.GapInfo
}

func (g *gap) add(exchange uuid.UUID, from schema.From, bytes int, cause error) {
	i := slices.IndexFunc(g.missed, func(m missed) bool { return m.exchange == exchange })
	if i < 0 {
		i = len(g.missed)
		g.missed = append(g.missed, missed{exchange, schema.GapInfo{Reason: cause.Error(), From: map[schema.From]uint64{}}})
	}
	info := &g.missed[i].info
	info.Chunks++
	info.Bytes += uint64(bytes)
	info.From[from] += uint64(bytes)
}

// miss counts a chunk that was not kept. The turn is held.
func (w *Writer) miss(lane Lane, from schema.From, ns int64, bytes int, cause error) {
	w.gap.add(lane.Exchange, from, bytes, cause)
	if slices.Contains(w.gap.told, lane.Exchange) {
		return
	}
	if !w.gap.open() {
		w.say(Passing, cause)
	}
	w.gap.told = append(w.gap.told, lane.Exchange)
	if err := w.fillGap(ns); err != nil { // the counts stay, for the next time
		w.say(Failed, err)
	}
}

// fillGap writes down what was missed, if anything was. The turn is held.
func (w *Writer) fillGap(ns int64) error {
	for len(w.gap.missed) > 0 {
		m := &w.gap.missed[0]
		payload, err := json.Marshal(m.info)
		if err != nil {
			return fmt.Errorf("encode gap of journal %s: %w", w.path, err)
		}
		if err := w.write(Lane{Exchange: m.exchange}, schema.FromControl, schema.TypeGap, ns, payload); err != nil {
			return fmt.Errorf("write gap of %d bytes: %w", m.info.Bytes, err)
		}
		w.gap.missed = w.gap.missed[1:]
	}
	return nil
}
