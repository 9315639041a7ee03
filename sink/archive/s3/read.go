package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/steno-io/steno/sink/archive"
)

// Open implements archive.Store. A connection that breaks while the object is read is made anew, and
// reading goes on where it was.
func (s *Store) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	o, err := s.open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("open %s in archive %s: %w", name, s, err)
	}
	return o, nil
}

func (s *Store) open(ctx context.Context, name string) (*object, error) {
	body, info, _, err := s.client.GetObject(ctx, s.at.bucket, s.at.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, s.failed(err)
	}
	if info.Size < 0 {
		return nil, errors.Join(fmt.Errorf("%w: it does not say how long an object is", ErrUnfit), body.Close())
	}
	return &object{ctx: ctx, store: s, name: name, body: body, tag: info.ETag, size: info.Size}, nil
}

// whole reads an object of at most limit bytes, and its ETag. Of a longer one it gives one byte more.
func (s *Store) whole(ctx context.Context, name string, limit int) ([]byte, string, error) {
	o, err := s.open(ctx, name)
	if err != nil {
		return nil, "", err
	}
	data, err := io.ReadAll(io.LimitReader(o, int64(limit)+1))
	return data, o.tag, errors.Join(err, o.Close())
}

// breaks is how often a connection may break without a byte in between.
const breaks = 4

// object is an object that is being read.
type object struct {
	ctx    context.Context // of the call that opened it
	store  *Store
	name   string
	body   io.ReadCloser
	tag    string
	at     int64
	size   int64
	broken int // since the last byte
}

// Read implements io.Reader.
func (o *object) Read(p []byte) (int, error) {
	for {
		n, err := o.body.Read(p)
		o.at += int64(n)
		switch {
		case o.at >= o.size && err != nil:
			return n, io.EOF
		case n > 0: // an error comes again
			o.broken = 0
			return n, nil
		case err == nil:
			return 0, nil
		}
		if err := o.resume(err); err != nil {
			return 0, fmt.Errorf("read %s in archive %s at byte %d: %w", o.name, o.store, o.at, err)
		}
	}
}

// resume opens the object anew where the connection broke.
func (o *object) resume(cause error) error {
	if err := o.ctx.Err(); err != nil {
		return err
	}
	if o.broken++; o.broken > breaks {
		return o.store.failed(cause)
	}
	options := minio.GetObjectOptions{}
	if o.at > 0 {
		if err := options.SetRange(o.at, 0); err != nil {
			return err
		}
	}
	if err := options.SetMatchETag(o.tag); err != nil {
		return err
	}
	body, info, _, err := o.store.client.GetObject(o.ctx, o.store.at.bucket, o.store.at.prefix+o.name, options)
	if err != nil {
		return o.store.failed(err)
	}
	if info.Size != o.size-o.at {
		return errors.Join(fmt.Errorf("it has %d more bytes, not %d", info.Size, o.size-o.at), body.Close())
	}
	err = o.body.Close()
	o.body = body
	return err
}

// Close implements io.Closer.
func (o *object) Close() error { return o.body.Close() }

// List implements archive.Store.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[archive.Listed, error] {
	return func(yield func(archive.Listed, error) bool) {
		pages, stop := context.WithCancel(ctx)
		defer stop()
		for o := range s.client.ListObjectsIter(pages, s.at.bucket, minio.ListObjectsOptions{Prefix: s.at.prefix + prefix, Recursive: true}) {
			if o.Err != nil {
				yield(archive.Listed{}, fmt.Errorf("list archive %s: %w", s, s.failed(o.Err)))
				return
			}
			name := strings.TrimPrefix(o.Key, s.at.prefix)
			if name == "" {
				continue // consoles make an empty object for a prefix
			}
			if !yield(archive.Listed{Name: name, Bytes: o.Size}, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil { // the library then just ends
			yield(archive.Listed{}, fmt.Errorf("list archive %s: %w", s, err))
		}
	}
}
