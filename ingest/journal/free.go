package journal

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// free deletes journals whose writers have ended and of which all is stored, the one written longest
// ago first, until n bytes are free, and gives how many are. They stay for KeepStored as a courtesy,
// for a stream that is lost; that never holds a conversation for which there is no room otherwise.
// What cannot be read or deleted makes no room, and Sweep tells of it. When it could not free enough
// it looks again after measureEvery at the soonest.
func (s *space) free(n int64) (freed int64) {
	now := s.now()
	if now.Sub(s.freed) < measureEvery {
		return 0
	}
	dir := filepath.Dir(s.path)
	for _, j := range storedJournals(dir) {
		if freed >= n {
			break
		}
		if os.Remove(j.path) == nil { // its mark stays until it is swept: never a stored journal without one
			freed += j.size
		}
	}
	if freed < n {
		s.freed = now
	}
	if freed > 0 {
		_ = syncDir(dir) // a name that comes back after a crash is that of a stored journal still
	}
	return freed
}

// Gone reports whether err comes of a journal that is not there any more, such as one that another process
// has stored, and that was deleted for want of room: its mark says so.
func Gone(path string, err error) bool {
	if !errors.Is(err, fs.ErrNotExist) {
		return false // it was read; or something else is missing
	}
	_, err = os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

type storedJournal struct {
	path string
	size int64
	at   time.Time // of the last write
}

// storedJournals lists what free may delete, in its order.
func storedJournals(dir string) (list []storedJournal) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, file := range files {
		id, ok := journalID(file.Name())
		if !ok {
			continue
		}
		if m, err := ReadMark(dir, id); err != nil || !m.Done {
			continue
		}
		if info, err := look(Path(dir, id)); err == nil && !info.Alive {
			list = append(list, storedJournal{info.Path, info.Size, info.WrittenAt})
		}
	}
	slices.SortStableFunc(list, func(a, b storedJournal) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	return list
}
