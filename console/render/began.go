package render

import (
	"slices"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// beganA2A writes what the beginning of a recording says that a reader wants: where the peer is, and the
// labels. It belongs to the heading; behind it, it stands where another proxy went on with other ones.
func (r *Renderer) beganA2A(e *schema.Event, k *schema.Raw) {
	v := parse(k.Value)
	if peer, _ := v.Get("peer").Text(); peer != "" {
		r.peer = peer
	}
	words := strings.Join(originOf(v), " · ")
	switch {
	case slices.Contains(e.Flags, schema.FlagUnrecognised):
		r.control(e, string(schema.TypeOpen), k.Value) // its profile was not
	case words == "" || words == r.origin:
		r.hidden++
	case r.headed:
		r.hidden++
		r.dots(words)
	default:
		r.line(dim, markStop, "recording began", words, e)
	}
	r.origin = words
}

func originOf(open jsontree.Value) (words []string) {
	if upstream, _ := open.Get("upstream").Text(); upstream != "" {
		words = append(words, "upstream "+oneLine(upstream))
	}
	for label := range open.Get("labels").Children() {
		words = append(words, oneLine(nameOf(label))+"="+scalar(label))
	}
	return words
}
