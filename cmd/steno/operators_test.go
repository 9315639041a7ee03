package main

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOperatorsFile(t *testing.T) {
	path := t.TempDir() + "/operators"
	a := &app{}
	for _, tt := range []struct {
		text string
		mode os.FileMode
		says string
	}{
		{"# who\n\nmiller 0123456789abcdef\n", 0o600, ""},
		{"miller 0123456789abcdef\n", 0o644, "want 0600"},
		{"miller s3cret\n", 0o600, "line 1"},
		{"the miller 0123456789abcdef\n", 0o600, "line 1"},
		{"miller 0123456789abcdef\nbaker 0123456789abcdef\n", 0o600, "line 2: its token is another one's"},
	} {
		require.NoError(t, errors.Join(os.WriteFile(path, []byte(tt.text), tt.mode), os.Chmod(path, tt.mode)))
		operators, err := a.operators(&consoleFlags{operators: path})
		if tt.says == "" {
			require.NoError(t, err)
			require.Len(t, operators, 1)
			continue
		}
		require.ErrorContains(t, err, tt.says)
		require.NotContains(t, err.Error(), "s3cret")
	}
}
