package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/steno-io/steno/ingest/files"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// importBatch is how many frames of a file are appended at a time.
const importBatch = 500

// errDiffers marks a file whose frames are not those that its capture holds.
var errDiffers = errors.New("the capture holds another frame there")

func (a *app) importCommand() *cobra.Command {
	var identity identityFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "import FILE…",
		Short: "Store, translate and number the frames of files",
		Long: `import stores the frames of each file as a capture of its own, and returns when
they are committed and numbered. FILE is a steno capture file, plain JSON-RPC
lines (a leading > or < says who sent a line), or an acp-devtools export.

Importing a file again under the same identity resumes: frames that are there
are compared by their bytes, missing ones are added, a different one is refused.`,
		Example: `  steno import recording.json
  steno import --workflow nightly --run 2026-11-29 session.jsonl`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.importFiles(cmd.Context(), args, &identity, asJSON)
		},
	}
	identity.register(cmd, importWorkflow, "UUIDv5 of the file's SHA-256")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a file")
	return cmd
}

// imported is what import says of a file.
type imported struct {
	File    string `json:"file"`
	Capture string `json:"capture"`
	Frames  uint64 `json:"frames"` // of the file, open and close included
	Added   uint64 `json:"added"`  // that were not there before
}

func (a *app) importFiles(ctx context.Context, paths []string, flags *identityFlags, asJSON bool) (err error) {
	if len(paths) > 1 && flags.run != "" {
		return usage("import %d files with one --run: each file is a capture of its own", len(paths))
	}
	target, ctx, done, err := a.importTarget(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	for _, path := range paths {
		result, err := target.file(ctx, a, path, flags)
		if result.Frames > 0 {
			a.sayImported(result, asJSON)
		}
		if err != nil {
			return why(ctx, err)
		}
	}
	return nil
}

func (a *app) sayImported(r imported, asJSON bool) {
	if asJSON {
		line, err := json.Marshal(r)
		if err == nil {
			fmt.Fprintf(a.out, "%s\n", line)
		}
		return
	}
	fmt.Fprintf(a.out, "%s: %d frames, %d added → %s\n", r.File, r.Frames, r.Added, r.Capture)
}

// target is where frames are imported to.
type target struct {
	options publish.AppenderOptions
	// settled waits until a capture's frames are committed and, where this directory's ledger takes
	// them, numbered.
	settled func(ctx context.Context, id schema.Identity, frame uint64) error
}

func (a *app) importTarget(ctx context.Context) (*target, context.Context, func() error, error) {
	if a.remote() {
		return a.remoteTarget(ctx)
	}
	s, ctx, err := a.open(ctx, "import")
	if err != nil {
		return nil, ctx, nil, err
	}
	t, err := a.localTarget(ctx, s)
	if err != nil {
		return nil, ctx, nil, errors.Join(err, s.close())
	}
	return t, ctx, s.close, nil
}

// localTarget is the data directory.
func (a *app) localTarget(ctx context.Context, s *session) (*target, error) {
	var blobs *topology.Blobs
	err := s.patient(ctx, func() (err error) {
		blobs, err = topology.OpenBlobs(ctx, s.js)
		return err
	})
	if err != nil {
		return nil, err
	}
	interval, err := a.syncInterval()
	if err != nil {
		return nil, err
	}
	return &target{
		options: publish.AppenderOptions{JS: s.js, Blobs: blobs, Partitions: s.info.Partitions, BatchFrom: publish.BatchFrom(s.info.Replicas, interval == 0)},
		settled: s.client.Settle,
	}, nil
}

func (a *app) remoteTarget(ctx context.Context) (*target, context.Context, func() error, error) {
	conn, err := dial(a.destination())
	if err != nil {
		return nil, ctx, nil, err
	}
	done := func() error { conn.Close(); return nil }
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, ctx, nil, errors.Join(err, done())
	}
	info, err := topology.Check(ctx, js)
	if err != nil {
		return nil, ctx, nil, errors.Join(err, done())
	}
	blobs, err := topology.OpenBlobs(ctx, js)
	if err != nil {
		return nil, ctx, nil, errors.Join(err, done())
	}
	t := &target{options: publish.AppenderOptions{JS: js, Blobs: blobs, Partitions: info.Partitions, BatchFrom: publish.BatchFrom(info.Replicas, true)}}
	t.settled = func(ctx context.Context, id schema.Identity, frame uint64) error {
		return committed(ctx, js, id, info.Partitions, frame)
	}
	return t, ctx, done, nil
}

