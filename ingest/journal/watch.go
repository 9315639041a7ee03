package journal

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// poll is how often a waiting reader looks without being told: it notices the end of a writer that
// was killed, and stands in where notifications are not to be had.
const poll = 250 * time.Millisecond

// Watch tells the readers of one directory when their journals grow, with one notification handle
// for all of them (a system gives out few), and its owner when journals come.
type Watch struct {
	dir   string
	came  chan struct{}
	mu    sync.Mutex
	bells map[string]map[chan struct{}]struct{} // by the file's base name
}

// NewWatch makes a watch over dir. Run starts it; until then its readers look by the clock.
func NewWatch(dir string) *Watch {
	return &Watch{dir: dir, came: make(chan struct{}, 1), bells: map[string]map[chan struct{}]struct{}{}}
}

// Came holds a token when a journal may have come since it was last read.
func (w *Watch) Came() <-chan struct{} { return w.came }

// Open opens a journal of the directory like the function Open; the watch wakes its reader.
func (w *Watch) Open(path string) (*Reader, error) {
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	r.bell, r.leave = w.subscribe(filepath.Base(path))
	return r, nil
}

// Run passes on notifications until ctx ends. It fails where the system gives none.
func (w *Watch) Run(ctx context.Context) (err error) {
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch journals in %s: %w", w.dir, err)
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	if err := n.Add(w.dir); err != nil {
		return fmt.Errorf("watch journals in %s: %w", w.dir, err)
	}
	w.ringAll() // what happened before the watch stood
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-n.Events:
			name := filepath.Base(e.Name)
			if _, ok := journalID(name); ok && e.Has(fsnotify.Create) {
				ring(w.came)
			}
			w.ringFile(name)
		case err := <-n.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("watch journals in %s: %w", w.dir, err)
			}
			w.ringAll() // which ones is not known
		}
	}
}

func (w *Watch) subscribe(name string) (bell <-chan struct{}, leave func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bells[name] == nil {
		w.bells[name] = map[chan struct{}]struct{}{}
	}
	w.bells[name][c] = struct{}{}
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.bells[name], c)
		if len(w.bells[name]) == 0 {
			delete(w.bells, name)
		}
	}
}

func (w *Watch) ringFile(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.bells[name] {
		ring(c)
	}
}

func (w *Watch) ringAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	ring(w.came)
	for _, bells := range w.bells {
		for c := range bells {
			ring(c)
		}
	}
}

func ring(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
