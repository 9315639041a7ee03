package holder

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/proxy"
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
	require.Len(t, first, proxy.PushKeyBytes)
	for _, key := range keys {
		require.Equal(t, first, key)
	}
	files, err := filepath.Glob(string(dir) + "/*")
	require.NoError(t, err)
	require.Equal(t, []string{dir.pushKey()}, files)

	require.NoError(t, os.WriteFile(dir.pushKey(), []byte("abcd"), 0o600))
	_, err = dir.PushKey()
	require.ErrorContains(t, err, "4 bytes, want at least 16")
}

// TestAKeyIsTheSameWhereverItLies: a replica is given the file of another one.
func TestAKeyIsTheSameWhereverItLies(t *testing.T) {
	dir := Dir(t.TempDir())
	made, err := dir.PushKey()
	require.NoError(t, err)
	text, err := os.ReadFile(dir.pushKey())
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "key")
	for text, want := range map[string]string{
		string(text):                  string(made),
		" " + string(text) + "\n":     string(made),
		" any sixteen bytes \n":       "any sixteen bytes",
		"0123456789abcdef":            "0123456789abcdef", // 8 bytes if it were read as digits
		string(text[:62]):             string(text[:62]),
		"any sixteen\xffbytes":        "any sixteen\xffbytes",
		strings.ToUpper(string(text)): string(made),
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		got, err := ReadPushKey(path)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	require.NoError(t, os.WriteFile(path, []byte(" fifteen letters \n"), 0o600))
	_, err = ReadPushKey(path)
	require.ErrorContains(t, err, "read push key "+path+": 15 bytes, want at least 16")
	_, err = ReadPushKey(path + ".not")
	require.ErrorIs(t, err, os.ErrNotExist)
}
