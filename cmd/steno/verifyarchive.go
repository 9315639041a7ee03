package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/verify"
)

// verifyArchive proves an archive or a bundle, of which it needs nothing but the files.
func (a *app) verifyArchive(ctx context.Context, name string, key keyFlag, asJSON bool) error {
	trusted, err := a.trustedKey(key)
	if err != nil {
		return err
	}
	store, single, err := openArchive(ctx, name)
	if err != nil {
		return err
	}
	progress := a.progress()
	checked, err := archive.Check(ctx, store, archive.CheckOptions{
		Trusted: trusted, Single: single, NewFold: newFold, Progress: progress.verifying,
	})
	progress.done()
	if err != nil {
		return err
	}
	if checked.Seals == 0 && len(checked.Findings) == 0 && len(checked.Unfinished) == 0 {
		return fmt.Errorf("verify: nothing is sealed in %s (steno seal --archive seals)", store)
	}
	return a.sayChecked(&checked, asJSON)
}

func (a *app) sayChecked(c *archive.Checked, asJSON bool) error {
	code := c.ExitCode()
	if asJSON {
		if err := a.out.json(struct {
			*archive.Checked
			First *verify.First `json:"first,omitempty"`
		}{c, c.First()}); err != nil {
			return err
		}
	} else {
		a.sayFindings(&c.Report)
		for _, capture := range c.Unfinished {
			fmt.Fprintf(a.out, "unfinished: %s: a seal was begun, and nothing of it counts yet (steno seal completes it)\n", capture)
		}
		a.saySigned(c)
		open := ""
		if c.Open > 0 {
			open = fmt.Sprintf(", %d in open messages", c.Open)
		}
		fmt.Fprintf(a.out, "%s: %s of %s, %d frames, %d events, %d unaccounted%s\n", verdict(&c.Report),
			plural(c.Seals, "seal"), plural(c.Captures, "capture"), c.Frames, c.Events, c.Unaccounted, open)
	}
	if code != exitOK {
		return &exitError{code: code}
	}
	return nil
}

// saySigned says by whom the seals are signed.
func (a *app) saySigned(c *archive.Checked) {
	by := "signature: none"
	if len(c.Keys) > 0 {
		by = "signature: by key " + strings.Join(c.Keys, ", ")
		if !c.Trusted {
			by += ", not checked against yours (--key)"
		}
	}
	a.out.line("%s", by)
}
