package journal

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/steno-io/steno/schema"
)

// ended makes a journal of a size whose writer has ended so long ago, with or without its mark.
func ended(t *testing.T, dir, id string, size int64, ago time.Duration, mark *Mark) {
	t.Helper()
	h := testHead()
	h.ID = id
	w, err := Create(Options{Dir: dir, Head: h})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.Truncate(w.Path(), size))
	at := time.Now().Add(-ago)
	require.NoError(t, os.Chtimes(w.Path(), at, at))
	if mark != nil {
		mark.Identity = h.Identity
		require.NoError(t, WriteMark(dir, id, *mark))
	}
}

// Journals that are stored never hold a conversation: near the bound the oldest of them go, as many as
// are needed; no other goes.
func TestStoredJournalsMakeRoom(t *testing.T) {
	for _, policy := range []WhenFull{Block, Pass} {
		dir := t.TempDir()
		now := time.Now()
		const size = smallBound / 8
		ended(t, dir, "c-oldest", size, 3*time.Hour, &Mark{Done: true, At: now})
		ended(t, dir, "b-older", size, 2*time.Hour, &Mark{Done: true, At: now})
		ended(t, dir, "a-newest", size, time.Hour, &Mark{Done: true, At: now})
		ended(t, dir, "half-stored", size, 9*time.Hour, &Mark{At: now})
		ended(t, dir, "not-stored", size, 9*time.Hour, nil)
		h := testHead()
		h.ID = "alive"
		alive := create(t, Options{Dir: dir, Head: h})
		require.NoError(t, WriteMark(dir, "alive", Mark{Identity: h.Identity, Done: true}))

		heard := &heard{}
		w := create(t, Options{Dir: dir, Max: smallBound, WhenFull: policy, Report: heard.report})
		add := func() {
			require.NoError(t, w.Append(t.Context(), schema.FromAgent, time.Now(), make([]byte, 4096)))
		}
		add()
		require.NoFileExists(t, Path(dir, "c-oldest"))
		require.FileExists(t, MarkPath(dir, "c-oldest"), "it goes with a sweep")
		require.FileExists(t, Path(dir, "b-older"), "no more than is needed")
		for range 24 {
			add()
		}
		require.Equal(t, []What{HalfFull}, heard.what(), "nothing was held and nothing missed")
		require.NoFileExists(t, Path(dir, "b-older"))
		for _, id := range []string{"half-stored", "not-stored", "alive"} {
			require.FileExists(t, Path(dir, id))
		}
		require.Len(t, readAll(t, copyOf(t, w.Path())), 25)
		require.Empty(t, readAll(t, copyOf(t, alive.Path())))
	}
}

// A full disk is made room on likewise.
func TestStoredJournalsMakeRoomOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	ended(t, dir, "stored", 1000, time.Hour, &Mark{Done: true})
	h := &heard{}
	w := create(t, Options{Dir: dir, Report: h.report})
	disk := withFaults(w)
	disk.write = func(b []byte, off int64) (int, error) {
		if _, err := os.Lstat(Path(dir, "stored")); err == nil {
			return 0, unix.ENOSPC
		}
		return disk.file.WriteAt(b, off)
	}
	require.NoError(t, w.Append(t.Context(), schema.FromAgent, time.Now(), []byte("x")))
	require.Empty(t, h.what())
	require.NoFileExists(t, Path(dir, "stored"))
}

// A journal that cannot be read makes no room and does no harm.
func TestNoRoomInWhatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(Path(dir, "damaged"), make([]byte, 1000), 0o600))
	require.NoError(t, WriteMark(dir, "damaged", Mark{Identity: testHead().Identity, Done: true}))
	require.NoError(t, os.WriteFile(MarkPath(dir, "odd"), []byte("{"), 0o600))
	require.NoError(t, os.WriteFile(Path(dir, "odd"), make([]byte, 1000), 0o600))
	s := space{path: Path(dir, "own"), now: time.Now}
	require.Zero(t, s.free(1))
	require.FileExists(t, Path(dir, "damaged"))
	require.FileExists(t, Path(dir, "odd"))
}
