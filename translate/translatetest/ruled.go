package translatetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/translate"
)

// Ruled checks that every durable event of a translator's golden files has a rule, with a name, a sentence
// and nothing else than its name says, and that each of the rules wanted is one's.
func Ruled(t *testing.T, tr interface {
	translate.Translator
	translate.Ruler
}, dir string, wanted map[string]bool) {
	dir = filepath.Join(dir, strings.ReplaceAll(tr.Version(), "/", "-"))
	files, err := filepath.Glob(filepath.Join(dir, "*.golden"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "no golden files in %s", dir)
	protocol, _, _ := strings.Cut(tr.Version(), "/")
	said := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		above, _, _ := strings.Cut(string(data), separator)
		for _, e := range Fold(tr, ReadFrames(t, file, strings.NewReader(above))) {
			if e.Ephemeral {
				continue
			}
			rule, ok := tr.Rule(&e)
			require.True(t, ok, "%s: %s", file, e.AppendJSON(nil))
			require.True(t, strings.HasPrefix(rule.Name, protocol+"."), rule.Name)
			require.True(t, strings.HasSuffix(rule.Says, "."), rule.Name)
			if before, ok := said[rule.Name]; ok {
				require.Equal(t, before, rule.Says)
			}
			said[rule.Name] = rule.Says
		}
	}
	for name := range wanted {
		require.Contains(t, said, name, "no golden file has an event of that rule")
	}
}
