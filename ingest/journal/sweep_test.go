package journal

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMark(t *testing.T) {
	dir := t.TempDir()
	_, err := ReadMark(dir, "j1")
	require.ErrorIs(t, err, os.ErrNotExist)
	m := Mark{Identity: testHead().Identity, Offset: 1 << 40, Frames: 12, Done: true, At: time.Unix(5, 6).UTC()}
	require.NoError(t, WriteMark(dir, "j1", Mark{Identity: m.Identity}))
	require.NoError(t, WriteMark(dir, "j1", m))
	have, err := ReadMark(dir, "j1")
	require.NoError(t, err)
	require.Equal(t, m, have)
	info, err := os.Stat(MarkPath(dir, "j1"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 1)

	require.NoError(t, os.WriteFile(MarkPath(dir, "j1"), []byte(`{"identity":"x"`), 0o600))
	_, err = ReadMark(dir, "j1")
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorContains(t, err, MarkPath(dir, "j1"))
	require.Error(t, WriteMark(filepath.Join(dir, "none"), "j1", m))
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	list, err := List(filepath.Join(dir, "none"))
	require.NoError(t, err)
	require.Empty(t, list)

	dead, err := Create(Options{Dir: dir, Head: testHead()})
	require.NoError(t, err)
	require.NoError(t, dead.Close())
	alive := create(t, Options{Dir: dir})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "zz"+suffix), []byte("no journal"), 0o600))
	require.NoError(t, WriteMark(dir, "other", Mark{Identity: testHead().Identity}))

	list, err = List(dir)
	require.NoError(t, err)
	require.Len(t, list, 3)
	require.Equal(t, []string{dead.Head().ID, alive.Head().ID, "zz"}, []string{list[0].ID, list[1].ID, list[2].ID})
	require.Equal(t, []bool{false, true, false}, []bool{list[0].Alive, list[1].Alive, list[2].Alive})
	require.Equal(t, dead.Head(), list[0].Head)
	require.NoError(t, list[1].Err)
	require.ErrorIs(t, list[2].Err, ErrDamaged)
	require.Equal(t, int64(10), list[2].Size)
	require.WithinDuration(t, time.Now(), list[1].WrittenAt, time.Hour)
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	old := now.Add(-2 * KeepStored)
	id := testHead().Identity
	make1 := func(name string, mark *Mark, written time.Time) {
		h := testHead()
		h.ID = name
		w, err := Create(Options{Dir: dir, Head: h})
		require.NoError(t, err)
		require.NoError(t, w.Close())
		if mark != nil {
			require.NoError(t, WriteMark(dir, name, *mark))
			require.NoError(t, os.Chtimes(MarkPath(dir, name), old, old))
		}
		require.NoError(t, os.Chtimes(Path(dir, name), written, written))
	}
	put := func(name string, at time.Time) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
		require.NoError(t, os.Chtimes(path, at, at))
	}
	make1("stored-long-ago", &Mark{Identity: id, Done: true, At: old}, old)
	make1("stored-just-now", &Mark{Identity: id, Done: true, At: now}, old)
	make1("written-just-now", &Mark{Identity: id, Done: true, At: old}, now)
	make1("half-stored", &Mark{Identity: id, At: old}, old)
	make1("not-stored", nil, old)
	h := testHead()
	h.ID = "alive"
	alive := create(t, Options{Dir: dir, Head: h})
	require.NoError(t, WriteMark(dir, "alive", Mark{Identity: id, Done: true, At: old}))
	require.NoError(t, os.Chtimes(alive.Path(), old, old))
	put("orphan"+markSuffix, old)
	put("new-orphan"+markSuffix, now)
	put("dead"+suffix+newSuffix, old)
	put("starting"+suffix+newSuffix, now)
	put("half-mark"+markSuffix+newSuffix, old)
	put("damaged"+suffix, old)
	put("somebody's file", old)

	deleted, err := Sweep(dir, now)
	require.ErrorIs(t, err, ErrDamaged, "what cannot be read stays and is told")
	require.ElementsMatch(t, []string{
		Path(dir, "stored-long-ago"), MarkPath(dir, "stored-long-ago"), MarkPath(dir, "orphan"),
		Path(dir, "dead") + newSuffix, MarkPath(dir, "half-mark") + newSuffix,
	}, deleted)
	for _, path := range deleted {
		require.NoFileExists(t, path)
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	var stay []string
	for _, file := range files {
		stay = append(stay, file.Name())
	}
	require.Equal(t, []string{
		"alive" + suffix, "alive" + markSuffix, "damaged" + suffix, "half-stored" + suffix, "half-stored" + markSuffix,
		"new-orphan" + markSuffix, "not-stored" + suffix, "somebody's file", "starting" + suffix + newSuffix,
		"stored-just-now" + suffix, "stored-just-now" + markSuffix, "written-just-now" + suffix, "written-just-now" + markSuffix,
	}, stay)
	again, err := Sweep(dir, now)
	require.ErrorIs(t, err, ErrDamaged)
	require.Empty(t, again)
	none, err := Sweep(filepath.Join(dir, "none"), now)
	require.NoError(t, err)
	require.Empty(t, none)
}
