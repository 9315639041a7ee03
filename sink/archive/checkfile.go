package archive

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/sink/verify"
)

// filesAtATime is how many files are hashed at a time: a bucket takes its time to answer.
const filesAtATime = 4

// found is a finding, or one that is there if a file's bytes are not those that its seal names.
type found struct {
	verify.Finding
	unless string // SHA-256 of the file; empty: there it is
}

// file checks an object that a seal names. What its bytes are is known when the proof has read it.
func (c *check) file(folder string, f *folder, want File) {
	name := folder + want.Name
	size, there := f.sizes[want.Name]
	switch {
	case !there:
		c.find(verify.BadFile, name, "it is missing")
	case size != want.Bytes:
		c.find(verify.BadFile, name, "it has %d bytes, the seal says %d", size, want.Bytes)
	default:
		c.sums.want(name)
		c.findings = append(c.findings, found{verify.Finding{Problem: verify.BadFile, File: name}, want.SHA256})
	}
}

// hash hashes the files that were not read.
func (c *check) hash(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(filesAtATime)
	for _, name := range c.sums.left() {
		g.Go(func() error {
			in, err := c.store.Open(ctx, name)
			if err != nil {
				return err
			}
			sum := newSum()
			_, err = io.Copy(sum, in)
			if err = errors.Join(err, in.Close()); err == nil {
				c.sums.tell(name, sum.hex(), nil)
			}
			return err
		})
	}
	return errors.Join(g.Wait(), c.sums.failed)
}

// sure gives the findings that are there, all files being hashed.
func (c *check) sure() (all []verify.Finding) {
	for _, f := range c.findings {
		if f.unless != "" {
			have := c.sums.of(f.File)
			if have == f.unless {
				continue
			}
			f.Detail = fmt.Sprintf("its bytes have SHA-256 %s, the seal says %s", have, f.unless)
		}
		all = append(all, f.Finding)
	}
	return all
}
