package holder

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever asks first makes the key; all get the same one, and nothing else is left behind.
func TestPushKeyIsMadeOnce(t *testing.T) {
	dir := Dir(t.TempDir() + "/data")
	keys := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			key, err := dir.PushKey()
			if err == nil {
				keys[i] = key
			}
		})
	}
	all.Wait()
	first, err := dir.PushKey()
	require.NoError(t, err)
	require.Len(t, first, keyBytes)
	for _, key := range keys {
		require.Equal(t, first, key)
	}
	files, err := filepath.Glob(string(dir) + "/*")
	require.NoError(t, err)
	require.Equal(t, []string{dir.pushKey()}, files)

	require.NoError(t, os.WriteFile(dir.pushKey(), []byte("abcd"), 0o600))
	_, err = dir.PushKey()
	require.ErrorContains(t, err, "64 hexadecimal digits")
}
