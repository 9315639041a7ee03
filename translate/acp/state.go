package acp

import (
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/state"
)

// form is how a fold is saved: all of its fields, and of those that they lead to, but the tagged ones.
var form = state.NewForm[fold](Version)

// AppendState implements translate.Fold.
func (x *fold) AppendState(dst []byte) []byte { return form.Append(dst, x) }

// Restore implements translate.Translator.
func (Translator) Restore(id schema.Identity, data []byte) (translate.Fold, error) {
	x := newFold(id)
	if err := form.Load(x, data); err != nil {
		return nil, err
	}
	return x, nil
}
