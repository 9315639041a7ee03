package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/steno-io/steno/sink/archive"
)

// Put implements archive.Store. An answer that was lost on the way is looked for in the bucket: what is
// there with the same bytes is then taken for what was put.
func (s *Store) Put(ctx context.Context, name string, data []byte) error {
	return s.named(name, s.write(ctx, name, data, s.lock, "", archive.ErrExists))
}

// Replace implements archive.Store. Between the look at the old object and the write its ETag tells whether
// it is still the same one. What can be replaced is under no lock.
func (s *Store) Replace(ctx context.Context, name string, old, data []byte) error {
	return s.named(name, s.replace(ctx, name, old, data))
}

func (s *Store) replace(ctx context.Context, name string, old, data []byte) error {
	if old == nil {
		return s.write(ctx, name, data, Lock{}, "", archive.ErrChanged)
	}
	have, tag, err := s.whole(ctx, name, len(old))
	switch {
	case errors.Is(err, archive.ErrNotFound):
		return archive.ErrChanged
	case err != nil:
		return err
	case !bytes.Equal(have, old):
		return archive.ErrChanged
	case tag == "":
		return fmt.Errorf("%w: an object has no ETag", ErrUnfit)
	}
	return s.write(ctx, name, data, Lock{}, tag, archive.ErrChanged)
}

func (s *Store) named(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write %s into archive %s: %w", name, s, err)
}

// Writes of one name at the same time, which some servers refuse without a decision, are tried again.
const (
	conflicts = 6
	breath    = 50 * time.Millisecond // the first pause between them; each is twice the one before
)

// write writes an object in the place of the one with that ETag; empty: of none. refused: it is not so.
func (s *Store) write(ctx context.Context, name string, data []byte, lock Lock, tag string, refused error) error {
	lost, err := s.send(ctx, name, data, lock, tag, refused)
	if err == nil || !lost || ctx.Err() != nil {
		return err
	}
	return s.settle(ctx, name, data, tag, refused, err)
}

// send is write by the server's last answer alone; lost: there were some before that did not come.
func (s *Store) send(ctx context.Context, name string, data []byte, lock Lock, tag string, refused error) (bool, error) {
	o := lock.options()
	if tag == "" {
		o.SetMatchETagExcept("*") // If-None-Match
	} else {
		o.SetMatchETag(tag) // If-Match
	}
	watched, lost := watch(ctx)
	for n := 0; ; n++ {
		_, err := s.client.Client.PutObject(watched, s.at.bucket, s.at.prefix+name, bytes.NewReader(data), int64(len(data)), o)
		if err == nil {
			return lost.Load(), nil
		}
		answer := minio.ToErrorResponse(err)
		switch {
		case answer.StatusCode == http.StatusPreconditionFailed, answer.Code == minio.NoSuchKey:
			return lost.Load(), refused
		case answer.StatusCode != http.StatusConflict || n == conflicts:
			return lost.Load(), s.failed(err)
		}
		if err := pause(ctx, breath<<n); err != nil {
			return lost.Load(), err
		}
	}
}

// settle looks what became of a write of which an answer was lost: one that said that it is done, or one
// of a server that refuses a body without reading it, and resets the connection by that. otherwise is the
// last answer, which stands if the object is as it was.
func (s *Store) settle(ctx context.Context, name string, data []byte, tag string, refused, otherwise error) error {
	have, now, err := s.whole(ctx, name, len(data))
	switch {
	case errors.Is(err, archive.ErrNotFound) && tag == "":
		return otherwise
	case errors.Is(err, archive.ErrNotFound):
		return refused
	case err != nil:
		return errors.Join(otherwise, err)
	case bytes.Equal(have, data):
		return nil
	case now == tag:
		return otherwise
	}
	return refused
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
