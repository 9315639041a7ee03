package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/console/export"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// exportFlags say what of a transcript is written, and where.
type exportFlags struct {
	format string
	frames bool
	out    string
	force  bool
}

// Formats of an export.
const (
	formatJSONL    = "jsonl"
	formatMarkdown = "md"
	formatHTML     = "html"
)

func (a *app) exportCommand() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export [KEY]",
		Short: "Write a transcript as one file: Markdown, HTML, its events, or its frames",
		Long: `export writes a transcript whole, in the order in which steno show has it:

  --format md     Markdown as code hosts show it
  --format html   one page that needs nothing else: no script, and it asks for nothing
  --format jsonl  the stored events, byte for byte, one a line (the default)
  --frames        the frames of its capture, which are those of all its sessions: the
                  file that steno import and steno translate read

md and html leave out raw records that say what another part of the page says, and
tell how many; html has all events, as they are stored, at its end. Bytes of images
and other files are named with their size: --format jsonl has them, or names the
frame that does.

md and html are made in memory, which takes some times the size of the stored events.

All that was said is in it as it was said, secrets too; on stderr export says how many
values look like one, and where each was first seen (see steno seal). --out is written beside its
place and put there when it is whole; without it, the export goes to stdout.

` + keyHelp,
		Example: `  steno export --format html --out talk.html
  steno export fix-the-mill --format md > talk.md
  steno export fix-the-mill | jq -r 'select(.kind.kind=="Message").kind.text'
  steno export fix-the-mill --frames --out frames.jsonl && steno translate frames.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.frames && cmd.Flags().Changed("format") {
				return usage("--frames and --format: want one of them; frames have a format of their own")
			}
			switch f.format {
			case formatJSONL, formatMarkdown, formatHTML:
			default:
				return a.badValue(fmt.Errorf("--format %q: want jsonl, md or html", f.format), "format")
			}
			if f.force && (f.out == "" || f.out == "-") {
				return usage("--force is for --out FILE")
			}
			return a.export(cmd.Context(), args, f)
		},
	}
	p := cmd.Flags()
	p.StringVar(&f.format, "format", formatJSONL, "jsonl, md or html")
	p.BoolVar(&f.frames, "frames", false, "the capture's frames instead, as a capture file")
	p.StringVarP(&f.out, "out", "o", "", "file to write; - or nothing: stdout")
	p.BoolVar(&f.force, "force", false, "let --out take the place of a file that is there")
	a.ledgerFlag(cmd)
	a.archiveFlag(cmd)
	return cmd
}

func (a *app) export(ctx context.Context, args []string, f exportFlags) error {
	if f.out == "-" {
		f.out = ""
	}
	if err := mayWrite(f.out, f.force); err != nil { // and again when it is done
		return err
	}
	return a.withTranscript(ctx, "export", args, func(ctx context.Context, s *session, t sink.Summary) error {
		out, err := newOutFile(a.out, f.out, f.force)
		if err != nil {
			return err
		}
		suspects := newSuspects()
		wrote, err := a.writeExport(ctx, s, t, f, suspects, out)
		if err != nil {
			return errors.Join(err, out.discard())
		}
		if err := out.keep(); err != nil {
			return err
		}
		name := "stdout"
		if f.out != "" {
			name = f.out
		}
		fmt.Fprintf(a.err, "wrote %s: %s, %s%s\n", name, wrote, suspects.count(), partly(t.Status))
		suspects.sayPlaces(a.err)
		return nil
	})
}

// partly says of an export of what has not ended that it is a part.
func partly(status schema.Status) string {
	switch status {
	case schema.StatusOpen, schema.StatusParked:
		return "; a part: the recording is " + string(status)
	}
	return ""
}

// writeExport writes what is asked for, and says how much that is.
func (a *app) writeExport(ctx context.Context, s *session, t sink.Summary, f exportFlags, suspects *suspects, w io.Writer) (wrote string, err error) {
	p := a.progress()
	if f.out == "" && a.isTerminal(a.stdio.out) {
		p = &progress{} // it would stand in the midst of what is written
	}
	defer p.done()
	if f.frames {
		source, err := s.frames(ctx)
		if err != nil {
			return "", err
		}
		id := t.Transcript.Identity
		n, err := export.Frames(w, t.Protocol, suspects.frames(id, source.Frames(ctx, id)), func(n uint64) { p.say("%s", plural(n, "frame")) })
		return plural(n, "frame") + " of the capture", err
	}
	events := suspects.events(t.Transcript, s.ledger.Events(ctx, t.Transcript, 0, 0))
	if f.format == formatJSONL {
		n, err := export.JSONL(w, events, func(n uint64) { p.say("%s", plural(n, "event")) })
		return plural(n, "event") + ", " + plural(t.Frames, "frame"), err
	}
	of := export.Transcript{Summary: t}
	for e, err := range decoded(events) {
		if err != nil {
			return "", err
		}
		of.Events = append(of.Events, e)
		p.say("read %s", plural(uint64(len(of.Events)), "event"))
	}
	wrote = plural(uint64(len(of.Events)), "event") + ", " + plural(t.Frames, "frame")
	times := s.frameTimes(ctx, t.Transcript.Identity)
	of.At = times.at
	if n := len(of.Events); n > 0 { // else it would be all that has come since
		of.Stored = s.ledger.Events(ctx, t.Transcript, 0, n)
	}
	p.say("write %s", wrote)
	if f.format == formatHTML {
		err = export.HTML(ctx, w, &of)
	} else {
		err = export.Markdown(ctx, w, &of)
	}
	return wrote, errors.Join(err, times.err)
}
