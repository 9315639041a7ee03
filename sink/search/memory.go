package search

import (
	"hash/maphash"
)

// Memory knows what was indexed of tools lately: their states say all that they have every time. It saves
// hits that say the same again, and nothing depends on it; an index whose write failed must forget. The
// zero value is ready. It is not safe for concurrent use.
type Memory struct {
	seed maphash.Seed
	seen map[uint64]struct{}
}

// maxRemembered bounds a Memory; one that is full begins anew.
const maxRemembered = 1 << 16

// Fresh leaves of what is said of a tool of a transcript, named by the ledger's id, what was not said of
// it before.
func (m *Memory) Fresh(transcript int64, tool string, t Texts) Texts {
	if tool == "" {
		return t
	}
	if m.seen == nil || len(m.seen) >= maxRemembered {
		m.seed, m.seen = maphash.MakeSeed(), map[uint64]struct{}{}
	}
	var fresh Texts
	for _, text := range t {
		var h maphash.Hash
		h.SetSeed(m.seed)
		maphash.WriteComparable(&h, transcript)
		maphash.WriteComparable(&h, tool)
		_, _ = h.WriteString(text) // never fails
		key := h.Sum64()
		if _, ok := m.seen[key]; !ok {
			m.seen[key] = struct{}{}
			fresh = append(fresh, text)
		}
	}
	return fresh
}

// Forget makes everything new again.
func (m *Memory) Forget() { m.seen = nil }
