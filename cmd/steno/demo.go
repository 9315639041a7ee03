package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/ingest/files"
	"github.com/steno-io/steno/schema"
)

// demoRecordings are real sessions; where they are from lies beside them.
//
//go:embed recordings/zed-1.5.4-claude-code-0.43.0.json recordings/goose-1.37.0.json recordings/a2a-go-2.4.0.jsonl
var demoRecordings embed.FS

// demoTranscripts are the recordings in the order of the demo, each with the session to watch.
var demoTranscripts = []struct {
	file    string
	session uint32
}{
	{"recordings/zed-1.5.4-claude-code-0.43.0.json", 1},
	{"recordings/goose-1.37.0.json", 1},
	{"recordings/a2a-go-2.4.0.jsonl", 0},
}

// demoIdle is the longest pause of the demo.
const demoIdle = 400 * time.Millisecond

func (a *app) demoCommand() *cobra.Command {
	var keep bool
	var speed float64
	var f consoleFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run the whole pipeline on bundled recordings, then verify it",
		Long: `demo plays bundled recordings, two of ACP agents and one of an A2A peer, through
the whole pipeline (embedded NATS, translator, sink, ledger), prints each transcript
as it grows, and then folds the stored frames again and compares.

It works in a data directory of its own beside the usual one, a new one each time
(it removes those of earlier demos that nobody uses), unless --data on the command
line names another, which is kept. --keep leaves the pipeline running, with the
console over HTTP (steno console --help says what that is).`,
		Example: `  steno demo
  steno demo --speed 0                as fast as it goes
  steno demo --data ./d --keep        leave the pipeline running`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runDemo(cmd.Context(), speed, keep, &f) },
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the pipeline and the console running until stopped")
	f.register(cmd, "host:port of the console, with --keep; port 0: any free one; off: no console")
	cmd.Flags().Float64Var(&speed, "speed", 20, "how many times faster than it was recorded (0: as fast as it goes)")
	return cmd
}

// runDemo runs the demo in a directory of its own, or in the one that the command line names.
func (a *app) runDemo(ctx context.Context, speed float64, keep bool, f *consoleFlags) (err error) {
	if !(speed >= 0) {
		return a.badValue(fmt.Errorf("--speed %v: want 0 or more", speed), "speed")
	}
	var l net.Listener
	if keep {
		if l, err = a.listenConsole("demo", f); err != nil {
			return err
		}
	}
	if l != nil {
		defer l.Close() //nolint:errcheck // who serves on it closes it, and tells
	}
	if a.from["data"] != commandLine {
		dir, release, dirErr := demoDir(a.data+"-demo", time.Now())
		if dirErr != nil {
			return dirErr
		}
		a.data = dir
		defer func() { err = errors.Join(err, release()) }()
	}
	return a.demo(ctx, speed, keep, l, f)
}

// demo plays and proves. With keep it goes on, and serves the console where there is a listener.
func (a *app) demo(ctx context.Context, speed float64, keep bool, l net.Listener, f *consoleFlags) error {
	return a.inSession(ctx, "demo", func(ctx context.Context, s *session) error {
		fmt.Fprintf(a.err, "demo data in %s\n", a.data)
		for _, transcript := range demoTranscripts {
			if err := a.play(ctx, s, transcript.file, transcript.session, speed); err != nil {
				return err
			}
		}
		report, err := a.prove(ctx, s, nil)
		if err != nil {
			return err
		}
		if err := a.sayReport(report, "", nil, false); err != nil || !keep {
			return err
		}
		fmt.Fprintln(a.err, "the pipeline goes on until stopped (Ctrl-C)")
		if l != nil {
			return a.serveSession(ctx, "demo", s, l, f)
		}
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
			return cause
		}
		return nil
	})
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
	target, err := s.target(ctx)
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
	follower, err := follow.New(follow.Options{Conn: s.conn, Reader: s.ledger, Partitions: s.info.Partitions, Transcript: key})
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
