package verify

import (
	"math/bits"

	"github.com/steno-io/steno/schema"
)

// frameSet is a set of frame numbers, one bit each.
type frameSet struct{ words []uint64 }

// add adds a closed range; a set takes as much memory as its last number asks for.
func (s *frameSet) add(r schema.Range) {
	if need := int(r[1]/64) + 1; need > len(s.words) {
		s.words = append(s.words, make([]uint64, max(need, 2*len(s.words))-len(s.words))...)
	}
	for n := r[0]; n <= r[1]; {
		if n%64 == 0 && r[1]-n >= 63 {
			s.words[n/64] = ^uint64(0)
			n += 64
			continue
		}
		s.words[n/64] |= 1 << (n % 64)
		n++
	}
}

func (s *frameSet) has(n uint64) bool {
	return n/64 < uint64(len(s.words)) && s.words[n/64]&(1<<(n%64)) != 0
}

// count counts those of 1 to last.
func (s *frameSet) count(last uint64) uint64 {
	var n int
	for i, w := range s.words {
		if i == 0 {
			w &^= 1 // there is no frame 0
		}
		if low := uint64(i) * 64; low+63 > last {
			if low > last {
				break
			}
			w &= ^uint64(0) >> (63 - (last - low))
		}
		n += bits.OnesCount64(w)
	}
	return uint64(n)
}

// firstUnnamed is the lowest of 1 to last that is not in the set; 0 if all are.
func (s *frameSet) firstUnnamed(last uint64) uint64 {
	for n := uint64(1); n <= last; n++ {
		if !s.has(n) {
			return n
		}
	}
	return 0
}
