package archive_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/verify"
)

// What an archive does not give it never had, or has lost.
func TestWhatAnArchiveDoesNotGive(t *testing.T) {
	s := newSite(t)
	id := identity("one")
	s.tell(id, story)
	require.Equal(t, uint64(9), s.seal(id).Last)
	j := archive.Joined{Open: func(context.Context, schema.Identity) (archive.Store, error) { return s.store(), nil }}
	between := func(last uint64) (n int, err error) {
		for _, err := range j.Between(t.Context(), id, 1, last) {
			if err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	}
	n, err := between(9)
	require.NoError(t, err)
	require.Equal(t, 9, n)
	_, err = between(10)
	require.ErrorIs(t, err, topology.ErrReturned)
	require.NotErrorIs(t, err, verify.ErrDamaged)
	for name := range s.files() {
		if strings.Contains(name, "/frames-") {
			s.remove(name)
		}
	}
	_, err = between(9)
	require.ErrorIs(t, err, topology.ErrReturned)
	require.ErrorIs(t, err, verify.ErrDamaged)
	require.NotErrorIs(t, err, topology.ErrAway)
}
