// Package acp translates the Agent Client Protocol, version 1: the frames of one connection into its
// neutral events.
//
// The rules are DESIGN 5's. Every frame that is not a chunk gives exactly one verbatim Raw, the last
// of its events (only a turn's Stop stands behind its Raw); chunks become one Message at its
// boundary, and deltas on the way.
package acp

import (
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// Version is the translator version. It changes with any change of its output.
const Version = "acp/1"

// Translator is the translator of Version.
type Translator struct{}

var _ translate.Translator = Translator{}

// Version implements translate.Translator.
func (Translator) Version() string { return Version }

// Fold implements translate.Translator.
func (Translator) Fold(id schema.Identity) translate.Fold { return newFold(id) }

func newFold(id schema.Identity) *fold {
	f := &fold{
		id: id, stamp: translate.NewStamp(id), dialect: "1", status: schema.StatusOpen,
		ordinals: map[string]uint32{}, requests: map[requestKey]*request{},
	}
	f.sessions = []*session{newSession(0, "")}
	f.active = f.sessions[0]
	return f
}
