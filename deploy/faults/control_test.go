//go:build faults

package faults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/deploy/outside"
)

// The control run: translators whose records have no fence must be caught within this time, or the
// suite is blind.
const caughtWithin = 90 * time.Second

func TestWithoutTheFence(t *testing.T) {
	p := built(t)
	p.steno = build(t, t.TempDir(), "steno", "./cmd/steno", "-tags", "unfenced")
	p.skewed = ""
	s := newStorm(t, p, 1, *seedFlag, caughtWithin)
	s.say("seed %d, the fence is off", s.seed)
	for round := uint64(0); time.Since(s.began) < caughtWithin; round++ {
		s.rage(schedule(s.seed+round, 8*time.Second, "translate|lose|cut"))
		if _, err := outside.ReadRecords(s.ctx, s.js); err != nil {
			s.say("the suite sees that the fence is off: %v", err)
			return
		}
	}
	require.Fail(t, "the fence is off, and the suite does not see it")
}
