package sink

import "github.com/steno-io/steno/schema"

// RangeSet is a set of frame numbers, as closed ranges in ascending order that do not touch.
type RangeSet []schema.Range

// add adds a range and tells how many of its numbers were not there.
func (s *RangeSet) add(r schema.Range) uint64 {
	fresh := r[1] - r[0] + 1
	var out RangeSet
	placed := false
	for _, have := range *s {
		switch {
		case have[1]+1 < r[0]:
			out = append(out, have)
		case r[1]+1 < have[0]:
			if !placed {
				out, placed = append(out, r), true
			}
			out = append(out, have)
		default: // they meet: one range of both
			if first, last := max(have[0], r[0]), min(have[1], r[1]); first <= last {
				fresh -= last - first + 1
			}
			r = schema.Range{min(have[0], r[0]), max(have[1], r[1])}
		}
	}
	if !placed {
		out = append(out, r)
	}
	*s = out
	return fresh
}
