package tui

import (
	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/schema"
)

// news is what came since it was asked for last.
type news struct {
	quiet  bool              // there is nothing to be told yet, and nothing has changed
	anew   bool              // what is shown goes: a replay begins elsewhere
	events []schema.Event    // stored, in the order of their numbers; where there are too many, the last ones
	texts  []openText        // open messages whose text has changed, with all of it
	open   []openText        // all that are open
	tools  []schema.OpenTool // nil = as before
	notes  []schema.OpenNote // likewise
	bits   []schema.Event    // pieces of notes
	state  state
}

// openText is an open message, and the piece that it began with, which says when; without a kind where it
// was joined in its middle.
type openText struct {
	schema.OpenMessage
	began schema.Event
}

// state is how what is shown stands to what was said.
type state struct {
	lost    bool        // the connection is
	behind  uint64      // events that the ledger has not stored yet
	parked  string      // why the capture is not folded any further
	unowned bool        // no translator answers
	missing bool        // pieces of text were lost, and are asked for
	ended   *follow.End // all there is
}

// take takes what a follower tells.
func (s *state) take(item follow.Item) {
	switch i := item.(type) {
	case *follow.Event:
		s.ended, s.parked = nil, ""
	case *follow.Delta:
		s.ended, s.unowned = nil, false
	case *follow.Snapshot:
		s.unowned, s.missing = false, false
	case *follow.End:
		s.ended = i
	case *follow.Lag:
		s.lag(i)
	}
}

func (s *state) lag(l *follow.Lag) {
	switch l.Reason {
	case follow.LagBehind:
		s.behind = l.Events
	case follow.LagMissed, follow.LagSlow:
		s.missing = true
	case follow.LagDisconnected:
		s.lost = true
	case follow.LagReconnected:
		s.lost, s.missing = false, true
	case follow.LagNoOwner:
		s.unowned = true
	case follow.LagParked:
		s.parked = l.Detail
		if s.parked == "" {
			s.parked = "nobody says why"
		}
	}
}
