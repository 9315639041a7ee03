package api

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/proof"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/verify"
)

// failing is a prover of captures that stand still and cannot be read. It counts how often that was tried.
type failing struct {
	why   error
	tried int
}

func (*failing) Stand(context.Context, schema.Identity) (proof.Stand, error) {
	return proof.Stand{}, nil
}

func (f *failing) Prove(context.Context, schema.Identity) (verify.Report, error) {
	f.tried++
	return verify.Report{}, f.why
}

// What cannot be proved cannot be for those either who wait for it: it is not tried once for each of them.
func TestAProofThatFailsFailsForAllWhoWait(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	id, by := schema.Identity{Run: "r"}, &failing{why: errors.New("the archive is away")}
	p := newProofs()
	r, mine, err := p.begin(id, proof.Stand{})
	require.NoError(t, err)
	require.True(t, mine)
	p.prove(ctx, id, by, r)
	require.Empty(t, p.running)

	p.running[id] = r // as whoever has waited sees it
	_, err = p.of(ctx, id, by)
	require.ErrorIs(t, err, by.why)
	require.Equal(t, 1, by.tried)
}
