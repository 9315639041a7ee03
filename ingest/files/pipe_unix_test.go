//go:build unix

package files

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAPipeIsRefused opens a pipe that nobody writes to: it must not be waited for.
func TestAPipeIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	_, err := Open(path)
	require.ErrorContains(t, err, path+": want a regular file")
}
