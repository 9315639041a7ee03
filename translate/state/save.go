package state

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"slices"
	"time"
)

// shared is how long a text is at least that is written once, in bytes.
const shared = 4

// place tells objects apart: a struct and its first field lie at one address.
type place struct {
	at  uintptr
	typ reflect.Type
}

// object is what a pointer leads to.
type object struct {
	v reflect.Value
	p *plan
}

type saver struct {
	dst    []byte
	texts  map[string]uint64 // numbers of those written
	places map[place]uint64  // numbers of objects, from 1
	queue  []object
}

func newSaver(dst []byte) *saver {
	return &saver{dst: dst, texts: map[string]uint64{}, places: map[place]uint64{}}
}

// all writes the root, which a pointer leads to, then every object in the order in which pointers named
// them: never one inside another, so that a long chain needs no deep stack.
func (s *saver) all(root reflect.Value, p *plan) []byte {
	s.number(root, p)
	for n := 0; n < len(s.queue); n++ {
		s.save(s.queue[n].v, s.queue[n].p)
	}
	return s.dst
}

// number is the object's; one that is new is written later.
func (s *saver) number(pointer reflect.Value, p *plan) uint64 {
	at := place{pointer.Pointer(), p.typ}
	n, known := s.places[at]
	if !known {
		s.queue = append(s.queue, object{pointer.Elem(), p})
		n = uint64(len(s.queue))
		s.places[at] = n
	}
	return n
}

// save writes v, which is addressable and not read-only.
func (s *saver) save(v reflect.Value, p *plan) {
	switch p.is {
	case aBool:
		b := byte(0)
		if v.Bool() {
			b = 1
		}
		s.dst = append(s.dst, b)
	case anInt:
		s.dst = binary.AppendVarint(s.dst, v.Int())
	case aUint:
		s.uint(v.Uint())
	case aText:
		s.text(v.String(), 0)
	case aJSON:
		if v.IsNil() {
			s.uint(0)
		} else {
			s.text(string(v.Bytes()), 1)
		}
	case aTime:
		t := v.Addr().Interface().(*time.Time)
		s.dst = binary.AppendVarint(s.dst, t.Unix())
		s.uint(uint64(t.Nanosecond()))
	case someBytes:
		if s.length(v) {
			s.dst = append(s.dst, v.Bytes()...)
		}
	case fixedBytes:
		s.dst = append(s.dst, v.Bytes()...)
	case aSlice:
		if s.length(v) {
			s.elements(v, p)
		}
	case anArray:
		s.elements(v, p)
	case aMap:
		if s.length(v) {
			s.entries(v, p)
		}
	case aPointer:
		if v.IsNil() {
			s.uint(0)
		} else {
			s.uint(s.number(v, p.elem))
		}
	case aStruct:
		for _, f := range p.fields {
			s.save(open(v.Field(f.index)), f.plan)
		}
	}
}

// open gives a field as one that may be read and set, exported or not.
func open(f reflect.Value) reflect.Value {
	if f.CanSet() {
		return f
	}
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
}

func (s *saver) uint(n uint64) { s.dst = binary.AppendUvarint(s.dst, n) }

// length writes 0 for nil, which has nothing more, and else one more than the length.
func (s *saver) length(v reflect.Value) bool {
	if v.IsNil() {
		s.uint(0)
		return false
	}
	s.uint(uint64(v.Len()) + 1)
	return true
}

// text writes a text, or the number of the one before that is like it; above is added to what stands
// before it.
func (s *saver) text(text string, above uint64) {
	if len(text) >= shared && s.texts != nil {
		if n, known := s.texts[text]; known {
			s.uint(2*n + 1 + above)
			return
		}
		s.texts[text] = uint64(len(s.texts))
	}
	s.uint(2*uint64(len(text)) + above)
	s.dst = append(s.dst, text...)
}

func (s *saver) elements(v reflect.Value, p *plan) {
	for i := range v.Len() {
		s.save(v.Index(i), p.elem)
	}
}

// entries writes a map's entries in the order of what their keys alone would be written as.
func (s *saver) entries(v reflect.Value, p *plan) {
	n := v.Len()
	keys, values := reflect.MakeSlice(reflect.SliceOf(p.key.typ), n, n), reflect.MakeSlice(reflect.SliceOf(p.elem.typ), n, n)
	order := make([]entry, 0, n)
	alone := saver{} // shares no text
	for at := v.MapRange(); at.Next(); {
		e := entry{at: len(order), from: len(alone.dst)}
		keys.Index(e.at).SetIterKey(at)
		values.Index(e.at).SetIterValue(at)
		alone.save(keys.Index(e.at), p.key)
		e.to = len(alone.dst)
		order = append(order, e)
	}
	slices.SortFunc(order, func(a, b entry) int { return bytes.Compare(alone.dst[a.from:a.to], alone.dst[b.from:b.to]) })
	for _, e := range order {
		s.save(keys.Index(e.at), p.key)
		s.save(values.Index(e.at), p.elem)
	}
}

// entry is one of a map's: its place among the keys, and that of its key among their bytes.
type entry struct{ at, from, to int }
