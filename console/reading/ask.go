package reading

import (
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// Ask is a permission that was asked for, and what was decided.
type Ask struct {
	Tool    string // as the peer calls it; empty: none
	Offered string // what there was to choose from
	Decided string // empty: nothing yet
	Allowed bool
}

// AskOf reads a permission that is asked for.
func AskOf(value schema.JSON) Ask {
	v := Parse(value)
	tool, _ := v.Get("toolCall").Get("toolCallId").Text()
	return Ask{Tool: tool, Offered: offered(v.Get("options"))}
}

// DecisionOf reads what was decided, and by whom if that was not the client's user.
func DecisionOf(value schema.JSON) Ask {
	v := Parse(value)
	outcome := v.Get("outcome")
	a := Ask{Offered: offered(v.Get("offered"))}
	a.Tool, _ = v.Get("toolCallId").Text()
	chosen, _ := outcome.Get("optionId").Text()
	switch {
	case outcome.Get("outcome").Is(acp.OutcomeSelected):
		a.Decided = "answered: " + OneLine(chosen)
		for o := range v.Get("offered").Children() {
			if o.Get("optionId").Is(chosen) {
				kind, _ := o.Get("kind").Text()
				a.Decided, a.Allowed = "answered: "+optionName(o), acp.Decide(kind) == acp.Allowed
			}
		}
	case outcome.Get("outcome").Kind() == jsontree.String:
		a.Decided, _ = outcome.Get("outcome").Text()
		a.Decided = OneLine(a.Decided)
	default:
		message, _ := v.Get("error").Get("message").Text()
		a.Decided = OneLine("no decision: " + message)
	}
	if policy, _ := v.Get("policy").Text(); policy != "" && policy != "client" {
		a.Decided += " (policy " + OneLine(policy) + ")"
	}
	return a
}

// offered lists the options by their names.
func offered(options jsontree.Value) string {
	var names []string
	for o := range options.Children() {
		names = append(names, optionName(o))
	}
	if names == nil {
		return "nothing to choose from"
	}
	return strings.Join(names, " | ")
}

func optionName(o jsontree.Value) string {
	for _, member := range []string{"name", "optionId"} {
		if text, ok := o.Get(member).Text(); ok && text != "" {
			return OneLine(text)
		}
	}
	return "?"
}
