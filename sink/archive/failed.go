package archive

import (
	"context"
	"errors"
	"io"
	"iter"
)

// StoreFailed reports whether an error is that a store did not do what it was asked: it cannot be reached, or
// refuses, or its disk fails. It says nothing of what the store holds.
func StoreFailed(err error) bool { return storeFailed(err) }

// Telling gives a store of whose errors StoreFailed is true, all but those that Store names.
func Telling(s Store) Store {
	if t, ok := s.(telling); ok {
		return t
	}
	return telling{s}
}

type telling struct{ Store }

func tell(err error) error {
	if err == nil || errors.Is(err, ErrExists) || errors.Is(err, ErrChanged) || errors.Is(err, ErrNotFound) {
		return err
	}
	return &storeError{err}
}

// Put implements Store.
func (t telling) Put(ctx context.Context, name string, data []byte) error {
	return tell(t.Store.Put(ctx, name, data))
}

// Replace implements Store.
func (t telling) Replace(ctx context.Context, name string, old, data []byte) error {
	return tell(t.Store.Replace(ctx, name, old, data))
}

// Open implements Store.
func (t telling) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	in, err := t.Store.Open(ctx, name)
	return in, tell(err)
}

// List implements Store.
func (t telling) List(ctx context.Context, prefix string) iter.Seq2[Listed, error] {
	return func(yield func(Listed, error) bool) {
		for o, err := range t.Store.List(ctx, prefix) {
			if !yield(o, tell(err)) {
				return
			}
		}
	}
}
