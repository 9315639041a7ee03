package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) importCommand() *cobra.Command {
	var identity identityFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "import FILE…",
		Short: "Store, translate and number the frames of files",
		Long: `import stores the frames of each file as a capture of its own, and returns when
they are committed and numbered. FILE is a steno capture file of ACP or A2A, plain
JSON-RPC lines of ACP (a leading > or < says who sent a line), or an acp-devtools
export.

Importing a file again under the same identity resumes: frames that are there
are compared (bytes, side, exchange, HTTP evidence), missing ones are added, a
different one is refused.
Of several files one that fails does not keep the others from being imported.`,
		Example: `  steno import recording.json
  steno import --workflow nightly --run 2026-11-29 session.jsonl`,
		Args: atLeastOne("which file? such as: steno import recording.json"),
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
		return a.badValue(fmt.Errorf("import %d files with one --run: each file is a capture of its own", len(paths)), "run")
	}
	target, ctx, done, err := a.importTarget(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	var failed []error
	for _, path := range paths {
		result, err := target.file(ctx, a, path, flags)
		if result.Frames > 0 {
			failed = append(failed, a.sayImported(result, asJSON))
		}
		if err != nil {
			failed = append(failed, why(ctx, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

func (a *app) sayImported(r imported, asJSON bool) error {
	if asJSON {
		return a.out.json(r)
	}
	_, err := fmt.Fprintf(a.out, "%s: %s, %d added → %s\n", r.File, plural(r.Frames, "frame"), r.Added, r.Capture)
	return err
}

// file imports one file. What was read before an error is stored, committed and numbered.
func (t *target) file(ctx context.Context, a *app, path string, flags *identityFlags) (imported, error) {
	file, id, err := a.openFile(path, flags)
	if err != nil {
		return imported{}, err
	}
	result := imported{File: path, Capture: id.String()}
	i := &importer{file: file, path: path, id: id, progress: a.progress(), slow: &waiting{out: a.err}, limit: importBatch}
	err = i.run(ctx, t.options)
	i.progress.done()
	result.Frames, result.Added = i.read, i.added
	if i.head > 0 && ctx.Err() == nil {
		err = errors.Join(err, t.settled(ctx, id, i.head, err == nil))
	}
	return result, err
}
