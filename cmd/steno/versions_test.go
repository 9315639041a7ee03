package main

import (
	"slices"
	"testing"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/acp"
)

// loud is acp's translator with one rule changed: thoughts are shouted. Its version is of its own.
type loud struct{ acp.Translator }

const loudVersion = "acp/loud"

// Version implements translate.Translator.
func (loud) Version() string { return loudVersion }

// Fold implements translate.Translator.
func (l loud) Fold(id schema.Identity) translate.Fold { return &loudFold{l.Translator.Fold(id)} }

// Restore implements translate.Translator.
func (l loud) Restore(id schema.Identity, state []byte) (translate.Fold, error) {
	fold, err := l.Translator.Restore(id, state)
	return &loudFold{fold}, err
}

type loudFold struct{ translate.Fold }

// Step implements translate.Fold.
func (f *loudFold) Step(dst []schema.Event, frame *schema.Frame) []schema.Event {
	before := len(dst)
	dst = f.Fold.Step(dst, frame)
	for i := range dst[before:] {
		e := &dst[before+i]
		e.Source.Translator = loudVersion
		if m, ok := e.Kind.(*schema.Message); ok && m.Channel == schema.Thought {
			m.Text += "!"
		}
	}
	return dst
}

// build has this process be a build with other translators until the test ends. It must not run beside
// others.
func build(t *testing.T, protocol schema.Protocol, versions ...translate.Translator) {
	t.Helper()
	before := translators[protocol]
	t.Cleanup(func() { translators[protocol] = before })
	translators[protocol] = slices.Clone(versions)
}
