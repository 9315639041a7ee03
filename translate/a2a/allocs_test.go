package a2a

import (
	"testing"

	"github.com/steno-io/steno/schema/alloctest"
)

// An event of a stream with a piece of an artifact gives a delta, and now and then an artifact ends.
func TestAllocations(t *testing.T) {
	const n = 5_000
	chunks := newChunks()
	alloctest.Check(t, alloctest.Row{What: "fold a chunk frame", Most: 3.1, Each: n, Run: func() {
		for range n {
			chunks.step()
		}
	}})
}
