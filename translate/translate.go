// Package translate folds a capture's frames into neutral events. It is pure: no clock, no
// randomness, no map order, no I/O, no timers, so that the same frames give the same bytes on every
// run.
package translate

import (
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
)

// Translator is one version of one protocol's rules.
type Translator interface {
	// Version names protocol and version, such as "acp/1". A capture keeps it to its end.
	Version() string
	// Fold starts the fold of a capture.
	Fold(id schema.Identity) Fold
	// Restore makes the fold of that capture whose state was appended: it goes on as that one would
	// have. It keeps nothing of state. An error wraps ErrState.
	Restore(id schema.Identity, state []byte) (Fold, error)
}

// Fold is the state of one capture. It is not safe for concurrent use.
type Fold interface {
	// Step folds the capture's next frame and appends its events, durable and ephemeral, to dst in
	// order. It does not keep f or f.Data.
	Step(dst []schema.Event, f *schema.Frame) []schema.Event
	// End folds the end of a capture that has no close frame: what is open ends as it stands.
	End(dst []schema.Event) []schema.Event
	// Open tells what is not finished.
	Open() Open
	// About tells what a list shows of a session; the zero value where nothing is known.
	About(session uint32) schema.About
	// AppendState appends the whole state between two frames, for Translator.Restore. Folds of the same
	// frames give the same bytes.
	AppendState(dst []byte) []byte
}

// Quieter is what a Fold may be as well: whoever wants its durable events alone need not have the others made.
type Quieter interface {
	// Quiet leaves ephemeral events out from here on. Nothing about the durable ones changes.
	Quiet()
}

// Open is what a fold holds unfinished.
type Open struct {
	Messages []OpenMessage
	Tools    []OpenTool
	Notes    []OpenNote
	// Frames counts, for each session, the frames that no event names yet: those of open messages
	// and of runs that still join.
	Frames map[uint32]uint64
}

// OpenMessage is a message whose text still grows.
type OpenMessage struct {
	Session   uint32
	MessageID string
	Role      schema.Role
	Channel   schema.Channel
	Text      string
	Next      uint64 // index of its next delta
	TaskID    string // of A2A
}

// OpenNote is progress of a task that is not durable yet.
type OpenNote struct {
	Session uint32
	TaskID  string
	Text    string
}

// OpenTool is a tool call that has not ended.
type OpenTool struct {
	Session uint32
	State   schema.ToolState
}

// ErrVersion marks a translator that this build does not have; one that has it can fold the capture.
var ErrVersion = errors.New("this build does not have it")

// Catalogue finds translators by version, and the one for new captures by protocol.
type Catalogue struct {
	byVersion  map[string]Translator
	byProtocol map[schema.Protocol]Translator
}

// NewCatalogue makes a catalogue. current are the translators of new captures; kept are older
// versions that captures still name.
func NewCatalogue(current map[schema.Protocol]Translator, kept ...Translator) *Catalogue {
	c := &Catalogue{byVersion: map[string]Translator{}, byProtocol: current}
	for _, t := range current {
		c.byVersion[t.Version()] = t
	}
	for _, t := range kept {
		c.byVersion[t.Version()] = t
	}
	return c
}

// ByVersion finds the translator of a version; ErrVersion if there is none.
func (c *Catalogue) ByVersion(version string) (Translator, error) {
	t, ok := c.byVersion[version]
	if !ok {
		return nil, fmt.Errorf("find translator %q: %w", version, ErrVersion)
	}
	return t, nil
}

// ByProtocol finds the translator of new captures of a protocol; ErrVersion if there is none.
func (c *Catalogue) ByProtocol(p schema.Protocol) (Translator, error) {
	t, ok := c.byProtocol[p]
	if !ok {
		return nil, fmt.Errorf("find translator of protocol %q: %w", p, ErrVersion)
	}
	return t, nil
}
