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

// read gives a whole object of at most limit bytes.
func read(ctx context.Context, s Store, name string, limit int64) (data []byte, err error) {
	in, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	data, err = io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errLarge(name, limit)
	}
	return data, err
}

// errLarge says that an object has more bytes than what it is may have.
func errLarge(name string, limit int64) error {
	return fmt.Errorf("read %s: it is longer than %d bytes", name, limit)
}
