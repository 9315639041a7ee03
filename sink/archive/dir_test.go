package archive_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/archive/storetest"
)

func openDir(_ context.Context, address string) (archive.Store, error) {
	return archive.OpenDir(address, true)
}

func TestMain(m *testing.M) { storetest.Main(m, openDir) }

func TestDir(t *testing.T) {
	storetest.Run(t, storetest.Suite{
		Open: openDir, Fresh: func(t *testing.T) string { return filepath.Join(t.TempDir(), "archive") },
	})
}

// TestAMarkIsNoChange puts an archive's mark, as copied from a bucket, beside what is sealed; then it is
// changed.
func TestAMarkIsNoChange(t *testing.T) {
	s := newSite(t)
	s.tell(identity("one"), story)
	s.seal(identity("one"))
	mark := filepath.Join(s.dir, archive.MarkName)
	require.NoError(t, os.WriteFile(mark, []byte(archive.Mark), 0o600))
	require.Empty(t, s.check("").Findings)
	for _, other := range []string{"", archive.Mark + "x", "a" + archive.Mark[1:]} {
		require.NoError(t, os.WriteFile(mark, []byte(other), 0o600))
		c := s.check("")
		require.Equal(t, 10, c.ExitCode())
		require.Equal(t, archive.MarkName, c.Findings[0].File)
	}
}
