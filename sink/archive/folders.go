package archive

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// recentFolders is of how many folders it is remembered that a power loss does not take them.
const recentFolders = 256

// folders makes the folders of an archive. What another writer has made and was killed before it synced counts as
// not synced: what is put below must not outlive what it is named by, or be named by what outlives it.
type folders struct {
	sync    func(folder string) error // makes what a folder lists outlive a power loss
	lasting *recent[string, struct{}] // folders that do
}

func newFolders() folders {
	return folders{sync: syncFolder, lasting: &recent[string, struct{}]{}}
}

// makeRoot makes the folder of an archive, and those above it that are missing.
func (f folders) makeRoot(name string) error {
	above := filepath.Dir(name)
	if above == name {
		return nil
	}
	if err := f.makeRoot(above); err != nil {
		return err
	}
	_, missing := os.Stat(name)
	if missing != nil {
		if err := os.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	err := f.sync(above)
	if missing == nil && (errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EINVAL)) {
		return nil // it stands where this user makes nothing, or on a file system that is no disk's
	}
	return err
}

// makeBelow makes the folders of an object in those of the root.
func (f folders) makeBelow(root, name string) error {
	at := root
	for _, part := range strings.Split(name, "/") {
		above := at
		at = filepath.Join(at, part)
		err := os.Mkdir(at, 0o700)
		if errors.Is(err, fs.ErrExist) {
			if _, lasts := f.lasting.get(at); lasts {
				continue
			}
			err = nil
		}
		if err == nil {
			err = f.sync(above)
		}
		if err != nil {
			return err
		}
		f.lasting.put(at, struct{}{}, 1, recentFolders)
	}
	return nil
}

func syncFolder(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
