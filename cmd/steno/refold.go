package main

import (
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/verify"
	"github.com/steno-io/steno/translate"
)

// newFold starts the fold of a capture by a translator version, for a proof.
func newFold(id schema.Identity, version string) verify.Fold {
	capture := translate.NewCapture(id, protocols(), version)
	capture.Quiet()
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
