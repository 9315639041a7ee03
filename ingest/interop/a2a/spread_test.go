package interop

import "sync"

// spread tells of each task when its first event is with those who listen.
type spread struct {
	mu    sync.Mutex
	tasks map[string]*told
}

type told struct {
	once sync.Once
	c    chan struct{}
}

func newSpread() *spread { return &spread{tasks: map[string]*told{}} }

func (s *spread) told(task string) *told {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tasks[task] == nil {
		s.tasks[task] = &told{c: make(chan struct{})}
	}
	return s.tasks[task]
}

// of is closed once the task's first event is out.
func (s *spread) of(task string) <-chan struct{} { return s.told(task).c }

func (s *spread) out(task string) {
	told := s.told(task)
	told.once.Do(func() { close(told.c) })
}
