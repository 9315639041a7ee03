package archive

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/verify"
)

// CheckOptions of a check.
type CheckOptions struct {
	// Trusted is the public key by which every seal must be signed; empty: by any.
	Trusted string
	// Single: the archive is one capture's folder, which has no log of seals.
	Single bool
	// NewFold and Progress are those of verify.Options.
	NewFold  func(id schema.Identity, version string) verify.Fold
	Progress func(verify.Progress)
	// Proved is that of verify.Options, of captures of which no file was found amiss.
	Proved func(verify.Proved) error
}

// Checked is what a check found.
type Checked struct {
	verify.Report
	Seals      int      `json:"seals"`
	Keys       []string `json:"keys"`       // hashes of the keys that signed, in order
	Trusted    bool     `json:"trusted"`    // they were checked against a key that was given
	Unfinished []string `json:"unfinished"` // captures of which a seal was begun and not finished
}

// Check proves an archive: every object is named by a seal and is what the seal says; seals follow one
// another, are signed and stand in the log; and the frames, folded again, give the events, byte for byte.
// An error means that the archive could not be read; what does not agree is a finding.
func Check(ctx context.Context, store Store, o CheckOptions) (Checked, error) {
	c := &check{store: store, o: o, contents: newContents(store), sums: newSums(), keys: map[string]bool{}}
	c.contents.sums = c.sums
	defer c.contents.Close()
	if err := c.inventory(ctx); err != nil {
		return Checked{}, fmt.Errorf("verify archive %s: %w", store, err)
	}
	if err := c.allFolders(ctx); err != nil {
		return Checked{}, err
	}
	for _, namespace := range slices.Sorted(maps.Keys(c.namespaces)) {
		if err := c.log(ctx, namespace); err != nil {
			return Checked{}, fmt.Errorf("verify log of namespace %s in archive %s: %w", namespace, store, err)
		}
	}
	if o.Proved != nil { // of what is amiss nothing is to be told
		if err := c.hash(ctx); err != nil {
			return Checked{}, fmt.Errorf("verify archive %s: %w", store, err)
		}
	}
	roots := c.contents.roots()
	report, err := verify.Run(ctx, verify.Options{
		Frames: AllFrames{c.contents}, Ledger: c.contents, NewFold: o.NewFold, Progress: o.Progress, Proved: c.proved(),
		Leaves: func(id schema.Identity) func(frame uint64, leaf [32]byte) { return roots[id].add },
	})
	if err != nil {
		return Checked{}, err
	}
	c.contents.Close()
	if err := c.hash(ctx); err != nil {
		return Checked{}, fmt.Errorf("verify archive %s: %w", store, err)
	}
	for _, one := range c.contents.order {
		for last, root := range roots[one.id].other {
			c.find(verify.BadSeal, Folder(one.id)+sealName(last), "its root is another than %s, which its frames give", root)
		}
	}
	findings := c.sure()
	for _, name := range slices.Sorted(maps.Keys(c.contents.damaged)) {
		if !slices.ContainsFunc(findings, func(f verify.Finding) bool { return f.File == name }) {
			findings = append(findings, verify.Finding{Problem: verify.BadFile, File: name, Detail: c.contents.damaged[name].Error()})
		}
	}
	report.Findings = append(append([]verify.Finding{}, findings...), report.Findings...) // lists are lists in JSON, empty ones too
	return Checked{
		Report: report, Seals: c.seals, Keys: append([]string{}, slices.Sorted(maps.Keys(c.keys))...),
		Trusted: o.Trusted != "", Unfinished: append([]string{}, c.unfinished...),
	}, nil
}

// proved keeps from CheckOptions.Proved what is of a capture with a finding.
func (c *check) proved() func(verify.Proved) error {
	if c.o.Proved == nil {
		return nil
	}
	amiss := map[schema.Identity]bool{}
	for _, f := range c.sure() {
		if o, err := ParseObject(f.File); err == nil {
			amiss[o.Capture] = true
		}
	}
	return func(p verify.Proved) error {
		if amiss[p.Capture] {
			return nil
		}
		return c.o.Proved(p)
	}
}

type check struct {
	store      Store
	o          CheckOptions
	folders    map[schema.Identity]*folder
	namespaces map[string]*logged
	contents   *Contents
	sums       *sums
	findings   []found
	keys       map[string]bool
	seals      int
	unfinished []string
}

func (c *check) find(problem verify.Problem, file, detail string, args ...any) {
	c.findings = append(c.findings, found{verify.Finding{Problem: problem, File: file, Detail: fmt.Sprintf(detail, args...)}, ""})
}

// unread finds that an object cannot be what it is called, such as one that is too long, unless it is the
// store that failed.
func (c *check) unread(ctx context.Context, name string, err error) error {
	if storeFailed(err) || ctx.Err() != nil {
		return err
	}
	c.find(verify.BadFile, name, "%v", err)
	return nil
}
