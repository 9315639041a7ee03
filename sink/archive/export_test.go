package archive

// OpenDirWith is OpenDir, creating the directory, with another way to make what a folder lists outlive a power loss.
func OpenDirWith(root string, sync func(folder string) error) (*Dir, error) {
	d := &Dir{root, newFolders()}
	d.sync = sync
	return d, d.create()
}
