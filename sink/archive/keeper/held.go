package keeper

import "fmt"

// heldError says of a capture that nothing can be given back now, for a reason that may pass.
type heldError struct {
	kind string // the reason without what is the capture's own
	text string
}

// Error implements error.
func (e *heldError) Error() string { return "it is held: " + e.text }

func held(format string, args ...any) error { return &heldError{format, fmt.Sprintf(format, args...)} }

// sayHeld says why captures are held: once for each reason, until no capture is held for it any more.
func (k *Keeper) sayHeld() {
	now := map[string]int{}
	for _, n := range k.known {
		if n.held != nil {
			now[n.held.kind]++
		}
	}
	said := map[string]bool{}
	for id, n := range k.known {
		if n.held == nil || said[n.held.kind] {
			continue
		}
		said[n.held.kind] = true
		if !k.saidHeld[n.held.kind] {
			k.o.Log.Warn().Int("captures", now[n.held.kind]).Stringer("one", id).Str("why", n.held.text).Msg("what is sealed cannot be given back now")
		}
	}
	k.saidHeld = said
}
