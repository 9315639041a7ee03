package acp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/translate/translatetest"
)

func TestGolden(t *testing.T) { translatetest.Golden(t, Translator{}, "testdata") }

func TestEveryFrameHasOneRaw(t *testing.T) {
	files, err := filepath.Glob("testdata/acp-1/*.golden")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		above, _, _ := strings.Cut(string(data), "----------")
		fs := translatetest.ReadFrames(t, file, strings.NewReader(above))
		require.NoError(t, translatetest.OneRawEach(fs, translatetest.Fold(Translator{}, fs)), file)
	}
}
