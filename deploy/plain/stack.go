package plain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Options of a stack.
type Options struct {
	Compose   string            // path of the Compose file
	Dir       string            // where volumes and logs go
	Variables map[string]string // of the Compose file
	Programs  map[string]string // by the first word of a command; "steno" runs what the file builds
	// Elsewhere are addresses of services that the caller started, by host:port as the file names them.
	Elsewhere map[string]string
	Only      []string // services to start, for a suite that needs no others; none: all
	// RestartAfter is how long a process that ended stays down, where the file has it restarted.
	RestartAfter time.Duration
}

// Stack is the file's services, running.
type Stack struct {
	o        Options
	file     *File
	addr     *addresses
	services map[string]*process
	stop     context.CancelFunc
}

// Start starts all services, each after what it depends on, and returns once all run and those that run
// once have ended well. Stop ends them, also after an error.
func Start(ctx context.Context, o Options) (*Stack, error) {
	s, err := newStack(o)
	if err != nil {
		return s, err
	}
	running, stop := context.WithCancel(context.Background())
	s.stop = stop
	order, err := s.file.order()
	if err != nil {
		return s, err
	}
	for _, name := range order {
		p := s.services[name]
		if p == nil {
			continue // elsewhere, or not asked for
		}
		if err := s.await(ctx, s.file.Services[name].DependsOn); err != nil {
			return s, fmt.Errorf("start %s: %w", name, err)
		}
		p.begin(running)
	}
	for _, name := range order {
		if p := s.services[name]; p != nil && p.once() {
			if err := p.done(ctx); err != nil {
				return s, fmt.Errorf("run %s: %w", name, err)
			}
		}
	}
	return s, nil
}

func newStack(o Options) (*Stack, error) {
	s := &Stack{o: o, services: map[string]*process{}, stop: func() {}}
	var err error
	if s.file, err = Read(o.Compose, func(name string) string { return o.Variables[name] }); err != nil {
		return s, err
	}
	s.addr = newAddresses(s.file, o.Elsewhere)
	for name, service := range s.file.Services {
		if s.addr.elsewhere(name) || len(o.Only) > 0 && !slices.Contains(o.Only, name) {
			continue
		}
		if s.services[name], err = s.process(name, service); err != nil {
			return s, fmt.Errorf("service %s: %w", name, err)
		}
	}
	return s, nil
}

// process is what a service is as a process: its paths and addresses are those of this machine.
func (s *Stack) process(name string, service *Service) (*process, error) {
	command := slices.Clone(service.Command)
	if service.Build != nil {
		command = append([]string{"steno"}, command...)
	}
	if len(command) == 0 || s.o.Programs[command[0]] == "" {
		return nil, fmt.Errorf("command %q: no program is given for it", command)
	}
	command[0] = s.o.Programs[command[0]]
	paths, err := s.mounts(service)
	if err != nil {
		return nil, err
	}
	here := func(text string) (string, error) { return s.addr.here(name, paths.here(text)) }
	p := &process{
		name: name, restart: service.Restart, after: s.o.RestartAfter, log: filepath.Join(s.o.Dir, name+".log"),
		completed: make(chan error, 1), ended: make(chan struct{}),
		env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.o.Dir},
	}
	for _, word := range command {
		word, err := here(word)
		if err != nil {
			return nil, err
		}
		p.command = append(p.command, word)
	}
	for key, value := range service.Environment {
		value, err := here(value)
		if err != nil {
			return nil, err
		}
		p.env = append(p.env, key+"="+value)
	}
	if service.Healthcheck == nil {
		return p, nil
	}
	for _, word := range service.Healthcheck.Test {
		if strings.HasPrefix(word, "http://") {
			p.health, err = here(word)
		}
	}
	return p, err
}

// await waits for what a service depends on.
func (s *Stack) await(ctx context.Context, conditions map[string]Condition) error {
	for name, c := range conditions {
		p := s.services[name]
		if p == nil {
			continue // not ours
		}
		var err error
		switch c.Condition {
		case "service_healthy":
			err = p.healthy(ctx)
		case "service_completed_successfully":
			err = p.done(ctx)
		default:
			err = fmt.Errorf("condition %q is not known here", c.Condition)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// Address is where the address that the file writes as host:port is here.
func (s *Stack) Address(hostport string) (string, error) { return s.addr.here("", hostport) }

// Kill ends a service's process as the loss of its machine would; it is started again, if the file says
// so.
func (s *Stack) Kill(name string) error {
	p := s.services[name]
	if p == nil {
		return fmt.Errorf("kill %s: no such process", name)
	}
	return p.kill()
}

// Healthy waits until a service's health check passes.
func (s *Stack) Healthy(ctx context.Context, name string) error {
	p := s.services[name]
	if p == nil {
		return fmt.Errorf("wait for %s: no such process", name)
	}
	return p.healthy(ctx)
}

// Stop ends all processes, those first that depend on others.
func (s *Stack) Stop() error {
	s.stop()
	if s.file == nil {
		return nil
	}
	order, err := s.file.order()
	slices.Reverse(order)
	for _, name := range order {
		if p := s.services[name]; p != nil {
			err = errors.Join(err, p.end())
		}
	}
	return err
}

// Logs are what the services wrote, for a suite that failed.
func (s *Stack) Logs() string {
	var b strings.Builder
	for name := range s.services {
		text, err := os.ReadFile(filepath.Join(s.o.Dir, name+".log"))
		if err == nil && len(text) > 0 {
			fmt.Fprintf(&b, "== %s\n%s", name, text[max(0, len(text)-4000):])
		}
	}
	return b.String()
}

// order gives the services, each behind what it depends on.
func (f *File) order() (names []string, err error) {
	seen := map[string]bool{}
	var visit func(name string, above []string) error
	visit = func(name string, above []string) error {
		service := f.Services[name]
		if service == nil || slices.Contains(above, name) {
			return fmt.Errorf("service %s, which %s depends on: it is not there, or depends on it", name, above[len(above)-1])
		}
		if seen[name] {
			return nil
		}
		seen[name] = true
		for _, on := range sorted(service.DependsOn) {
			if err := visit(on, append(above, name)); err != nil {
				return err
			}
		}
		names = append(names, name)
		return nil
	}
	for _, name := range sorted(f.Services) {
		if err := visit(name, nil); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// Names are the services that run here.
func (s *Stack) Names() []string { return sorted(s.services) }
