package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAFileTakesItsPlace where the file system has links, and where it has none: that of another file never.
func TestAFileTakesItsPlace(t *testing.T) {
	for name, link := range map[string]func(file, name string) error{
		"links":    os.Link,
		"no links": func(string, string) error { return syscall.EPERM },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			made := func(text string) string {
				path := filepath.Join(dir, text)
				require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
				return path
			}
			place := filepath.Join(dir, "place")
			require.NoError(t, takePlace(made("first"), place, link))
			require.ErrorIs(t, takePlace(made("second"), place, link), fs.ErrExist)
			text, err := os.ReadFile(place)
			require.NoError(t, err)
			require.Equal(t, "first", string(text))
			require.Error(t, takePlace(filepath.Join(dir, "nothing"), filepath.Join(dir, "other"), link))
			require.NoFileExists(t, filepath.Join(dir, "other"))
		})
	}
}
