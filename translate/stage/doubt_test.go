package stage

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// What was parked in doubt stays so when the partition is taken anew before it was folded again, and when
// that is so while it is; not when its key is gone.
func TestDoubtOutlivesASecondTaking(t *testing.T) {
	name := func(run string) schema.Identity {
		return schema.Identity{Namespace: "default", Workflow: "words", Run: run, Attempt: 1}
	}
	waits, again, through := name("waits"), name("again"), name("through")
	w := &Worker{}
	w.info.Partitions = 1
	first := newPartition(w, 0, &waiting{})
	first.doubt = map[schema.Identity]struct{}{waits: {}, through: {}}
	c := first.lock(again) // parked by this partition; its fold has begun again
	c.parkedRevision = 7
	c.mu.Unlock()
	first.cleared(through)
	second := newPartition(w, 0, first.waiting)
	second.doubt = first.abandon()
	require.Equal(t, map[schema.Identity]struct{}{waits: {}, again: {}}, second.doubt)
	require.Equal(t, second.doubt, second.abandon(), "taken anew once more, before any of it was folded")
}
