package state

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"time"

	"github.com/steno-io/steno/schema"
)

type loader struct {
	rest    []byte
	texts   []sharedText
	objects []object
	begun   int // objects read, or being read
	owed    int // bytes that the others take at least
	err     error
}

// sharedText is a text that may stand in several places, as a string and as JSON.
type sharedText struct {
	text string
	json schema.JSON
}

// all reads the root, which a pointer leads to, then every object that was named.
func (l *loader) all(root reflect.Value, p *plan) error {
	l.objects = append(l.objects, object{root, p})
	l.owed = p.least
	for ; l.begun < len(l.objects) && l.err == nil; l.begun++ {
		o := l.objects[l.begun]
		l.owed -= o.p.least
		l.load(o.v.Elem(), o.p)
	}
	return l.err
}

// fail notes the first thing that is wrong. What is read behind it is zero.
func (l *loader) fail(what string) {
	if l.err == nil {
		l.err = fmt.Errorf("%s: %w", what, ErrUnfit)
	}
}

func (l *loader) load(v reflect.Value, p *plan) {
	switch p.is {
	case aBool:
		switch l.uint() {
		case 0:
			v.SetBool(false)
		case 1:
			v.SetBool(true)
		default:
			l.fail("a bool is neither 0 nor 1")
		}
	case anInt:
		if n := l.int(); v.OverflowInt(n) {
			l.fail("a number is out of range")
		} else {
			v.SetInt(n)
		}
	case aUint:
		if n := l.uint(); v.OverflowUint(n) {
			l.fail("a number is out of range")
		} else {
			v.SetUint(n)
		}
	case aText:
		v.SetString(l.text(l.uint()).text)
	case aJSON:
		v.SetBytes(l.json())
	case aTime:
		l.time(v.Addr().Interface().(*time.Time))
	case someBytes:
		if n, ok := l.length(1); ok {
			v.SetBytes(append(make([]byte, 0, n), l.take(n)...))
		} else {
			v.SetZero()
		}
	case fixedBytes:
		if l.enough(p.least) {
			reflect.Copy(v, reflect.ValueOf(l.take(p.least)))
		}
	case aSlice:
		l.slice(v, p)
	case anArray:
		l.elements(v, p)
	case aMap:
		l.entries(v, p)
	case aPointer:
		l.pointer(v, p)
	case aStruct:
		for _, f := range p.fields {
			l.load(open(v.Field(f.index)), f.plan)
		}
	}
}

func (l *loader) uint() uint64 {
	n, size := binary.Uvarint(l.rest)
	if l.err != nil || size <= 0 {
		l.fail("a number is cut off")
		return 0
	}
	l.rest = l.rest[size:]
	return n
}

func (l *loader) int() int64 {
	n, size := binary.Varint(l.rest)
	if l.err != nil || size <= 0 {
		l.fail("a number is cut off")
		return 0
	}
	l.rest = l.rest[size:]
	return n
}

func (l *loader) enough(n int) bool {
	if l.err != nil || n > len(l.rest)-l.owed {
		l.fail("there are not enough bytes")
		return false
	}
	return true
}

// take takes n bytes, which are there.
func (l *loader) take(n int) []byte {
	data := l.rest[:n]
	l.rest = l.rest[n:]
	return data
}

// length reads the length of what has elements of that many bytes at least; ok is false for nil. There
// are never more than the bytes that are there can hold.
func (l *loader) length(least int) (n int, ok bool) {
	above := l.uint()
	if above == 0 {
		return 0, false
	}
	if above-1 > uint64(max(0, len(l.rest)-l.owed)/least) {
		l.fail("there are not enough bytes")
		return 0, false
	}
	return int(above - 1), true
}

// text reads a text behind its first number.
func (l *loader) text(n uint64) *sharedText {
	number := n / 2
	switch {
	case n%2 == 1:
		if number < uint64(len(l.texts)) {
			return &l.texts[number]
		}
		l.fail("a text is not there")
	case number > uint64(len(l.rest)):
		l.fail("a text is cut off")
	case number < shared:
		return &sharedText{text: string(l.take(int(number)))}
	default:
		l.texts = append(l.texts, sharedText{text: string(l.take(int(number)))})
		return &l.texts[len(l.texts)-1]
	}
	return &sharedText{}
}

// json reads JSON; like texts share their memory, which nobody changes.
func (l *loader) json() schema.JSON {
	above := l.uint()
	if above == 0 {
		return nil
	}
	t := l.text(above - 1)
	if t.json == nil {
		t.json = append(make(schema.JSON, 0, len(t.text)), t.text...)
	}
	return t.json
}

func (l *loader) time(t *time.Time) {
	seconds, nanoseconds := l.int(), l.uint()
	if nanoseconds >= uint64(time.Second) {
		l.fail("a time is out of range")
		return
	}
	*t = time.Unix(seconds, int64(nanoseconds)).UTC()
}

func (l *loader) slice(v reflect.Value, p *plan) {
	n, ok := l.length(p.elem.least)
	if !ok {
		v.SetZero()
		return
	}
	v.Set(reflect.MakeSlice(p.typ, n, n))
	l.elements(v, p)
}

func (l *loader) elements(v reflect.Value, p *plan) {
	for i := 0; i < v.Len() && l.err == nil; i++ {
		l.load(v.Index(i), p.elem)
	}
}

func (l *loader) entries(v reflect.Value, p *plan) {
	n, ok := l.length(p.key.least + p.elem.least)
	if !ok {
		v.SetZero()
		return
	}
	v.Set(reflect.MakeMapWithSize(p.typ, n))
	key, value := reflect.New(p.key.typ).Elem(), reflect.New(p.elem.typ).Elem()
	for ; n > 0 && l.err == nil; n-- {
		key.SetZero()
		value.SetZero()
		l.load(key, p.key)
		l.load(value, p.elem)
		if v.MapIndex(key).IsValid() {
			l.fail("a map has a key twice")
		}
		v.SetMapIndex(key, value)
	}
}

// pointer reads the number of an object. One that is named first is made now and read later.
func (l *loader) pointer(v reflect.Value, p *plan) {
	n := l.uint()
	switch {
	case n == 0:
		v.SetZero()
	case n <= uint64(len(l.objects)):
		if o := l.objects[n-1]; o.p == p.elem {
			v.Set(o.v)
			return
		}
		l.fail("a pointer leads to something else")
	case n > uint64(len(l.objects))+1:
		l.fail("a pointer leads nowhere")
	case l.enough(p.elem.least):
		o := object{reflect.New(p.elem.typ), p.elem}
		l.objects = append(l.objects, o)
		l.owed += p.elem.least
		v.Set(o.v)
	}
}
