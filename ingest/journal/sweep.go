package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// KeepStored is how long a journal stays after its writer has ended and all it holds is stored, while
// there is room for it.
const KeepStored = 24 * time.Hour

// Sweep deletes the journals of a directory that are no longer needed at now, their marks, and what
// a process left behind that was killed while it made one. It gives the paths deleted. A journal
// whose head, lock or mark cannot be read stays and is an error; the others are swept all the same.
func Sweep(dir string, now time.Time) (deleted []string, err error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sweep journals: %w", err)
	}
	var failures []error
	for _, file := range files {
		path := filepath.Join(dir, file.Name())
		needless, err := needless(dir, file.Name(), now)
		if err == nil && needless {
			if err = os.Remove(path); err == nil {
				deleted = append(deleted, path)
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			failures = append(failures, fmt.Errorf("sweep %s: %w", path, err))
		}
	}
	if len(deleted) > 0 {
		failures = append(failures, syncDir(dir))
	}
	return deleted, errors.Join(failures...)
}

// needless decides by file name. A mark goes after its journal, so that a sweep that was cut off
// leaves a mark without a journal, never a stored journal without its mark.
func needless(dir, name string, now time.Time) (bool, error) {
	path := filepath.Join(dir, name)
	switch {
	case strings.HasSuffix(name, suffix):
		return stored(dir, strings.TrimSuffix(name, suffix), now)
	case strings.HasSuffix(name, suffix+newSuffix):
		return abandoned(path, now)
	case strings.HasSuffix(name, markSuffix+newSuffix):
		return old(path, now)
	case strings.HasSuffix(name, markSuffix):
		return left(dir, strings.TrimSuffix(name, markSuffix), path, now)
	case strings.HasSuffix(name, claimed):
		return left(dir, strings.TrimSuffix(name, claimed), path, now)
	}
	return false, nil
}

// left reports whether a file that stands beside a journal is old and has none.
func left(dir, id, path string, now time.Time) (bool, error) {
	if _, err := os.Lstat(Path(dir, id)); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return old(path, now)
}

func stored(dir, id string, now time.Time) (bool, error) {
	info, err := look(Path(dir, id))
	if err != nil || info.Alive {
		return false, err
	}
	m, err := ReadMark(dir, id)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return m.Done && now.Sub(m.At) >= KeepStored && now.Sub(info.WrittenAt) >= KeepStored, nil
}

// abandoned reports whether a journal that never got its name has lost its maker.
func abandoned(path string, now time.Time) (bool, error) {
	if aged, err := old(path, now); err != nil || !aged {
		return false, err
	}
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return false, err
	}
	alive, err := writerLives(f)
	return !alive, errors.Join(err, f.Close())
}

func old(path string, now time.Time) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	return now.Sub(info.ModTime()) >= KeepStored, nil
}
