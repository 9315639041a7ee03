package acp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/translatetest"
)

func TestGolden(t *testing.T) {
	for _, tr := range []translate.Translator{First{}, Translator{}} {
		t.Run(strings.ReplaceAll(tr.Version(), "/", "-"), func(t *testing.T) { translatetest.Golden(t, tr, "testdata") })
	}
}

// goldens are the frames of the golden files of a version, by file.
func goldens(t *testing.T, version string) map[string][]schema.Frame {
	t.Helper()
	files, err := filepath.Glob("testdata/" + version + "/*.golden")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := map[string][]schema.Frame{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		above, _, _ := strings.Cut(string(data), "----------\n")
		all[file] = translatetest.ReadFrames(t, file, strings.NewReader(above))
	}
	return all
}

func TestEveryFrameHasOneRaw(t *testing.T) {
	for version, tr := range map[string]translate.Translator{"acp-1": First{}, "acp-2": Translator{}} {
		for file, fs := range goldens(t, version) {
			require.NoError(t, translatetest.OneRawEach(fs, translatetest.Fold(tr, fs)), file)
		}
	}
}

// changed are the golden files of the first version that the current one reads otherwise: a connection of
// version 2 of the protocol, pieces that are joined now, tokens, a subagent, the end of a question.
var changed = []string{"version2", "upserts", "pieces", "subagent", "asks"}

// Of everything else the current version makes what the first one made.
func TestWhatTheFirstVersionPinnedStays(t *testing.T) {
	for file, fs := range goldens(t, "acp-1") {
		first := string(translatetest.Encode(translatetest.Fold(First{}, fs)))
		current := strings.ReplaceAll(string(translatetest.Encode(translatetest.Fold(Translator{}, fs))), `"translator":"`+Version+`"`, `"translator":"`+FirstVersion+`"`)
		if slices.Contains(changed, strings.TrimSuffix(filepath.Base(file), ".golden")) {
			require.NotEqual(t, first, current, file)
		} else {
			require.Equal(t, first, current, file)
		}
	}
}
