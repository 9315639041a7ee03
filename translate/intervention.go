package translate

import "github.com/steno-io/steno/schema"

// InterventionText says an intervention in words, as a note in a transcript has it: what, who, why.
func InterventionText(i *schema.Intervention) string {
	text := i.Kind.Kind.Label()
	if text == "" { // a newer steno's
		text = string(i.Kind.Kind)
	}
	if i.IssuedBy != "" {
		text += " by " + i.IssuedBy
	}
	if i.Kind.Reason != "" {
		text += ": " + i.Kind.Reason
	}
	return text
}

// OutcomeText says in words what became of an intervention, where that is not what was to be expected.
func OutcomeText(i *schema.Intervention, o *schema.Outcome) string {
	plain := *i
	plain.Kind.Reason = "" // it stands where it was done
	text := InterventionText(&plain) + ": " + o.Outcome
	if o.Detail != "" {
		text += ": " + o.Detail
	}
	return text
}
