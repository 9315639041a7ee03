//go:build faults

package faults

import (
	"os/exec"
	"sync"
	"time"
)

// slot is a place where one process runs after the other, behind one line.
type slot struct {
	name string
	line *line

	mu      sync.Mutex
	process *process // nil while none runs
	called  string   // by which name it is known to the others
	spared  bool     // frozen, or just woken: it is not to be killed
}

// slot makes a place behind a line of its own.
func (r *rig) slot(name string) *slot { return &slot{name: name, line: r.line()} }

// run runs one process to its end.
func (s *slot) run(r *rig, called string, cmd *exec.Cmd) (*process, error) {
	p, err := s.begin(r, called, cmd)
	if err != nil {
		return nil, err
	}
	<-p.ended
	s.clear(p)
	return p, nil
}

func (s *slot) begin(r *rig, called string, cmd *exec.Cmd) (*process, error) {
	p, err := r.exits.begin(s.name, cmd)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process, s.called = p, called
	return p, nil
}

func (s *slot) clear(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == p {
		s.process = nil
	}
}

// kill kills what runs, and reports whether something did.
func (s *slot) kill() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil || s.spared {
		return false
	}
	s.process.kill()
	return true
}

// works says who has which work now. It fails while who knows is away.
type works func() (map[string]string, error)

// of gives what a worker has.
func (w works) of(name string) (its []string) {
	now, err := w()
	if err != nil {
		return nil
	}
	for work, worker := range now {
		if worker == name {
			its = append(its, work)
		}
	}
	return its
}

// taken reports whether a worker has nothing any more, and others have something that it had.
func (w works) taken(name string, had []string) bool {
	now, err := w()
	if err != nil {
		return false
	}
	for _, worker := range now {
		if worker == name {
			return false
		}
	}
	for _, work := range had {
		if now[work] != "" {
			return true
		}
	}
	return false
}

// freeze stops what runs, if it has work, until others have taken that, then lets it go on and spares
// it for a while. zombie: it was alive and frozen when its work was taken. tried is false where nothing
// was frozen.
func (s *slot) freeze(w works, within, after time.Duration) (zombie, tried bool) {
	s.mu.Lock()
	p, name := s.process, s.called
	if p == nil || s.spared {
		s.mu.Unlock()
		return false, false
	}
	s.spared = true
	s.mu.Unlock()
	had := w.of(name)
	if len(had) > 0 {
		tried = true
		p.freeze()
		for deadline := time.Now().Add(within); time.Now().Before(deadline) && !zombie; time.Sleep(2 * look) {
			zombie = w.taken(name, had) && p.frozen()
		}
		p.wake()
		time.Sleep(after)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spared = false
	return zombie, tried
}
