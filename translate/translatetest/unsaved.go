package translatetest

import (
	"reflect"
	"slices"
)

// Unsaved lists the fields that T and all types that its saved fields lead to leave out of their states,
// each as the type's name and its own, in order. A protocol's test holds the list: what is on it must
// belong to one frame, or be in a fresh fold.
func Unsaved[T any]() []string {
	u := unsaved{seen: map[reflect.Type]bool{}}
	u.walk(reflect.TypeFor[T]())
	slices.Sort(u.fields)
	return u.fields
}

type unsaved struct {
	seen   map[reflect.Type]bool
	fields []string
}

func (u *unsaved) walk(t reflect.Type) {
	if u.seen[t] {
		return
	}
	u.seen[t] = true
	switch t.Kind() {
	case reflect.Map:
		u.walk(t.Key())
		u.walk(t.Elem())
	case reflect.Slice, reflect.Array, reflect.Pointer:
		u.walk(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("state") == "-" {
				u.fields = append(u.fields, t.Name()+"."+f.Name)
			} else {
				u.walk(f.Type)
			}
		}
	}
}
