package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Store is where an archive's objects are: a directory or a bucket. Names are those of this package, with
// slashes. It is safe for concurrent use, also by several processes.
type Store interface {
	// Put writes an object, whole or not at all, if there is none of that name: else ErrExists, or nil where
	// it holds the same bytes and nobody can tell who put them. It is durable when Put returns. After any
	// other error it may be there or not, and putting it again is right.
	Put(ctx context.Context, name string, data []byte) error
	// Replace puts an object in the place of the one that holds old; nil: of none. ErrChanged: it holds
	// something else. Otherwise as Put.
	Replace(ctx context.Context, name string, old, data []byte) error
	// Open reads an object; ErrNotFound if there is none.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// List gives the objects whose names begin with prefix, those of a folder in the order of their names.
	List(ctx context.Context, prefix string) iter.Seq2[Listed, error]
	// String names the store, for people.
	String() string
}

// Listed is an object of a list.
type Listed struct {
	Name  string
	Bytes int64
}

// Errors of a Store.
var (
	// ErrExists: there is an object of that name.
	ErrExists = errors.New("object exists")
	// ErrChanged: the object does not hold what was expected.
	ErrChanged = errors.New("object was changed")
	// ErrNotFound: there is no object of that name.
	ErrNotFound = errors.New("no such object")
)

// storeError is what a store failed with, which says nothing of what it holds.
type storeError struct{ cause error }

// Error implements error.
func (e *storeError) Error() string { return e.cause.Error() }

// Unwrap gives the cause.
func (e *storeError) Unwrap() error { return e.cause }

// storeFailed reports whether it is the store that failed: no object is then found wanting.
func storeFailed(err error) bool {
	var e *storeError
	return errors.As(err, &e)
}

// read gives a whole object of at most limit bytes. What the store fails with, but for ErrNotFound, can be
// told by storeFailed.
func read(ctx context.Context, s Store, name string, limit int64) ([]byte, error) {
	in, err := s.Open(ctx, name)
	if errors.Is(err, ErrNotFound) {
		return nil, err
	}
	if err != nil {
		return nil, &storeError{err}
	}
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, &storeError{err}
	}
	if int64(len(data)) > limit {
		return nil, errLarge(name, limit)
	}
	return data, nil
}

// errLarge says that an object has more bytes than what it is may have.
func errLarge(name string, limit int64) error {
	return fmt.Errorf("read %s: it is longer than %d bytes", name, limit)
}
