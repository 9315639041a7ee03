// Package acp translates the Agent Client Protocol, versions 1 and 2: the frames of one connection into
// its neutral events. Which version a connection speaks is what its agent answered to initialize.
//
// The rules are DESIGN 5's. Every frame that is not a piece of something gives exactly one verbatim Raw,
// the last of its events (only a turn's Stop stands behind its Raw). Pieces of a message become one
// Message at its boundary, and deltas on the way; pieces of anything else one Raw.
package acp

import (
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/translate"
)

// Version is the translator version. It changes with any change of its output.
const Version = "acp/2"

// FirstVersion is the translator version before. It reads version 2 of the protocol by the rules of
// version 1, keeps each piece of a summary or of a session's message as a Raw of its own, counts no
// tokens, and takes a subagent for a session like any other.
const FirstVersion = "acp/1"

// Translator is the translator of Version.
type Translator struct{}

// First is the translator of FirstVersion, for captures that it began.
type First struct{}

var (
	_ translate.Translator = Translator{}
	_ translate.Translator = First{}
)

// Version implements translate.Translator.
func (Translator) Version() string { return Version }

// Version implements translate.Translator.
func (First) Version() string { return FirstVersion }

// Fold implements translate.Translator.
func (Translator) Fold(id schema.Identity) translate.Fold { return newFold(id, Version) }

// Fold implements translate.Translator.
func (First) Fold(id schema.Identity) translate.Fold { return newFold(id, FirstVersion) }

func newFold(id schema.Identity, version string) *fold {
	f := &fold{
		id: id, version: version, first: version == FirstVersion,
		stamp: translate.NewStamp(id), dialect: dialect1, status: schema.StatusOpen,
		ordinals: map[string]uint32{}, requests: map[requestKey]*request{},
	}
	f.sessions = []*session{newSession(0, "")}
	f.active = f.sessions[0]
	return f
}

// Dialects: the protocol version in the words of an event's source.
const (
	dialect1 = "1"
	dialect2 = "2"
)

// upserts reports whether the connection is read by the rules of the protocol's version 2.
func (x *fold) upserts() bool { return x.dialect == dialect2 && !x.first }

// protocolVersion is the version of the protocol whose variants of session/update are known ones.
func (x *fold) protocolVersion() int {
	if x.upserts() {
		return acp.Version2
	}
	return acp.Version1
}
