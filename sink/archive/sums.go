package archive

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
)

// sums are the SHA-256 of an archive's files. A file is hashed while the proof reads it, and so fetched once. It is
// safe for concurrent use.
type sums struct {
	mu     sync.Mutex
	unread map[string]bool   // files that nobody has read yet
	have   map[string]string // SHA-256 of the others
	failed error             // of the store: one could not be read to its end
}

func newSums() *sums { return &sums{unread: map[string]bool{}, have: map[string]string{}} }

// want asks for the SHA-256 of a file.
func (s *sums) want(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unread[name] = true
}

// left gives the files that nobody has read yet, in order.
func (s *sums) left() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.unread))
}

// of gives a file's SHA-256.
func (s *sums) of(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.have[name]
}

// hashed gives a file that was opened: the first time, it is hashed while it is read, and to its end when it is closed.
func (s *sums) hashed(name string, in io.ReadCloser) io.ReadCloser {
	if s == nil {
		return in
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.unread[name] {
		return in
	}
	delete(s.unread, name)
	return &hashed{ReadCloser: in, of: s, name: name, sum: newSum()}
}

// tell tells the SHA-256 of a file that was read, or why it could not be.
func (s *sums) tell(name, have string, err error) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.unread, name)
	s.have[name] = have
	if err != nil && s.failed == nil {
		s.failed = fmt.Errorf("read %s: %w", name, err)
	}
}

// hashed is a file that is hashed.
type hashed struct {
	io.ReadCloser
	of   *sums
	name string
	sum  sum
	err  error // of the store
}

// Read implements io.Reader.
func (h *hashed) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	h.sum.Write(p[:n])
	if err != nil && err != io.EOF { //nolint:errorlint // a Reader gives EOF itself
		h.err = err
	}
	return n, err
}

// Close reads what was not read, and tells what came out.
func (h *hashed) Close() error {
	if h.err == nil {
		_, h.err = io.Copy(io.Discard, h)
	}
	h.of.tell(h.name, h.sum.hex(), h.err)
	return h.ReadCloser.Close()
}
