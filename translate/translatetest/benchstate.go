package translatetest

import (
	"testing"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// BenchState times the saving and the restoring of folds of a capture, by what they hold.
func BenchState(b *testing.B, t translate.Translator, id schema.Identity, folds map[string]translate.Fold) {
	for name, fold := range folds {
		b.Run("save/"+name, func(b *testing.B) {
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = fold.AppendState(dst[:0])
			}
			b.ReportMetric(float64(len(dst)), "bytes")
		})
		b.Run("restore/"+name, func(b *testing.B) {
			b.ReportAllocs()
			state := fold.AppendState(nil)
			for b.Loop() {
				if _, err := t.Restore(id, state); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
