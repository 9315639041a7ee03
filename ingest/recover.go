package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
)

// Recover publishes what captures have left in the site's directory whose programs are gone and that go to
// the site's destination, the oldest first, and returns when all of it is stored; then it deletes the
// journals that were stored to their end long ago. A capture that was not closed gets its last frame, which
// says that its writer died. What fails for good is an error; the others are published all the same. Of
// several processes that recover the same capture one does it, and the others wait.
func (s Site) Recover(ctx context.Context) error {
	if err := s.check(); err != nil {
		return fmt.Errorf("recover captures: %w", err)
	}
	if s.Conn == nil {
		return fmt.Errorf("recover captures: %w: their site has no connection", ErrUnpublished)
	}
	infos, err := journal.List(s.Dir)
	if err != nil {
		return fmt.Errorf("recover captures: %w", err)
	}
	var failures []error
	for _, info := range infos {
		if info.Err == nil && (info.Alive || info.Head.Destination != s.Destination || info.Head.Open.Protocol != schema.ACP) {
			continue
		}
		err := info.Err
		if err == nil {
			err = s.recover(ctx, info)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("recover capture %s from %s: %w", info.Head.Identity, info.Path, err))
		}
		if ctx.Err() != nil {
			return errors.Join(failures...)
		}
	}
	if _, err := journal.Sweep(s.Dir, time.Now()); err != nil {
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

func (s Site) recover(ctx context.Context, info journal.Info) error {
	mark, err := journal.ReadMark(s.Dir, info.ID)
	if err == nil && mark.Done {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = s.publish(ctx, info.Path, info.Head, func(*publish.Publisher) {})
	if journal.Gone(info.Path, err) {
		return nil // another process has published it, and it was deleted for want of room
	}
	return err
}
