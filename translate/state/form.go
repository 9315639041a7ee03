// Package state saves what a fold knows between two frames as bytes, and restores it.
//
// A fold is a graph of plain values: structs that point to each other, maps, texts. Its types are its
// description; nothing lists fields a second time, so none can be forgotten. A field that belongs to one
// frame, or that a fresh fold has, is tagged `state:"-"` and left out.
//
//	state   = form value { value }         the root, then each object that a pointer names, by its number
//	form    = 16 bytes                     SHA-256 of the types, cut; another build's state is refused by it
//	number  = varint                       also a bool, 0 or 1
//	time    = seconds nanoseconds          UTC
//	text    = 2·length bytes | 2·number+1  a text of four bytes or more that stands here already is not written again
//	JSON    = 0 | 1+text                   0: nil
//	bytes   = 0 | 1+length bytes           0: nil
//	slice   = 0 | 1+length { value }       0: nil
//	map     = 0 | 1+length { key value }   0: nil; in order of the keys as written without sharing
//	pointer = 0 | number                   0: nil; 1: the root; the next number is a new object
//	struct  = { value }                    fields in order
//
// Equal folds give equal bytes. What is restored holds its texts in memory of its own.
package state

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
)

// ErrUnfit marks bytes that are no state of the form asked for: damaged, or written by a build whose
// form differs.
var ErrUnfit = errors.New("the state is damaged or of another form")

// Form is how a T is saved.
type Form[T any] struct {
	name  string
	root  *plan
	print [16]byte // stands before each state
}

// NewForm makes the form of T. name stands for what its types do not say: another one makes another
// form. It panics where T cannot be saved: it holds an interface, a function, a channel, a float, or,
// other than by pointers, itself. Pointers must not lead into the middle of another value.
func NewForm[T any](name string) *Form[T] {
	p := planner{plans: map[reflect.Type]*plan{}}
	f := &Form[T]{name: name, root: p.all(reflect.TypeFor[T]())}
	sum := sha256.Sum256([]byte(p.describe(name)))
	f.print = [16]byte(sum[:])
	return f
}

// Append appends the state of v.
func (f *Form[T]) Append(dst []byte, v *T) []byte {
	return newSaver(append(dst, f.print[:]...)).all(reflect.ValueOf(v), f.root)
}

// Load restores into v, whose untagged fields it replaces, the state that data is. An error wraps
// ErrUnfit, and v is then of no use. What it allocates is bounded by a small multiple of len(data).
func (f *Form[T]) Load(v *T, data []byte) error {
	rest, err := f.Cut(v, data)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("restore state of %s: %d bytes too many: %w", f.name, len(rest), ErrUnfit)
	}
	return err
}

// Cut is Load of a state that data begins with; it gives what follows.
func (f *Form[T]) Cut(v *T, data []byte) (rest []byte, err error) {
	if len(data) < len(f.print) || [16]byte(data) != f.print {
		return nil, fmt.Errorf("restore state of %s: it does not begin with this form: %w", f.name, ErrUnfit)
	}
	l := loader{rest: data[len(f.print):]}
	if err := l.all(reflect.ValueOf(v), f.root); err != nil {
		return nil, fmt.Errorf("restore state of %s: %d bytes before its end: %w", f.name, len(l.rest), err)
	}
	return l.rest, nil
}
