package holder

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/filing"
	"github.com/steno-io/steno/ingest/journal"
)

// A journal that is deleted before its publisher opens it is not tried for ever: its mark says whether another
// process has stored all of it.
func TestAJournalThatIsDeletedIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, done := range map[string]bool{"stored": true, "not stored": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := Dir(t.TempDir())
			record(t, dir, "", true, hello)
			infos, err := journal.List(dir.Journals())
			require.NoError(t, err)
			require.Len(t, infos, 1)
			id := infos[0].ID
			require.NoError(t, journal.WriteMark(dir.Journals(), id, journal.Mark{Identity: infos[0].Head.Identity, Done: done}))
			require.NoError(t, os.Remove(infos[0].Path))

			j, s := newJournals(options(t, dir, Up), filing.Options{}), &source{ended: make(chan struct{})}
			j.active[id] = s
			require.NoError(t, j.publish(within(t), infos[0], journal.Mark{}, s))
			require.True(t, s.hopeless(), "no more of it will be stored")
			_, failing := s.now()
			if done {
				require.NoError(t, failing)
				require.Contains(t, j.done, id)
			} else {
				require.ErrorIs(t, failing, os.ErrNotExist)
			}
		})
	}
}
