package secrets

import "hash/maphash"

// maxPlaces bounds the suspects whose places a Tally keeps; the others are counted.
const maxPlaces = 100

// Tally counts suspects over frames and events. The same value counts once, wherever it stands. It is not
// safe for concurrent use.
type Tally struct {
	Found Found

	scanner Scanner
	seed    maphash.Seed
	seen    map[uint64]int // by the value's hash, place in Found.Places; -1: not kept
}

// Found is what a Tally has counted. It has no secret in it.
type Found struct {
	Secrets uint64          `json:"secrets"` // different values
	Kinds   map[Kind]uint64 `json:"kinds"`   // the same, by kind
	Events  uint64          `json:"events"`  // that hold at least one
	Frames  uint64          `json:"frames"`  // likewise
	Places  []Place         `json:"places"`  // where each was first seen, at most 100
}

// Place is where a suspect was first seen: in an event, in a frame, or in both.
type Place struct {
	Kind       Kind   `json:"kind"`
	Transcript string `json:"transcript,omitempty"`
	Seq        uint64 `json:"store_seq,omitempty"`
	Capture    string `json:"capture,omitempty"`
	Frame      uint64 `json:"frame,omitempty"`
}

// NewTally makes a Tally.
func NewTally() *Tally {
	return &Tally{
		Found: Found{Kinds: map[Kind]uint64{}, Places: []Place{}},
		seed:  maphash.MakeSeed(), seen: map[uint64]int{},
	}
}

// Event looks at a transcript's event.
func (t *Tally) Event(transcript string, seq uint64, text []byte) {
	if t.look(text, func(p *Place) {
		if p.Transcript == "" {
			p.Transcript, p.Seq = transcript, seq
		}
	}) {
		t.Found.Events++
	}
}

// Frame looks at a capture's frame: at its bytes, and at what else is kept of it.
func (t *Tally) Frame(capture string, number uint64, texts ...[]byte) {
	any := false
	for _, text := range texts {
		found := t.look(text, func(p *Place) {
			if p.Capture == "" {
				p.Capture, p.Frame = capture, number
			}
		})
		any = any || found
	}
	if any {
		t.Found.Frames++
	}
}

func (t *Tally) look(text []byte, here func(*Place)) (any bool) {
	t.scanner.Scan(text, func(kind Kind, value []byte) {
		any = true
		hash := maphash.Bytes(t.seed, value)
		at, known := t.seen[hash]
		if !known {
			t.Found.Secrets++
			t.Found.Kinds[kind]++
			at = -1
			if len(t.Found.Places) < maxPlaces {
				at = len(t.Found.Places)
				t.Found.Places = append(t.Found.Places, Place{Kind: kind})
			}
			t.seen[hash] = at
		}
		if at >= 0 {
			here(&t.Found.Places[at])
		}
	})
	return any
}
