package headless

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// screen keeps the end of what a command prints.
type screen struct {
	limit int // bytes

	mu   sync.Mutex
	held []byte // at most twice the limit
	lost bool
}

// Write implements io.Writer; it never fails.
func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = append(s.held, b...)
	if len(s.held) > 2*s.limit {
		s.lost = true
		s.held = append(s.held[:0], s.held[len(s.held)-s.limit:]...)
	}
	return len(b), nil
}

// text is the end of the output, cut between characters; truncated says that there was more before it.
// What is not UTF-8 reads as U+FFFD, save the beginning of a character that may still come while the
// command runs.
func (s *screen) text(running bool) (text string, truncated bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.held
	for i := 1; running && i < utf8.UTFMax && i <= len(end); i++ {
		if b := end[len(end)-i]; utf8.RuneStart(b) {
			if !utf8.FullRune(end[len(end)-i:]) {
				end = end[:len(end)-i]
			}
			break
		}
	}
	if len(end) > s.limit {
		truncated = true
		end = end[len(end)-s.limit:]
	}
	truncated = truncated || s.lost
	for i := 0; truncated && i < utf8.UTFMax-1 && len(end) > 0 && !utf8.RuneStart(end[0]); i++ {
		end = end[1:]
	}
	return strings.ToValidUTF8(string(end), "\uFFFD"), truncated
}
