package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema/topology"
)

// retryAfter is the wait before publishing is tried again.
const retryAfter = time.Second

// publish publishes a journal to its end, however often it takes. using is told of each publisher that is
// about to run.
func (s Site) publish(ctx context.Context, path string, head journal.Head, using func(*publish.Publisher)) error {
	for {
		err := s.once(ctx, path, head, using)
		if err == nil || publish.Hopeless(err) || journal.Gone(path, err) {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		s.retry(err)
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
}

func (s Site) once(ctx context.Context, path string, head journal.Head, using func(*publish.Publisher)) (err error) {
	release, err := journal.Claim(s.Dir, head.ID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	js, err := jetstream.New(s.Conn)
	if err != nil {
		return fmt.Errorf("open JetStream: %w", err)
	}
	info, err := topology.Check(ctx, js)
	if err != nil {
		return err
	}
	blobs, err := topology.OpenBlobs(ctx, js)
	if err != nil {
		return err
	}
	reader, err := journal.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	if s.Report != nil {
		reader.Report(s.Report)
	}
	mark, err := journal.ReadMark(s.Dir, head.ID)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	p := publish.NewPublisher(publish.Options{
		Source: reader, JS: js, Blobs: blobs, Partitions: info.Partitions, Mark: mark, Retry: s.Retry,
		BatchFrom: publish.BatchFrom(info.Replicas, true), // whether the server syncs every write is not known
		SaveMark:  func(m journal.Mark) error { return journal.WriteMark(s.Dir, head.ID, m) },
	})
	using(p)
	return p.Run(ctx)
}
