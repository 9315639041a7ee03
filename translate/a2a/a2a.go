// Package a2a translates the Agent2Agent protocol, all four dialects: the frames of one conversation
// into its neutral events.
//
// One conversation is one transcript; every event names its task in source.task_id, and every task has
// exactly one Stop. A frame that only brings more text (a chunk of an artifact, a further piece of a
// message or of progress) is accounted for by the Message or Note that it becomes part of; every other
// frame has exactly one verbatim Raw, the last of its events. Two Raws stand first instead, before what
// is concluded from them: that of an error, and that of an answer with two arms.
//
// What the agent said is reconciled, not replayed: snapshots, pushes and second streams repeat what is
// known, and only what is new in them is said again.
package a2a

import (
	"github.com/steno-io/steno/schema"
	wire "github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// Version is the translator version. It changes with any change of its output.
const Version = "a2a/1"

// Translator is the translator of Version.
type Translator struct{}

var _ translate.Translator = Translator{}

// Version implements translate.Translator.
func (Translator) Version() string { return Version }

// Fold implements translate.Translator.
func (Translator) Fold(id schema.Identity) translate.Fold { return newFold(id) }

func newFold(id schema.Identity) *fold {
	return &fold{
		id: id, stamp: translate.NewStamp(id),
		reader: jsontree.Reader{Depth: wire.Depth}, exchanges: map[string]*exchange{},
		tasks: map[string]*task{}, ids: map[string]int{}, users: map[userKey]bool{}, told: map[userKey]bool{}, injected: map[string]injection{}, contexts: map[string]bool{},
	}
}
