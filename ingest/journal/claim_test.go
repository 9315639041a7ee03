package journal

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOneClaimsAJournal(t *testing.T) {
	dir := t.TempDir()
	release, err := Claim(dir, "j")
	require.NoError(t, err)
	_, err = Claim(dir, "j")
	require.ErrorIs(t, err, ErrClaimed)
	other, err := Claim(dir, "other")
	require.NoError(t, err)
	require.NoError(t, other())
	require.NoError(t, release())
	release, err = Claim(dir, "j")
	require.NoError(t, err)
	require.NoError(t, release())

	_, err = Claim(dir+"/none", "j")
	require.ErrorContains(t, err, "claim journal j")
}

// A claim is swept when it is old and its journal is gone.
func TestClaimsAreSwept(t *testing.T) {
	dir := t.TempDir()
	w := create(t, Options{Dir: dir})
	for _, id := range []string{w.Head().ID, "gone"} {
		release, err := Claim(dir, id)
		require.NoError(t, err)
		require.NoError(t, release())
	}
	require.NoError(t, w.Close())
	deleted, err := Sweep(dir, time.Now())
	require.NoError(t, err)
	require.Empty(t, deleted)
	deleted, err = Sweep(dir, time.Now().Add(KeepStored+time.Minute))
	require.NoError(t, err)
	require.Equal(t, []string{ClaimPath(dir, "gone")}, deleted)
	_, err = os.Stat(ClaimPath(dir, w.Head().ID))
	require.NoError(t, err)
}
