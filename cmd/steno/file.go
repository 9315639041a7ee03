package main

import (
	"fmt"
	"os"

	"github.com/steno-io/steno/ingest/files"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// openFile opens a file to import or translate, and names its capture. It refuses what this build
// cannot translate, before anything of it is stored.
func (a *app) openFile(path string, flags *identityFlags) (*files.File, schema.Identity, error) {
	if path == "-" {
		return nil, schema.Identity{}, usage("read -: stdin is not supported, since a file is read twice; name a file (./- for one of that name)")
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, schema.Identity{}, fmt.Errorf("read %s: is a directory; name its files", path)
	}
	file, err := files.Open(path)
	if err != nil {
		return nil, schema.Identity{}, err
	}
	id, err := a.identity(flags, importWorkflow, file.Run())
	if err != nil {
		return nil, id, err
	}
	for f, err := range file.Frames() {
		if err != nil {
			break // whoever reads it says so
		}
		if _, err := translate.NewCapture(id, protocols(), "").Step(nil, &f); err != nil {
			return nil, id, fmt.Errorf("read %s: %w", path, err)
		}
		break
	}
	return file, id, nil
}
