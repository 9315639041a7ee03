package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/archive/s3"
)

// archiveFlags say where an archive is that a command writes into, and how a bucket keeps its objects.
type archiveFlags struct {
	place     string
	lock      string
	mode      string
	legalHold bool
}

func (f *archiveFlags) register(p *pflag.FlagSet) {
	p.StringVar(&f.place, "archive", "", "the archive: a directory, or s3://bucket/prefix")
	p.StringVar(&f.lock, "object-lock", "", "in a bucket, keep objects from being changed for so long, such as 365d")
	p.StringVar(&f.mode, "object-lock-mode", string(s3.Governance), "who can end that before: who has the right to (governance), or nobody (compliance)")
	p.BoolVar(&f.legalHold, "legal-hold", false, "in a bucket, put objects under legal hold")
}

// createArchive opens the archive that the flags name for writing; a directory is made, a bucket is not.
func (a *app) createArchive(ctx context.Context, f *archiveFlags) (archive.Store, error) {
	lock, err := a.archiveLock(f)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(f.place, s3.Scheme) {
		if lock != (s3.Lock{}) {
			return nil, a.badValue(errors.New("--object-lock, --legal-hold: they are for a bucket: --archive s3://…"), "object-lock", "legal-hold")
		}
		return archive.OpenDir(f.place, true)
	}
	store, err := s3.Open(ctx, f.place, s3.Options{Write: true, Lock: lock})
	if errors.Is(err, s3.ErrAddress) {
		return nil, a.badValue(fmt.Errorf("--archive: %w", err), "archive")
	}
	return store, err
}

func (a *app) archiveLock(f *archiveFlags) (s3.Lock, error) {
	lock := s3.Lock{LegalHold: f.legalHold}
	if f.mode != string(s3.Governance) && f.mode != string(s3.Compliance) {
		return lock, a.badValue(fmt.Errorf("--object-lock-mode %q: want %s or %s", f.mode, s3.Governance, s3.Compliance), "object-lock-mode")
	}
	if f.lock == "" {
		return lock, nil
	}
	var ok bool
	if lock.For, ok = sink.ParsePeriod(f.lock); !ok || lock.For <= 0 {
		return lock, a.badValue(fmt.Errorf("--object-lock %q: want how long, such as 30d or 52w", f.lock), "object-lock")
	}
	lock.Mode = s3.Mode(f.mode)
	return lock, nil
}

// openedArchive is an archive that is read.
type openedArchive struct {
	archive.Store
	single bool // it is a bundle, which is one capture's folder
	close  func() error
}

// openArchive opens an archive for reading by its name: a directory, the file or the http:// or https:// URL
// of a bundle, or s3://bucket/prefix.
func openArchive(ctx context.Context, name string) (*openedArchive, error) {
	nothing := func() error { return nil }
	switch scheme, _, _ := strings.Cut(name, "://"); scheme {
	case "s3":
		store, err := s3.Open(ctx, name, s3.Options{})
		return &openedArchive{store, false, nothing}, err
	case "http", "https":
		return openURL(ctx, name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, usage("open archive: %w: want an archive's directory, or a bundle, or s3://bucket/prefix", err)
	}
	if info.IsDir() {
		store, err := archive.OpenDir(name, false)
		return &openedArchive{store, false, nothing}, err
	}
	bundle, err := openBundle(ctx, name, name)
	if err != nil {
		return nil, err
	}
	return &openedArchive{bundle, true, bundle.Close}, nil
}

// openURL opens a bundle that a web server has.
func openURL(ctx context.Context, address string) (*openedArchive, error) {
	file, shown, err := fetchBundle(ctx, address)
	if err != nil {
		return nil, err
	}
	bundle, err := openBundle(ctx, file, shown)
	if err != nil {
		return nil, errors.Join(err, os.Remove(file))
	}
	return &openedArchive{bundle, true, func() error { return errors.Join(bundle.Close(), os.Remove(file)) }}, nil
}

// openBundle opens the file of a bundle; name is what people call it.
func openBundle(ctx context.Context, file, name string) (*archive.Bundle, error) {
	is, err := isBundle(file)
	if err != nil {
		return nil, fmt.Errorf("open archive %s: %w", name, err)
	}
	if !is {
		return nil, usage("open archive: %s is neither an archive's directory nor a bundle, which is a tar", name)
	}
	return archive.OpenBundle(ctx, file)
}

// isBundle reports whether a file begins as a bundle does.
func isBundle(file string) (bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err = errors.Join(ignore(err, io.ErrUnexpectedEOF, io.EOF), f.Close()); err != nil {
		return false, err
	}
	return archive.IsBundle(head[:n]), nil
}

func ignore(err error, targets ...error) error {
	if isAny(err, targets...) {
		return nil
	}
	return err
}
