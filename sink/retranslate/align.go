package retranslate

import (
	"bytes"
	"slices"

	"github.com/google/uuid"

	"github.com/steno-io/steno/schema"
)

// version is an event as one version gives it.
type version struct {
	event schema.Event
	text  []byte // its encoding without what follows from other events, and without the translator
}

func newVersion(encoded []byte) (version, error) {
	e, err := schema.DecodeEvent(encoded) // as the stored ones are read
	return versionOf(e), err
}

func versionOf(e schema.Event) version {
	v := version{event: e}
	e.Part, e.StoreSeq, e.EventID, e.Source.Translator = 0, 0, uuid.Nil, ""
	v.text = e.AppendJSON(nil)
	return v
}

// pair is an event of both versions, or of one.
type pair struct{ was, is *version }

func (p pair) same() bool { return bytes.Equal(p.was.text, p.is.text) }

// maxTable bounds the table of an alignment, in fields. Beyond it events pair by their places.
const maxTable = 1 << 20

// align pairs a frame's events of a session: those that are the same, in their order, as many as there
// can be; between them those of one kind.
func align(was, is []version) []pair {
	var out []pair
	from, next := 0, 0
	for _, m := range common(was, is) {
		out = append(out, byKind(was[from:m[0]], is[next:m[1]])...)
		out = append(out, pair{&was[m[0]], &is[m[1]]})
		from, next = m[0]+1, m[1]+1
	}
	return append(out, byKind(was[from:], is[next:])...)
}

// common gives the places of a longest common subsequence.
func common(was, is []version) (places [][2]int) {
	head := 0
	for head < len(was) && head < len(is) && bytes.Equal(was[head].text, is[head].text) {
		places = append(places, [2]int{head, head})
		head++
	}
	rest, more := was[head:], is[head:]
	if len(rest) == 0 || len(more) == 0 || len(rest)*len(more) > maxTable {
		return places
	}
	length := make([][]int, len(rest)+1) // of what is common from there on
	for i := range length {
		length[i] = make([]int, len(more)+1)
	}
	for i := len(rest) - 1; i >= 0; i-- {
		for j := len(more) - 1; j >= 0; j-- {
			if bytes.Equal(rest[i].text, more[j].text) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(rest) && j < len(more); {
		switch {
		case bytes.Equal(rest[i].text, more[j].text):
			places = append(places, [2]int{head + i, head + j})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return places
}

// byKind pairs events that are not the same: each with the first of its kind that is left and whose turn
// has not passed.
func byKind(was, is []version) (out []pair) {
	next := 0
	for i := range was {
		at := slices.IndexFunc(is[next:], func(v version) bool { return v.event.Kind.Tag() == was[i].event.Kind.Tag() })
		if at < 0 {
			out = append(out, pair{was: &was[i]})
			continue
		}
		for range at {
			out = append(out, pair{is: &is[next]})
			next++
		}
		out = append(out, pair{&was[i], &is[next]})
		next++
	}
	for ; next < len(is); next++ {
		out = append(out, pair{is: &is[next]})
	}
	return out
}
