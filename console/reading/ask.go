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
	Title   string // for what, where it names no tool; on one line
	Offered string // what there was to choose from
	Decided string // empty: nothing yet
	Allowed bool
}

// askOf reads a permission that is asked for.
func askOf(value schema.JSON) Ask {
	v := Parse(value)
	if large, ok := tooLarge(v); ok {
		return Ask{Offered: large}
	}
	a := Ask{Offered: offered(v.Get("options"))}
	if a.Tool, _ = v.Get("toolCall").Get("toolCallId").Text(); a.Tool == "" {
		title, _ := v.Get("toolCall").Get("title").Text()
		a.Title = OneLine(title)
	}
	return a
}

// Asked is what was asked, on one line.
func (a *Ask) Asked() string {
	if a.Title != "" {
		return a.Title + ": " + a.Offered
	}
	return a.Offered
}

// answer gives the first of some questions that is of a decision's tool, was offered the same and has no
// decision yet that decision; else, where what was offered is not known, the first that has none. It reports
// whether there is such a one.
func answer(asks []Ask, a Ask) bool {
	for _, fits := range []func(q *Ask) bool{
		func(q *Ask) bool { return q.Offered == a.Offered },
		func(q *Ask) bool { return isTooLarge(q.Offered) || isTooLarge(a.Offered) },
	} {
		for i := range asks {
			if q := &asks[i]; q.Decided == "" && q.Tool == a.Tool && fits(q) {
				a.Title = q.Title
				*q = a
				return true
			}
		}
	}
	return false
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
	if large, ok := tooLarge(options); ok {
		return large
	}
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
