package search

import (
	"hash/maphash"
)

// Memory knows what events of tools were indexed lately: a tool's states say all that they have every time.
// It saves hits that say the same again: an event is passed over only if one earlier event of its tool said
// all of its texts, so that whatever words an event has, some event with all of them is found. Nothing else
// depends on it; an index whose write failed must forget. The zero value is ready. It is not safe for
// concurrent use.
type Memory struct {
	seed  maphash.Seed
	said  map[ofTool][]map[uint64]struct{} // the texts of each event
	texts int
}

// ofTool names a tool by its transcript's id and its own.
type ofTool struct {
	transcript int64
	tool       string
}

// Bounds of a Memory. One that is full begins anew, and of a tool only the latest events are known.
const (
	maxRemembered = 1 << 16 // texts of events
	maxOfTool     = 4       // events
)

// Fresh gives all texts of an event of a tool of a transcript, named by the ledger's id; none if one event
// before it said them all.
func (m *Memory) Fresh(transcript int64, tool string, t Texts) Texts {
	if tool == "" || len(t) == 0 {
		return t
	}
	if m.said == nil || m.texts >= maxRemembered {
		m.seed, m.said, m.texts = maphash.MakeSeed(), map[ofTool][]map[uint64]struct{}{}, 0
	}
	says := make(map[uint64]struct{}, len(t))
	for _, text := range t {
		says[maphash.String(m.seed, text)] = struct{}{}
	}
	of := ofTool{transcript, tool}
	var kept []map[uint64]struct{}
	for _, said := range m.said[of] {
		if within(says, said) {
			return nil
		}
		if !within(said, says) {
			kept = append(kept, said)
		}
	}
	if len(kept) == maxOfTool {
		kept = kept[1:]
	}
	m.said[of], m.texts = append(kept, says), m.texts+len(says)
	return t
}

// within reports whether all of a is in b.
func within(a, b map[uint64]struct{}) bool {
	if len(a) > len(b) {
		return false
	}
	for text := range a {
		if _, ok := b[text]; !ok {
			return false
		}
	}
	return true
}

// Forget makes everything new again.
func (m *Memory) Forget() { m.said = nil }
