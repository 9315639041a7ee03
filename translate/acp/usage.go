package acp

import (
	"strconv"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// usage gives the tokens that a turn took, where the agent counted them. How full the context is, which
// usage_update says, is another quantity.
func (x *fold) usage(s *session, usage jsontree.Value) {
	if x.first {
		return
	}
	input, odd := tokens(usage.Get("inputTokens"))
	output, alsoOdd := tokens(usage.Get("outputTokens"))
	if input != nil || output != nil {
		x.emitHere(s, &schema.Progress{Detail: &schema.UsageEstimate{InputTokens: input, OutputTokens: output}}, odd|alsoOdd)
	}
}

// tokens is a count of tokens; nil where there is none. A number that can be no count has a flag.
func tokens(v jsontree.Value) (count *uint64, odd translate.FlagSet) {
	if v.Kind() != jsontree.Number {
		return nil, 0
	}
	n, err := strconv.ParseUint(string(v.Raw()), 10, 64)
	if err != nil {
		return nil, translate.Of(schema.FlagOutOfRange)
	}
	return &n, 0
}
