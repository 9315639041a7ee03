package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// unfinished is the folder of objects that are being written. What is in it is no part of the archive.
const unfinished = ".unfinished"

// Dir is an archive in a directory.
type Dir struct {
	root string
	folders
}

var _ Store = (*Dir)(nil)

// OpenDir opens a directory as an archive, making it if create is set. What a writer that died left
// unfinished is then removed.
func OpenDir(root string, create bool) (*Dir, error) {
	d := &Dir{root, newFolders()}
	if create {
		if err := d.create(); err != nil {
			return nil, fmt.Errorf("open archive %s: %w", root, err)
		}
		return d, nil
	}
	info, err := os.Stat(root)
	if err == nil && !info.IsDir() {
		err = errors.New("it is no directory")
	}
	if err != nil {
		return nil, fmt.Errorf("open archive %s: %w", root, err)
	}
	return d, nil
}

// String implements Store.
func (d *Dir) String() string { return d.root }

// create makes the archive's folder. That of what is unfinished is made last: with it, the others are there to stay.
func (d *Dir) create() error {
	last := filepath.Join(d.root, unfinished)
	if _, err := os.Stat(last); errors.Is(err, fs.ErrNotExist) {
		if err := d.makeRoot(filepath.Clean(d.root)); err != nil {
			return err
		}
		if err := os.Mkdir(last, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return d.sweep()
}

// sweep removes what nobody is writing: a writer holds a lock on its file.
func (d *Dir) sweep() error {
	left, err := os.ReadDir(filepath.Join(d.root, unfinished))
	if err != nil {
		return err
	}
	for _, entry := range left {
		if err := removeUnlocked(filepath.Join(d.root, unfinished, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

func removeUnlocked(name string) error {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its writer has just finished
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil
		}
		return err
	}
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Put implements Store: the object is written beside, synced, and then linked to its name, which fails if
// there is one.
func (d *Dir) Put(ctx context.Context, name string, data []byte) error {
	return d.write(ctx, name, data, func(temporary, target string) error {
		err := os.Link(temporary, target)
		if errors.Is(err, fs.ErrExist) {
			return ErrExists
		}
		return err
	})
}

// Replace implements Store. The folder is locked between the look at the old object and the rename.
func (d *Dir) Replace(ctx context.Context, name string, old, data []byte) error {
	return d.write(ctx, name, data, func(temporary, target string) error {
		folder, err := os.Open(filepath.Dir(target))
		if err != nil {
			return err
		}
		defer folder.Close() //nolint:errcheck // it only held the lock
		if err := unix.Flock(int(folder.Fd()), unix.LOCK_EX); err != nil {
			return err
		}
		have, err := os.ReadFile(target)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			have = nil
		case err != nil:
			return err
		case have == nil:
			have = []byte{}
		}
		if (have == nil) != (old == nil) || !bytes.Equal(have, old) {
			return ErrChanged
		}
		return os.Rename(temporary, target)
	})
}

// write writes a file that place then brings to its name.
func (d *Dir) write(ctx context.Context, name string, data []byte, place func(temporary, target string) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s into archive %s: %w", name, d.root, err)
		}
	}()
	if err := ctx.Err(); err != nil {
		return err
	}
	target := filepath.Join(d.root, filepath.FromSlash(name))
	if err := d.makeBelow(d.root, path.Dir(name)); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Join(d.root, unfinished), "*")
	if err != nil {
		return err
	}
	defer func() {
		if removed := os.Remove(f.Name()); !errors.Is(removed, fs.ErrNotExist) { // renamed
			err = errors.Join(err, removed)
		}
		err = errors.Join(err, f.Close())
	}()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	placed := place(f.Name(), target)
	if placed != nil && !errors.Is(placed, ErrExists) && !errors.Is(placed, ErrChanged) {
		return placed
	}
	// What is there already may be of a writer that was killed before this.
	if err := d.sync(filepath.Dir(target)); err != nil {
		return err
	}
	return placed
}

// Open implements Store.
func (d *Dir) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := openFile(filepath.Join(d.root, filepath.FromSlash(name)))
	if err != nil {
		return nil, fmt.Errorf("open %s in archive %s: %w", name, d.root, err)
	}
	return f, nil
}

func openFile(name string) (*os.File, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) { // what stands above may be an object
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = ErrNotFound
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// List implements Store.
func (d *Dir) List(ctx context.Context, prefix string) iter.Seq2[Listed, error] {
	return func(yield func(Listed, error) bool) {
		err := filepath.WalkDir(d.root, func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			relative, err := filepath.Rel(d.root, name)
			if err != nil {
				return err
			}
			relative = filepath.ToSlash(relative)
			if entry.IsDir() {
				if relative == unfinished || relative != "." && !leadsTo(relative+"/", prefix) {
					return fs.SkipDir
				}
				return nil
			}
			if !strings.HasPrefix(relative, prefix) {
				return nil
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			if !yield(Listed{Name: relative, Bytes: info.Size()}, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(Listed{}, fmt.Errorf("list archive %s: %w", d.root, err))
		}
	}
}

// leadsTo reports whether names with the prefix can be in the folder.
func leadsTo(folder, prefix string) bool {
	return strings.HasPrefix(prefix, folder) || strings.HasPrefix(folder, prefix)
}
