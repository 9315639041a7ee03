package outside

import (
	"fmt"
	"maps"
	"slices"
)

// Same says where got differs from want, transcript by transcript.
func Same(what string, want, got map[string][]string) error {
	for _, transcript := range slices.Sorted(maps.Keys(want)) {
		w, g := want[transcript], got[transcript]
		for i := range min(len(w), len(g)) {
			if w[i] != g[i] {
				return fmt.Errorf("%s: event %d of %s: want %s\ngot  %s", what, i+1, transcript, w[i], g[i])
			}
		}
		if len(w) != len(g) {
			return fmt.Errorf("%s: %s has %d events, want %d", what, transcript, len(g), len(w))
		}
	}
	for _, transcript := range slices.Sorted(maps.Keys(got)) {
		if want[transcript] == nil {
			return fmt.Errorf("%s: %s has %d events, and the frames give it none", what, transcript, len(got[transcript]))
		}
	}
	return nil
}

// Count is how many events there are in all transcripts.
func Count(transcripts map[string][]string) (events int) {
	for _, list := range transcripts {
		events += len(list)
	}
	return events
}
