//go:build faults

package faults

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pair keeps two translators, and gives a conversation that is open in one of them.
func pair(r *rig) (slots []*slot, h *held) {
	for i := range 2 {
		slots = append(slots, r.keeping(r.slot(fmt.Sprint("translate", i+1)), "translate"))
	}
	h = r.hold(r.slot("record1"), r.folder("taps"), "open")
	for i := range 40 {
		h.says(fmt.Sprintf("word %d ", i))
	}
	r.served(h.capture, h.said.String(), time.Minute)
	return slots, h
}

// owner is the slot whose process has a capture's partition.
func (r *rig) owner(slots []*slot, capture string) *slot {
	var found *slot
	partition := "partition." + r.partition(capture)
	require.Eventually(r.t, func() bool {
		held, err := r.leases()
		for _, s := range slots {
			if err == nil && held[partition] == s.called {
				found = s
			}
		}
		return found != nil
	}, time.Minute, look)
	return found
}

// The owner of an open message is killed, and nothing more is said: within five seconds the next one
// tells who asks the whole text.
func TestFailOverInSilence(t *testing.T) {
	t.Parallel()
	r := newRig(t, built(t), 1, *seedFlag, 2*time.Minute)
	slots, h := pair(r)
	for range 2 {
		owner := r.owner(slots, h.capture)
		require.True(t, owner.kill())
		took := r.served(h.capture, h.said.String(), 5*time.Second)
		r.say("the owner was killed in the silence of an open message; the next one said all of it after %s", took.Round(time.Millisecond))
	}
}

// The owner of an open message is frozen, another one takes it over, and more is said. When the first
// one wakes it may answer what it was asked meanwhile, with less than the other one; it does not go on
// to. (That a console takes the answer of the highest frame is console/follow's to test.)
func TestAZombieAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t, built(t), 1, *seedFlag, 2*time.Minute)
	slots, h := pair(r)
	owner := r.owner(slots, h.capture)
	owner.process.freeze()
	defer owner.process.wake()
	h.says("and one more")
	r.served(h.capture, h.said.String(), 10*time.Second)
	sub := r.asking(h.capture)
	whole, ok := r.next(sub, 5*time.Second)
	require.True(t, ok)
	require.Equal(t, h.said.String(), whole.text())

	owner.process.wake()
	late, ok := r.next(sub, 5*time.Second)
	require.True(t, ok, "the zombie was asked, too")
	require.LessOrEqual(t, late.Frame, whole.Frame)
	require.Equal(t, h.said.String()[:len(late.text())], late.text())
	r.say("a zombie answered with frame %d, its successor with %d", late.Frame, whole.Frame)

	h.says(", and the last")
	require.Eventually(t, func() bool { // one owner is left, and it knows all
		sub := r.asking(h.capture)
		defer sub.Unsubscribe() //nolint:errcheck // the connection lives
		a, ok := r.next(sub, time.Second)
		if !ok || a.text() != h.said.String() {
			return false
		}
		_, two := r.next(sub, 300*time.Millisecond)
		return !two
	}, 15*time.Second, look)
}
