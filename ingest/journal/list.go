package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Info is what a list shows of a journal.
type Info struct {
	ID        string
	Path      string
	Head      Head      // zero if Err is set
	Size      int64     // bytes
	Alive     bool      // its writer lives
	WrittenAt time.Time // when the last entry was written, by the file system's clock
	Err       error     // why the head cannot be read; the others are listed all the same
}

// List gives the journals of a directory by id, which is by age. A directory that does not exist has none.
func List(dir string) ([]Info, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list journals: %w", err)
	}
	var list []Info
	for _, file := range files {
		id, ok := journalID(file.Name())
		if !ok || !file.Type().IsRegular() {
			continue
		}
		info, err := look(filepath.Join(dir, file.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // swept in between
		}
		info.ID, info.Err = id, err
		list = append(list, info)
	}
	return list, nil
}

func look(path string) (info Info, err error) {
	info.Path = path
	stat, err := os.Stat(path)
	if err != nil {
		return info, fmt.Errorf("look at journal: %w", err)
	}
	info.Size, info.WrittenAt = stat.Size(), stat.ModTime()
	r, err := Open(path)
	if err != nil {
		return info, err
	}
	info.Head = r.Head()
	info.Alive, err = writerLives(r.file)
	return info, errors.Join(err, r.Close())
}
