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

func (f *archiveFlags) register(p *pflag.FlagSet, usage string) {
	p.StringVar(&f.place, "archive", "", usage)
	p.StringVar(&f.lock, "object-lock", "", "in a bucket, keep objects from being changed for so long, such as 365d")
	p.StringVar(&f.mode, "object-lock-mode", string(s3.Governance), "who can end that before: who has the right to (governance), or nobody (compliance)")
	p.BoolVar(&f.legalHold, "legal-hold", false, "in a bucket, put objects under legal hold")
}

// createArchive opens the archive that the flags name for writing.
func (a *app) createArchive(ctx context.Context, f *archiveFlags) (archive.Store, error) {
	lock, err := a.archiveLock(f)
	if err != nil {
		return nil, err
	}
	store, err := makeArchive(ctx, f.place, lock)
	switch {
	case errors.Is(err, s3.ErrAddress):
		return nil, a.badValue(fmt.Errorf("--archive: %w", err), "archive")
	case errors.Is(err, errNoLocks):
		return nil, a.badValue(fmt.Errorf("--object-lock, --legal-hold: %w", err), "object-lock", "legal-hold")
	}
	return store, err
}

// errNoLocks: only a bucket has locks.
var errNoLocks = errors.New("they are for a bucket: --archive s3://…")

// makeArchive opens an archive by its name for writing; a directory is made, a bucket is not.
func makeArchive(ctx context.Context, name string, lock s3.Lock) (archive.Store, error) {
	if strings.HasPrefix(name, s3.Scheme) {
		return s3.Open(ctx, name, s3.Options{Write: true, Lock: lock})
	}
	if lock != (s3.Lock{}) {
		return nil, errNoLocks
	}
	return archive.OpenDir(name, true)
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

// openArchive opens an archive for reading by its name: a directory, the file or the http:// or https:// URL
// of a bundle, or s3://bucket/prefix. single: it is a bundle, which is one capture's folder. Nothing has to be
// closed.
func openArchive(ctx context.Context, name string) (store archive.Store, single bool, err error) {
	switch scheme, _, _ := strings.Cut(name, "://"); scheme {
	case "s3":
		store, err = s3.Open(ctx, name, s3.Options{})
		return store, false, err
	case "http", "https":
		store, err = openURL(ctx, name)
		return store, true, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, false, usage("open archive: %w: want an archive's directory, or a bundle, or s3://bucket/prefix", err)
	}
	if info.IsDir() {
		store, err = archive.OpenDir(name, false)
		return store, false, err
	}
	store, err = openBundle(ctx, name, name)
	return store, true, err
}

// fetchedBundle is a bundle that a web server has.
type fetchedBundle struct {
	*archive.Bundle
	address string // as it may be shown
}

// String implements archive.Store.
func (b *fetchedBundle) String() string { return b.address }

// openURL opens a bundle that a web server has. The file that it is fetched into has no name any more when it
// is open, so nothing of it stays behind.
func openURL(ctx context.Context, address string) (archive.Store, error) {
	file, shown, err := fetchBundle(ctx, address)
	if err != nil {
		return nil, err
	}
	bundle, err := openBundle(ctx, file, shown)
	if err = errors.Join(err, os.Remove(file)); err != nil {
		return nil, err
	}
	return &fetchedBundle{bundle, shown}, nil
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
