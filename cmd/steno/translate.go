package main

import (
	"bufio"
	"errors"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// importWorkflow is the workflow of imports without another.
const importWorkflow = "import"

func (a *app) translateCommand() *cobra.Command {
	var identity identityFlags
	cmd := &cobra.Command{
		Use:   "translate FILE",
		Short: "Fold a file's frames into events, offline (NDJSON on stdout)",
		Long: `translate folds the frames of a file into its events, durable and ephemeral, and
writes them as JSON lines. It is pure: the same file gives the same bytes, and
the durable ones are those that an import under the same identity stores.

FILE is a steno capture file of ACP or A2A, plain JSON-RPC lines of ACP, or an
acp-devtools export.`,
		Example: `  steno translate session.jsonl
  steno translate session.jsonl | jq -r 'select(.kind.kind=="Message").kind.text'`,
		Args: cobra.MatchAll(atLeastOne("which file? such as: steno translate session.jsonl"), cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return a.translate(args[0], &identity) },
	}
	identity.register(cmd, importWorkflow, "UUIDv5 of the file's SHA-256")
	return cmd
}

func (a *app) translate(path string, flags *identityFlags) error {
	file, id, err := a.openFile(path, flags)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(a.out, 1<<16)
	capture := translate.NewCapture(id, protocols(), "")
	err = func() error {
		var events []schema.Event
		var line []byte
		for f, err := range file.Frames() {
			if err != nil {
				return err
			}
			if events, err = capture.Step(events[:0], &f); err != nil {
				return err
			}
			for i := range events {
				line = append(events[i].AppendJSON(line[:0]), '\n')
				if _, err := out.Write(line); err != nil {
					return err
				}
			}
		}
		return nil
	}()
	return errors.Join(err, out.Flush())
}
