package archive_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/archive"
)

// TestALogNamesNoSealThatAPowerLossTakes kills a sealer before each of its syncs of a folder, and has another one go
// on: whenever the power fails, each seal that the log names is there, and in the end everything is but for a note.
func TestALogNamesNoSealThatAPowerLossTakes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := identity("one")
	s.tell(id, story)
	for at := 1; ; at++ {
		o := &outage{t: t, base: t.TempDir(), synced: map[string]map[string]string{}, kill: at}
		err := o.seal(s, id)
		if err == nil {
			require.Greater(t, at, 15, "syncs")
			return
		}
		require.ErrorIs(t, err, errBroken)
		require.NoError(t, o.seal(s, id))
		all, left := below(o.archive(), listing), o.left()
		const note = "default/test/one/0-1/seal-000000000009.note"
		if left[note] == "" { // the next sealer will see that, and sign again
			delete(all, note)
		}
		require.Equal(t, all, left, "killed before sync %d", at)
	}
}

// outage knows what a power loss leaves below a folder: what each folder there listed when it was synced last.
type outage struct {
	t      *testing.T
	base   string
	synced map[string]map[string]string
	kill   int // the sync that the writer does not come to
}

func (o *outage) archive() string { return filepath.Join(o.base, "made", "archive") }

func (o *outage) seal(s *site, id schema.Identity) error {
	store, err := archive.OpenDirWith(o.archive(), o.sync)
	if err != nil {
		return err
	}
	_, err = archive.NewSealer(store, s.frames, s.ledger, s.key).Seal(o.t.Context(), id)
	return err
}

func (o *outage) sync(folder string) error {
	if !strings.HasPrefix(folder, o.base) {
		return nil // it was there before
	}
	if o.kill--; o.kill == 0 {
		return errBroken
	}
	o.synced[folder] = listing(folder)
	o.checkLog()
	return nil
}

// left gives the archive's files that are there after a power loss.
func (o *outage) left() map[string]string {
	found := map[string]string{}
	for name, data := range below(o.base, func(folder string) map[string]string { return o.synced[folder] }) {
		if inside, ok := strings.CutPrefix(name, "made/archive/"); ok {
			found[inside] = data
		}
	}
	return found
}

// checkLog checks that the seals are left that the log names.
func (o *outage) checkLog() {
	left := o.left()
	for name, data := range left {
		if filepath.Base(filepath.Dir(name)) != "seals.log" || filepath.Ext(name) != ".json" {
			continue
		}
		var e archive.Entry
		require.NoError(o.t, json.Unmarshal([]byte(data), &e))
		id, err := schema.ParseIdentity(e.Capture)
		require.NoError(o.t, err)
		seal := left[fmt.Sprintf("%sseal-%012d.json", archive.Folder(id), e.Last)]
		require.Equal(o.t, e.SHA256, fmt.Sprintf("%x", sha256.Sum256([]byte(seal))), "%s names a seal that is lost", name)
	}
}

// listing gives what stands in a folder: files with what is in them, folders with nothing. Files are synced before
// they are put there.
func listing(folder string) map[string]string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		panic(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		data := []byte(nil)
		if !e.IsDir() {
			if data, err = os.ReadFile(filepath.Join(folder, e.Name())); err != nil {
				panic(err)
			}
		}
		all[e.Name()] = string(data)
	}
	return all
}

// below gives all files in a folder and in those in it.
func below(folder string, list func(folder string) map[string]string) map[string]string {
	files := map[string]string{}
	for name, data := range list(folder) {
		if data != "" {
			files[name] = data
			continue
		}
		for inner, data := range below(filepath.Join(folder, name), list) {
			files[name+"/"+inner] = data
		}
	}
	return files
}
