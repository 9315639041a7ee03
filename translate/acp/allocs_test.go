package acp

import (
	"testing"

	"github.com/steno-io/steno/schema/alloctest"
)

// A frame with a piece of an answer gives a delta, and now and then a message ends.
func TestAllocations(t *testing.T) {
	const n = 5_000
	chunks := newChunks()
	alloctest.Check(t, alloctest.Row{What: "fold a chunk frame", Most: 4.1, Each: n, Run: func() {
		for range n {
			chunks.step()
		}
	}})
}
