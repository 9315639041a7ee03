package translate

import "github.com/steno-io/steno/schema"

// Rule is a rule by which a translator makes events.
type Rule struct {
	Name string `json:"name"`           // such as acp.stop
	Says string `json:"says"`           // in a sentence or two
	Ref  string `json:"ref,omitempty"`  // its number in the design
	Spec string `json:"spec,omitempty"` // what of the protocol it is about, by the names of its specification
}

// Ruler is a translator that can name the rule an event follows from. It is told from the event alone: a rule
// leaves nothing in it but what it says.
type Ruler interface {
	// Rule gives the rule of an event of this translator's; false if none is known for such an event.
	Rule(e *schema.Event) (Rule, bool)
}
