package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// errThere says that a file is there, of which nobody said that it may go.
func errThere(name string) error {
	return fmt.Errorf("write %s: %w; --force takes its place", name, fs.ErrExist)
}

// mayWrite looks before the work whether a file may be written: errThere if one of the name is there, and force is not
// given.
func mayWrite(name string, force bool) error {
	if name == "" || force {
		return nil
	}
	if _, err := os.Lstat(name); err == nil {
		return errThere(name)
	}
	return nil
}

// outFile is what a command writes into: stdout, or a file that is put in its place when it is whole.
type outFile struct {
	io.Writer
	file  *os.File // nil: stdout
	to    string
	force bool
	there bool // it is written in its place: a device or a pipe, which nothing can take the place of
}

// newOutFile makes the file called to; empty: stdout. Without force it does not take the place of another one.
func newOutFile(stdout io.Writer, to string, force bool) (*outFile, error) {
	if to == "" {
		return &outFile{Writer: stdout}, nil
	}
	if force {
		if target, err := filepath.EvalSymlinks(to); err == nil { // a link stays one
			to = target
		}
		if info, err := os.Stat(to); err == nil && !info.Mode().IsRegular() {
			file, err := os.OpenFile(to, os.O_WRONLY, 0)
			if err != nil {
				return nil, fmt.Errorf("write %s: %w", to, err)
			}
			return &outFile{Writer: file, file: file, to: to, there: true}, nil
		}
	}
	file, err := os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+".*") // readable by its owner alone
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", to, err)
	}
	return &outFile{Writer: file, file: file, to: to, force: force}, nil
}

// keep puts the file in its place.
func (e *outFile) keep() error {
	if e.file == nil {
		return nil
	}
	if e.there {
		if err := e.file.Close(); err != nil {
			return fmt.Errorf("write %s: %w", e.to, err)
		}
		return nil
	}
	name := e.file.Name()
	err := errors.Join(e.file.Sync(), e.file.Close())
	if err == nil && e.force {
		if err = os.Rename(name, e.to); err == nil {
			return nil
		}
	} else if err == nil {
		if err = takePlace(name, e.to, os.Link); errors.Is(err, fs.ErrExist) { // it has come meanwhile
			err = errThere(e.to)
		}
	}
	if gone := os.Remove(name); !errors.Is(gone, fs.ErrNotExist) { // it may have been put there itself
		err = errors.Join(err, gone)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return err
	case err != nil:
		return fmt.Errorf("write %s: %w", e.to, err)
	}
	return nil
}

// takePlace gives a file another name, of which there must be none; an error wraps fs.ErrExist if there is. The file may
// keep its own, too. link is os.Link; where file systems have no links (exFAT, some of FUSE), the name is taken first, and
// then the file put there: who is killed in between leaves an empty one.
func takePlace(file, name string, link func(file, name string) error) error {
	err := link(file, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	place, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(place.Close(), os.Rename(file, name)); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// discard takes back what was written.
func (e *outFile) discard() error {
	if e.file == nil {
		return nil
	}
	if e.there {
		return e.file.Close()
	}
	return errors.Join(e.file.Close(), os.Remove(e.file.Name()))
}
