package s3

import (
	"context"
	"errors"
	"fmt"

	"github.com/steno-io/steno/sink/archive"
)

// nobody is an ETag that no object has.
const nobody = "00000000000000000000000000000000"

// fit finds out whether the server keeps to the conditions of writes, and the bucket locks. It writes the
// archive's mark, which always holds the same bytes: a server that writes it where it should not changes
// nothing by that.
func (s *Store) fit(ctx context.Context) error {
	if s.lock != (Lock{}) {
		if err := s.lockable(ctx); err != nil {
			return err
		}
	}
	mark := func(tag string, refused error) error { // what the server says counts, not what is there
		_, err := s.send(ctx, archive.MarkName, []byte(archive.Mark), Lock{}, tag, refused)
		return err
	}
	err := mark("", archive.ErrExists)
	if err == nil { // it was not there; now it is
		err = mark("", archive.ErrExists)
	}
	switch {
	case err == nil:
		return fmt.Errorf("%w: it writes over objects in spite of If-None-Match", ErrUnfit)
	case !errors.Is(err, archive.ErrExists):
		return err
	}
	switch err = mark(nobody, archive.ErrChanged); {
	case err == nil:
		return fmt.Errorf("%w: it writes over objects in spite of If-Match", ErrUnfit)
	case !errors.Is(err, archive.ErrChanged):
		return err
	}
	return nil
}