// committed waits until a record covers the frame; the last frame of a whole file is a close frame,
// which always gives an event.
func committed(ctx context.Context, js jetstream.JetStream, id schema.Identity, partitions uint32, frame uint64) error {
	for {
		m, ok, err := topology.Last(ctx, js, topology.Events, schema.EventSubject(id, partitions))
		if err == nil && ok {
			record, err := schema.RecordFromHeader(m.Header)
			if err != nil {
				return fmt.Errorf("wait for the record of frame %d of %s: %w", frame, id, err)
			}
			if record.Last.Frame >= frame {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// file imports one file. What was read before an error is stored, committed and numbered.
func (t *target) file(ctx context.Context, a *app, path string, flags *identityFlags) (imported, error) {
	file, err := files.Open(path)
	if err != nil {
		return imported{}, err
	}
	id, err := flags.identity(importWorkflow, file.Run())
	if err != nil {
		return imported{}, err
	}
	result := imported{File: path, Capture: id.String()}
	i := &importer{path: path, id: id, progress: a.progress(), limit: importBatch}
	i.next, i.stop = iter.Pull2(file.Frames())
	defer i.stop()
	err = i.run(ctx, t.options)
	i.progress.done()
	result.Frames, result.Added = i.read, i.added
	if i.head > 0 && ctx.Err() == nil {
		err = errors.Join(err, t.settled(ctx, id, i.head))
	}
	return result, err
}

// importer appends a file's frames, after comparing those that its capture has already.
type importer struct {
	path     string
	id       schema.Identity
	next     func() (schema.Frame, error, bool)
	stop     func()
	progress *progress
	limit    int                                              // frames of one append
	pace     func(ctx context.Context, f *schema.Frame) error // waits until a frame is due; nil: it is at once

	read  uint64 // frames of the file so far
	added uint64
	head  uint64 // number of the capture's last frame
}

func (i *importer) run(ctx context.Context, o publish.AppenderOptions) error {
	o.Identity = i.id
	o.Journal = "import-" + i.id.UUID("import").String() // the same for the same identity, so that it resumes
	o.Exclusive = true
	resuming := true
	o.Stored = func(stored schema.Frame) error {
		if !resuming {
			return nil // an append's own, after a lost answer
		}
		return i.compare(stored)
	}
	appender, err := publish.NewAppender(o)
	if err != nil {
		return err
	}
	head, err := appender.Resume(ctx)
	i.head = head.Frames
	if err != nil {
		return err
	}
	resuming = false
	for {
		batch, fileErr := i.batch(ctx, o.Journal)
		if len(batch) > 0 {
			if err := appender.Append(ctx, batch); err != nil {
				if errors.Is(err, publish.ErrTaken) {
					return fmt.Errorf("import %s: %w: choose another --run or --attempt", i.path, err)
				}
				return fmt.Errorf("import %s: %w", i.path, err)
			}
			i.added += uint64(len(batch))
			i.head = appender.Head().Frames
			i.progress.say("imported %d frames of %s", i.read, i.path)
		}
		if fileErr != nil {
			return fileErr
		}
		if len(batch) == 0 {
			return nil
		}
	}
}

// batch reads the next frames; the error is the file's, behind them.
func (i *importer) batch(ctx context.Context, journal string) (frames []schema.Frame, err error) {
	for len(frames) < i.limit {
		f, err, ok := i.next()
		if err != nil || !ok {
			return frames, err
		}
		if i.pace != nil {
			if err := i.pace(ctx, &f); err != nil {
				return frames, err
			}
		}
		i.read++
		f.Writer = schema.Writer{Journal: journal, Offset: i.read}
		frames = append(frames, f)
	}
	return frames, nil
}

// compare holds a stored frame against the file's next.
func (i *importer) compare(stored schema.Frame) error {
	f, err, ok := i.next()
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("import %s: the file ends with frame %d, and %s goes on: %w", i.path, i.read, i.id, errDiffers)
	}
	i.read++
	if stored.From != f.From || stored.Type != f.Type || stored.End != f.End || !bytes.Equal(stored.Data, f.Data) {
		return fmt.Errorf("import %s: frame %d is not frame %d of %s: %w", i.path, i.read, stored.Seq, i.id, errDiffers)
	}
	return nil
}
