package proof

import (
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/verify"
	"github.com/steno-io/steno/translate"
)

// Folds starts the folds of captures by a catalogue's translator versions, as verify.Options wants it.
func Folds(c *translate.Catalogue) func(id schema.Identity, version string) verify.Fold {
	return func(id schema.Identity, version string) verify.Fold {
		capture := translate.NewCapture(id, c, version)
		capture.Quiet() // what is not stored is not compared
		var events []schema.Event
		var abouts translate.Abouts
		sessions := map[uint32]struct{}{}
		return verify.Fold{
			Step: func(f *schema.Frame) ([]schema.Event, error) {
				var err error
				if events, err = capture.Step(events[:0], f); errors.Is(err, translate.ErrVersion) {
					err = fmt.Errorf("%w: %w", verify.ErrVersion, err)
				}
				return events, err
			},
			Open: func() map[uint32]uint64 { return capture.Open().Frames },
			About: func(f *schema.Frame, events []schema.Event) map[uint32]schema.About {
				abouts.Notice(capture, f, events, sessions)
				return abouts.Take()
			},
		}
	}
}
