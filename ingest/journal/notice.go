package journal

import (
	"errors"
	"fmt"
)

// What happened to a journal that its writer's or reader's owner should say aloud.
type What string

// Happenings.
const (
	HalfFull What = "half full" // the directory's journals passed half of their bound
	Blocked  What = "blocked"   // no room: the conversation is held
	Passing  What = "passing"   // not kept: the conversation goes on unrecorded
	Resumed  What = "resumed"   // kept again
	Failed   What = "failed"    // a write or a sync failed
	Damaged  What = "damaged"   // a reader found bytes that are no entry, with whole ones behind them
)

// Notice is one happening. Used and Max are bytes of the directory's journals, 0 where they do not
// matter; Err is the cause, nil where there is none.
type Notice struct {
	What      What
	Path      string
	Used, Max int64
	Err       error
}

// String writes the notice as one line.
func (n Notice) String() string {
	s := fmt.Sprintf("journal %s: %s", n.Path, n.What)
	if n.Max > 0 {
		s += fmt.Sprintf(" (%d of %d bytes used)", n.Used, n.Max)
	}
	if n.Err != nil {
		s += ": " + n.Err.Error()
	}
	switch {
	case n.What != Blocked:
	case errors.Is(n.Err, ErrDiskFull):
		s += "; the conversation is held: free space on that disk and it goes on"
	default:
		s += "; the conversation is held: let steno up store the journals and it goes on"
	}
	return s
}
