package main

import (
	"encoding/json"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// ruleOf names the rule an event follows from, where its translator is here and can tell.
func ruleOf(e *schema.Event) (translate.Rule, bool) {
	t, err := protocols().ByVersion(e.Source.Translator)
	if err != nil {
		return translate.Rule{}, false
	}
	ruler, ok := t.(translate.Ruler)
	if !ok {
		return translate.Rule{}, false
	}
	return ruler.Rule(e)
}

// kindText is the event's kind as it is encoded.
func kindText(e *schema.Event) []byte {
	var fields struct {
		Kind json.RawMessage `json:"kind"`
	}
	if err := json.Unmarshal(e.AppendJSON(nil), &fields); err != nil {
		return fmt.Append(nil, err) // what is written reads
	}
	return fields.Kind
}
