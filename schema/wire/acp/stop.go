package acp

import "github.com/steno-io/steno/schema"

// Stop reasons of a turn. Version 2 has EndError beside them and leaves the list open.
const (
	EndTurn            = "end_turn"
	EndMaxTokens       = "max_tokens"
	EndMaxTurnRequests = "max_turn_requests"
	EndRefusal         = "refusal"
	EndCancelled       = "cancelled"
	EndError           = "error"
)

// Stop gives version 1's stop reason in schema's words. A refusal has no word of its own there: it is
// Other with its name. So is a word outside the list, kept as sent; known is then false.
func Stop(word string) (stop schema.Stop, known bool) {
	switch word {
	case EndTurn:
		return schema.Stop{Reason: schema.StopEndTurn}, true
	case EndMaxTokens, EndMaxTurnRequests:
		return schema.Stop{Reason: schema.StopLimitReached}, true
	case EndCancelled:
		return schema.Stop{Reason: schema.StopCancelled}, true
	}
	return schema.Stop{Reason: schema.StopOther, Detail: word}, word == EndRefusal
}
