package state

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/steno-io/steno/schema"
)

// shape is how a value is written.
type shape int

const (
	aBool shape = iota + 1
	anInt
	aUint
	aText
	aJSON
	aTime
	someBytes
	fixedBytes
	aSlice
	anArray
	aMap
	aPointer
	aStruct
)

// plan is how the values of a type are written.
type plan struct {
	is     shape
	typ    reflect.Type
	elem   *plan
	key    *plan
	fields []field
	least  int // bytes that a value takes at least
}

type field struct {
	index int
	*plan
}

// tag marks fields that are not saved.
const tag = "state"

var (
	timeType = reflect.TypeFor[time.Time]()
	jsonType = reflect.TypeFor[schema.JSON]()
)

// planner makes the plans of a type and of all that it leads to.
type planner struct {
	plans map[reflect.Type]*plan
	later []*plan // pointers whose element has none yet
	lines []string
}

// all makes the plan of the root. What pointers lead to is planned behind it, since it may lead back.
func (p *planner) all(root reflect.Type) *plan {
	r := p.plan(root)
	for len(p.later) > 0 {
		next := p.later[0]
		p.later = p.later[1:]
		next.elem = p.counted(next.typ.Elem())
	}
	return r
}

func (p *planner) plan(t reflect.Type) *plan {
	if made, ok := p.plans[t]; ok {
		if made.is == 0 {
			panic(fmt.Sprintf("plan state of %s: it holds itself other than by a pointer", t))
		}
		return made
	}
	q := &plan{typ: t, least: 1}
	p.plans[t] = q
	is := aStruct
	switch kind := t.Kind(); {
	case t == timeType:
		is, q.least = aTime, 2
	case t == jsonType:
		is = aJSON
	case kind == reflect.Bool:
		is = aBool
	case kind >= reflect.Int && kind <= reflect.Int64:
		is = anInt
	case kind >= reflect.Uint && kind <= reflect.Uint64:
		is = aUint
	case kind == reflect.String:
		is = aText
	case kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		is = someBytes
	case kind == reflect.Slice:
		is, q.elem = aSlice, p.counted(t.Elem())
	case kind == reflect.Array && t.Elem().Kind() == reflect.Uint8:
		is, q.least = fixedBytes, t.Len()
	case kind == reflect.Array:
		is, q.elem = anArray, p.plan(t.Elem())
		q.least = t.Len() * q.elem.least
	case kind == reflect.Map:
		is, q.key, q.elem = aMap, p.counted(t.Key()), p.counted(t.Elem())
		q.key.mustOrder()
	case kind == reflect.Pointer:
		is = aPointer
		p.later = append(p.later, q)
	case kind == reflect.Struct:
		p.structure(q)
	default:
		panic(fmt.Sprintf("plan state of %s: a %s cannot be saved", t, kind))
	}
	q.is = is
	p.lines = append(p.lines, q.describe())
	return q
}

// counted is the plan of what stands in any number, which must take room, so that the bytes there are
// bound how many there can be.
func (p *planner) counted(t reflect.Type) *plan {
	q := p.plan(t)
	if q.least == 0 {
		panic(fmt.Sprintf("plan state of %s: it is empty", t))
	}
	return q
}

// mustOrder panics where keys of the type have no order: an object's number depends on it.
func (q *plan) mustOrder() {
	if q.is == aPointer {
		panic(fmt.Sprintf("plan state of %s: it is no key", q.typ))
	}
	if q.is == anArray {
		q.elem.mustOrder()
	}
	for _, f := range q.fields {
		f.mustOrder()
	}
}

func (p *planner) structure(q *plan) {
	q.least = 0
	for i := range q.typ.NumField() {
		if f := q.typ.Field(i); f.Tag.Get(tag) != "-" {
			q.fields = append(q.fields, field{i, p.plan(f.Type)})
			q.least += q.fields[len(q.fields)-1].least
		}
	}
}

// describe is the type in a line: its name, what it is, the names and types of its saved fields.
func (q *plan) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.%s %s %d", q.typ.PkgPath(), q.typ, q.typ.Kind(), q.is)
	for _, f := range q.fields {
		own := q.typ.Field(f.index)
		fmt.Fprintf(&b, "; %s %s.%s", own.Name, own.Type.PkgPath(), own.Type)
	}
	return b.String()
}

// describe is all that the bytes of a state mean by: the encoding's own version, the form's name, the
// flags, whose places are the bits of a set, and the types.
func (p *planner) describe(name string) string {
	slices.Sort(p.lines)
	return fmt.Sprintf("1\n%q\n%q\n%s\n", name, schema.Flags, strings.Join(p.lines, "\n"))
}
