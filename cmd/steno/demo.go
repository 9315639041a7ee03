package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/ingest/files"
	"github.com/steno-io/steno/schema"
)

// demoRecordings are real sessions; their licence lies beside them.
//
//go:embed recordings/zed-1.5.4-claude-code-0.43.0.json recordings/goose-1.37.0.json
var demoRecordings embed.FS

// demoTranscripts are the recordings in the order of the demo, each with the session to watch.
var demoTranscripts = []struct {
	file    string
	session uint32
}{
	{"recordings/zed-1.5.4-claude-code-0.43.0.json", 1},
	{"recordings/goose-1.37.0.json", 1},
}

// demoIdle is the longest pause of the demo.
const demoIdle = 400 * time.Millisecond

// demoMark is the file that marks a directory as the demo's own, which it may empty.
const demoMark = "steno-demo"

func (a *app) demoCommand() *cobra.Command {
	var keep bool
	var speed float64
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run the whole pipeline on bundled recordings, then verify it",
		Long: `demo plays two bundled recordings of real agents through the whole pipeline
(embedded NATS, translator, sink, ledger), prints each transcript as it grows, and
then folds the stored frames again and compares.

It works in a data directory of its own beside the usual one, made anew each time,
unless --data names another, which is kept.`,
		Example: `  steno demo
  steno demo --speed 0                as fast as it goes
  steno demo --data ./d --keep        leave the pipeline running`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("data") && os.Getenv("STENO_DATA") == "" {
				a.data += "-demo"
				if err := emptyDemo(a.data); err != nil {
					return err
				}
			}
			return a.demo(cmd.Context(), speed, keep)
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the pipeline running until stopped")
	cmd.Flags().Float64Var(&speed, "speed", 20, "how many times faster than it was recorded (0: as fast as it goes)")
	return cmd
}

// emptyDemo makes the demo's directory anew. It touches none that it did not make.
func emptyDemo(dir string) error {
	_, err := os.Stat(filepath.Join(dir, demoMark))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(dir); err == nil {
			return fmt.Errorf("make demo directory: %s is there and is not the demo's; name another with --data", dir)
		}
	} else if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("empty demo directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make demo directory: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, demoMark), nil, 0o600); err != nil {
		return fmt.Errorf("make demo directory: %w", err)
	}
	return nil
}

func (a *app) demo(ctx context.Context, speed float64, keep bool) (err error) {
	s, ctx, err := a.open(ctx, "demo")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(why(ctx, err), s.close()) }()
	fmt.Fprintf(a.err, "demo data in %s\n", a.data)
	for _, transcript := range demoTranscripts {
		if err := a.play(ctx, s, transcript.file, transcript.session, speed); err != nil {
			return err
		}
	}
	report, err := a.prove(ctx, s)
	if err != nil {
		return err
	}
	if err := a.sayReport(report, false); err != nil || !keep {
		return err
	}
	fmt.Fprintln(a.err, "the pipeline goes on until stopped (Ctrl-C)")
	<-ctx.Done()
	return nil
}

// play imports a bundled recording as it was paced, and shows one of its sessions while it grows.
func (a *app) play(ctx context.Context, s *session, name string, session uint32, speed float64) (err error) {
	path, remove, err := unpack(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	file, err := files.Open(path)
	if err != nil {
		return err
	}
	id := schema.Identity{Namespace: "default", Workflow: "demo", Run: file.Run(), Attempt: 1}
	target, err := a.localTarget(ctx, s)
	if err != nil {
		return err
	}
	i := &importer{
		file: file, path: name, id: id, progress: &progress{}, slow: &waiting{out: a.err}, limit: 1, pace: paceFrames(speed, demoIdle),
	}
	if speed <= 0 {
		i.limit, i.pace = importBatch, nil
	}

	key := schema.Transcript{Identity: id, Session: session}
	follower, err := follow.New(follow.Options{Conn: s.client.Conn, Reader: s.ledger, Partitions: s.info.Partitions, Transcript: key})
	if err != nil {
		return err
	}
	r := a.renderer(viewFlags{})
	if err := r.Notice(fmt.Sprintf("%s, as it was recorded", filepath.Base(name))); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return errors.Join(follower.Run(ctx, renderItem(r, true)), r.Close()) })
	g.Go(func() error {
		if err := i.run(ctx, target.options); err != nil {
			return err
		}
		return target.settled(ctx, id, i.head, true)
	})
	return g.Wait()
}

// unpack writes a bundled file where it can be opened.
func unpack(name string) (path string, remove func() error, err error) {
	data, err := demoRecordings.ReadFile(name)
	if err != nil {
		return "", nil, fmt.Errorf("read bundled recording: %w", err)
	}
	dir, err := os.MkdirTemp("", "steno-demo-")
	if err != nil {
		return "", nil, fmt.Errorf("unpack bundled recording: %w", err)
	}
	remove = func() error { return os.RemoveAll(dir) }
	path = filepath.Join(dir, filepath.Base(name))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", nil, errors.Join(fmt.Errorf("unpack bundled recording: %w", err), remove())
	}
	return path, remove, nil
}
