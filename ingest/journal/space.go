package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	// reserve is kept free below the bound, so that close and gap entries always fit.
	reserve = 64 << 10
	// measureEvery bounds how old the knowledge of the other journals' sizes may be.
	measureEvery = time.Second
	// lookAgain is the wait between two looks for room in a full directory.
	lookAgain = 100 * time.Millisecond
	// nearBound says how near the bound stored journals make room: when less than a part of so many is left.
	nearBound = 8
	// maxShare bounds what one measurement allows to be appended.
	maxShare = 16 << 20
)

// space keeps a directory's journals within their bound. Other processes write there too, so a
// measurement allows only a part of what is left; the bound can be passed by at most what the
// writers were allowed together.
type space struct {
	path string // of the own journal
	max  int64
	now  func() time.Time

	used   int64     // at the last measurement
	share  int64     // still allowed by it
	at     time.Time // of the last measurement
	freed  time.Time // when stored journals were last too few
	full   bool      // it found no room
	warned bool      // that half was passed
}

// take asks for n bytes and reports whether there is room; half is true once each time half of the
// bound is passed.
func (s *space) take(n int64) (ok, half bool, err error) {
	now := s.now()
	age := now.Sub(s.at)
	if s.share < n && (!s.full || age >= lookAgain) || age >= measureEvery {
		if half, err = s.measure(); err != nil {
			return false, false, err
		}
		s.at = now
		if short := max(n, s.max/nearBound) + reserve + s.used - s.max; short > 0 {
			s.used -= s.free(short)
		}
		rest := s.max - reserve - s.used
		s.share = max(min(rest/4, maxShare), min(n, rest), 0)
	}
	s.full = s.share < n
	if s.full {
		return false, half, nil
	}
	s.share -= n
	return true, half, nil
}

// measure adds up the directory's journals and finds the own one among them.
func (s *space) measure() (half bool, err error) {
	dir := filepath.Dir(s.path)
	files, err := os.ReadDir(dir)
	if err != nil {
		return false, fmt.Errorf("measure journals in %s: %w", dir, err)
	}
	s.used = 0
	found := false
	for _, file := range files {
		if _, ok := journalID(file.Name()); !ok {
			continue
		}
		info, err := file.Info()
		if os.IsNotExist(err) {
			continue // swept in between
		}
		if err != nil {
			return false, fmt.Errorf("measure journal %s: %w", file.Name(), err)
		}
		s.used += info.Size()
		found = found || file.Name() == filepath.Base(s.path)
	}
	if !found {
		return false, fmt.Errorf("measure journals in %s: %s: %w", dir, filepath.Base(s.path), ErrRemoved)
	}
	half = s.used >= s.max/2 && !s.warned
	s.warned = s.used >= s.max/2
	return half, nil
}
