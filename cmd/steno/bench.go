package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/cmd/steno/bench"
	"github.com/steno-io/steno/ingest/files"
)

// everyRow is all rows of the bench.
const everyRow = "all"

func (a *app) benchCommand() *cobra.Command {
	var asJSON, tiny bool
	var ledger string
	names := append(bench.Names(), everyRow)
	choice := strings.Join(names, "|")
	cmd := &cobra.Command{
		Use:   "bench " + choice,
		Short: "Measure this machine, each figure beside a ceiling of the same run",
		Long: `bench measures each stage on bundled recordings, with an embedded server in a
temporary directory (TMPDIR says where; it is removed), and beside it, in turn, a
plain loop that does only what cannot be left out: that is the ceiling. Figures
are medians of several windows. It uses no data directory and no running steno.

With --ledger the sink row is measured into PostgreSQL, too, in a database without
a ledger: the schema steno is made and dropped there.`,
		Example: `  steno bench all
  steno bench ingest --json | jq -r '[.row, .ratio] | @tsv'
  steno bench sink --ledger postgres://steno@127.0.0.1/bench`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(names, args[0]) {
				return fmt.Errorf("which row? one of %s", strings.Join(names, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			rows := args
			if args[0] == everyRow {
				rows = bench.Names()
			}
			return a.bench(cmd.Context(), rows, bench.Options{Catalogue: protocols(), Ledger: ledger, Tiny: tiny}, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one row a line as JSON")
	cmd.Flags().StringVar(&ledger, "ledger", "", "measure the sink into this PostgreSQL database, too")
	cmd.Flags().BoolVar(&tiny, "tiny", false, "measure next to nothing")
	_ = cmd.Flags().MarkHidden("tiny") // for tests: whether the rows run
	return cmd
}

func (a *app) bench(ctx context.Context, names []string, o bench.Options, asJSON bool) (err error) {
	if o.Recordings, err = benchRecordings(); err != nil {
		return err
	}
	progress := a.progress()
	defer progress.done()
	o.Say = progress.say
	var rows []bench.Row
	for _, name := range names {
		err := bench.Run(ctx, o, name, func(r bench.Row) error {
			rows = append(rows, r)
			if !asJSON {
				return nil
			}
			progress.done()
			return a.out.json(r)
		})
		if err != nil {
			return why(ctx, err)
		}
	}
	progress.done()
	if asJSON {
		return nil
	}
	return a.benchTable(rows)
}

// benchTable prints rows for people.
func (a *app) benchTable(rows []bench.Row) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "row\tfigure\tceiling\tunit\tratio\tgoal\t\t")
	for _, r := range rows {
		verdict := ""
		switch {
		case r.Goal == nil:
		case r.Met():
			verdict = "met"
		default:
			verdict = "missed"
		}
		ratio := ""
		if r.Ratio != nil {
			ratio = strconv.FormatFloat(*r.Ratio, 'f', 2, 64)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", r.Row, quantity(&r.Figure), quantity(r.Ceiling), r.Unit, ratio, quantity(r.Goal), verdict)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "\n%s on %s/%s, %s; medians of several windows, each beside its ceiling's\n",
		plural(runtime.NumCPU(), "core"), runtime.GOOS, runtime.GOARCH, runtime.Version())
	return err
}

// quantity writes a figure as it is read.
func quantity(v *float64) string {
	switch {
	case v == nil:
		return ""
	case *v >= 100 || *v <= -100:
		text := strconv.FormatFloat(*v, 'f', 0, 64)
		for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
			text = text[:at] + "," + text[at:]
		}
		return text
	}
	return strconv.FormatFloat(*v, 'f', 2, 64)
}

// benchRecordings reads the bundled recordings, the longest first.
func benchRecordings() ([]bench.Recording, error) {
	dir, err := os.MkdirTemp("", "steno-bench-")
	if err != nil {
		return nil, fmt.Errorf("unpack bundled recordings: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // only what was unpacked is in it
	if err := os.CopyFS(dir, demoRecordings); err != nil {
		return nil, fmt.Errorf("unpack bundled recordings: %w", err)
	}
	paths, err := fs.Glob(demoRecordings, "recordings/*")
	if err != nil {
		return nil, err
	}
	var all []bench.Recording
	for _, path := range paths {
		file, err := files.Open(filepath.Join(dir, path))
		if err != nil {
			return nil, err
		}
		r := bench.Recording{Name: filepath.Base(path), Protocol: file.Protocol()}
		for f, err := range file.Frames() {
			if err != nil {
				return nil, err
			}
			r.Frames = append(r.Frames, f)
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b bench.Recording) int { return len(b.Frames) - len(a.Frames) })
	return all, nil
}
