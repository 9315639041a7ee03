package acp

import (
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/state"
)

// forms are how the folds of each version are saved: all of their fields, and of those that they lead to,
// but the tagged ones.
var forms = map[string]*state.Form[fold]{
	FirstVersion: state.NewForm[fold](FirstVersion),
	Version:      state.NewForm[fold](Version),
}

// AppendState implements translate.Fold.
func (x *fold) AppendState(dst []byte) []byte { return forms[x.version].Append(dst, x) }

// Restore implements translate.Translator.
func (Translator) Restore(id schema.Identity, data []byte) (translate.Fold, error) {
	return restore(id, Version, data)
}

// Restore implements translate.Translator.
func (First) Restore(id schema.Identity, data []byte) (translate.Fold, error) {
	return restore(id, FirstVersion, data)
}

func restore(id schema.Identity, version string, data []byte) (translate.Fold, error) {
	x := newFold(id, version)
	if err := forms[version].Load(x, data); err != nil {
		return nil, err
	}
	return x, nil
}
