package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/retranslate"
)

// retranslateFlags say what is folded, by what, and how it is said.
type retranslateFlags struct {
	with string
	all  bool
	diff bool
	json bool
	full bool
}

func (a *app) retranslateCommand() *cobra.Command {
	var f retranslateFlags
	cmd := &cobra.Command{
		Use:   "retranslate [KEY | PATH | --all] --with VERSION",
		Short: "Tell what another translator version would change",
		Long: `retranslate folds frames again by another version of the translator, and compares what
it gives with the events that are stored: which events it would add, leave out or give
otherwise. Nothing is changed. With --diff it shows each of them, field by field; that
an event would have another number, or another id, because of one before it, is no
difference, and neither is source.translator.

KEY names a transcript; its capture is folded. PATH is an archive's directory, a
bundle, or a capture file, whose events are those of the current version. ` + "`steno version`" + `
says which versions this build has.

It ends with 0 when the events are the same, with 10 when any differs, or an archive does
not fit, and with 1 when there was nothing to be compared.`,
		Example: `  steno retranslate --all --with acp/1
  steno retranslate fix-the-mill --with acp/2 --diff
  steno retranslate /srv/archive --with acp/2 --diff --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.retranslate(cmd.Context(), args, &f) },
	}
	p := cmd.Flags()
	p.StringVar(&f.with, "with", "", "the translator version, such as acp/1")
	p.BoolVar(&f.all, "all", false, "fold every capture of the ledger")
	p.BoolVar(&f.diff, "diff", false, "show what differs")
	p.BoolVar(&f.full, "full", false, "do not shorten the values that --diff shows")
	p.BoolVar(&f.json, "json", false, "print JSON lines: each difference with --diff, then one of each capture")
	a.ledgerFlag(cmd)
	a.archiveFlag(cmd)
	return cmd
}

func (f *retranslateFlags) check(args []string) error {
	has := strings.Join(translatorVersions(), ", ")
	if f.with == "" {
		return usage("steno retranslate: by which version? give --with; this build has %s", has)
	}
	if _, err := protocols().ByVersion(f.with); err != nil {
		return usage("--with: %w; it has %s", err, has)
	}
	if f.all && len(args) > 0 {
		return usage("%s and --all: want one of them", args[0])
	}
	return nil
}

func (a *app) retranslate(ctx context.Context, args []string, f *retranslateFlags) error {
	if err := f.check(args); err != nil {
		return err
	}
	r := &retranslating{app: a, flags: f, progress: a.progress()}
	defer r.progress.done()
	if len(args) > 0 && isPath(args[0]) {
		return r.path(ctx, args[0])
	}
	return a.inSession(ctx, "retranslate", func(ctx context.Context, s *session) error {
		library, err := s.library(ctx)
		if err != nil {
			return err
		}
		if f.all {
			return r.all(ctx, library)
		}
		t, err := find(ctx, s.ledger, args)
		if err != nil {
			return err
		}
		info, err := s.ledger.Capture(ctx, t.Transcript.Identity)
		if err == nil && protocolOf(info.Translator) != protocolOf(f.with) {
			return usage("--with %s: %s was translated by %s", f.with, info.Capture.Capture, info.Translator)
		}
		if err == nil {
			err = r.capture(ctx, library, info)
		}
		if err != nil {
			return err
		}
		return r.end()
	})
}

// protocolOf is the part of a translator version that names the protocol.
func protocolOf(version string) string {
	protocol, _, _ := strings.Cut(version, "/")
	return protocol
}

// retranslating is one run of the command.
type retranslating struct {
	*app
	flags    *retranslateFlags
	progress *progress
	captures int
	counts   retranslate.Counts
	failed   error
}

// path compares an archive, a bundle or a capture file.
func (r *retranslating) path(ctx context.Context, name string) error {
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		if bundle, err := isBundle(name); err != nil || !bundle {
			return r.file(ctx, name) // it says what is wrong with a file that cannot be read
		}
	}
	store, _, err := openArchive(ctx, name)
	if err != nil {
		return err
	}
	library, done, err := archiveLibrary(ctx, store)
	if err != nil {
		return err
	}
	defer done()
	return r.all(ctx, library)
}

// file compares a capture file with what the current version makes of it.
func (r *retranslating) file(ctx context.Context, name string) error {
	file, id, err := r.openFile(name, &identityFlags{namespace: "default", attempt: 1})
	if err != nil {
		return err
	}
	stored, err := retranslate.Fold(id, file.Frames(), newFold(id, ""))
	if err != nil {
		return err
	}
	if is := stored.Info.Translator; protocolOf(is) != protocolOf(r.flags.with) {
		return usage("--with %s: %s is of %s", r.flags.with, name, protocolOf(is))
	}
	if err := r.compare(ctx, stored.Info, retranslate.Options{Ledger: stored, Frames: stored.Frames}); err != nil {
		return err
	}
	return r.end()
}

// all compares every capture of the version's protocol. One that cannot be folded does not keep the others.
func (r *retranslating) all(ctx context.Context, s *library) error {
	for info, err := range s.captures(ctx) {
		if err != nil {
			return err
		}
		if protocolOf(info.Translator) != protocolOf(r.flags.with) {
			continue
		}
		if err := r.capture(ctx, s, info); err != nil {
			if ctx.Err() != nil || r.out.first != nil {
				return err
			}
			r.failed = errors.Join(r.failed, err)
		}
	}
	return r.end()
}

func (r *retranslating) capture(ctx context.Context, s *library, info sink.CaptureInfo) error {
	frames := s.frames
	return r.compare(ctx, info, retranslate.Options{
		Ledger: s, Frames: func(ctx context.Context, id schema.Identity) iter.Seq2[schema.Frame, error] {
			return frames(ctx, id, 1)
		},
	})
}

// compared is what is said of a capture.
type compared struct {
	Capture string `json:"capture"`
	Was     string `json:"translator"` // version that made what is stored
	Is      string `json:"with"`
	retranslate.Counts
}

func (r *retranslating) compare(ctx context.Context, info sink.CaptureInfo, o retranslate.Options) error {
	id := info.Capture.Capture
	r.progress.say("folding again: %d captures, %d frames", r.captures, r.counts.Frames)
	o.Fold = newFold(id, r.flags.with)
	if r.flags.diff {
		o.Differs = r.differs
	}
	counts, err := retranslate.Compare(ctx, info, o)
	if err != nil {
		return err
	}
	r.captures++
	r.counts.Add(counts)
	said := compared{id.String(), info.Translator, r.flags.with, counts}
	if r.flags.json {
		return r.out.json(said)
	}
	if counts.Differs() || !r.flags.all {
		r.progress.done()
		r.out.line("%s: %s → %s: %s", said.Capture, said.Was, said.Is, said.words())
	}
	return r.out.first
}

func (c *compared) words() string {
	of := fmt.Sprintf("%s, %s", plural(c.Frames, "frame"), plural(c.Counts.Events, "event"))
	if !c.Differs() {
		return "the same " + of
	}
	words := fmt.Sprintf("%d added, %d removed, %d changed; %s", c.Added, c.Removed, c.Changed, of)
	if c.Moved > 0 {
		words += fmt.Sprintf(", %d of them under another number", c.Moved)
	}
	return words
}

// end says how it ended.
func (r *retranslating) end() error {
	r.progress.done()
	if r.captures == 0 {
		return errors.Join(r.failed, fmt.Errorf("retranslate: nothing was compared: there is no capture of %s that could be", protocolOf(r.flags.with)))
	}
	if !r.flags.json {
		verdict := "the same"
		if r.counts.Differs() {
			verdict = fmt.Sprintf("different: %d added, %d removed, %d changed", r.counts.Added, r.counts.Removed, r.counts.Changed)
		}
		fmt.Fprintf(r.out, "%s: %s, %s, %s\n", verdict, plural(r.captures, "capture"), plural(r.counts.Frames, "frame"), plural(r.counts.Events, "event"))
	}
	if r.counts.Differs() {
		return errors.Join(&exitError{code: exitChanged}, r.failed)
	}
	return r.failed
}

func (r *retranslating) differs(d retranslate.Difference) error {
	if rule, ok := ruleOf(d.Event()); ok {
		d.Rule = rule.Name
	}
	r.progress.done()
	if r.flags.json {
		return r.out.json(d)
	}
	return r.sayDifference(&d)
}

// signs stand before what differs.
var signs = map[retranslate.Change]string{retranslate.Added: "+", retranslate.Removed: "-", retranslate.Changed: "~"}

func (r *retranslating) sayDifference(d *retranslate.Difference) error {
	e := d.Event()
	at := fmt.Sprintf("%s#%d", e.Transcript, e.StoreSeq)
	if d.Change == retranslate.Added {
		at = e.Transcript.String()
	}
	rule := ""
	if d.Rule != "" {
		rule = ", rule " + d.Rule
	}
	r.out.line("%s %s: %s of frame %d%s", signs[d.Change], at, titleOf(e), e.WorkerSeq, rule)
	if d.Change != retranslate.Changed {
		r.out.line("    %s", r.shortened(kindText(e), 0))
		return r.out.first
	}
	for _, f := range d.Fields {
		from := partAt(f.Was, f.Is)
		r.out.line("    %s", f.Name)
		r.out.line("      - %s", r.shortened(f.Was, from))
		r.out.line("      + %s", r.shortened(f.Is, from))
	}
	return r.out.first
}

// titleOf is an event in a word or two.
func titleOf(e *schema.Event) string {
	if raw, ok := e.Kind.(*schema.Raw); ok {
		return "Raw " + raw.Source
	}
	return e.Kind.Tag()
}

// shownValue is how much of a value --diff shows, in bytes.
const shownValue = 160

// shortened gives a value from about where it is of interest.
func (r *retranslating) shortened(value []byte, from int) string {
	switch {
	case len(value) == 0:
		return "(none)"
	case r.flags.full || len(value) <= shownValue:
		return string(value)
	}
	from = min(max(0, from-shownValue/4), len(value)-shownValue)
	text := strings.ToValidUTF8(string(value[from:from+shownValue]), "")
	if from > 0 {
		text = "…" + text
	}
	if from+shownValue < len(value) {
		text += "…"
	}
	return text
}

// partAt is where two texts part.
func partAt(a, b []byte) int {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	return at
}
