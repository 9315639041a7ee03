//go:build faults

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"github.com/steno-io/steno/deploy/plain"
)

// process is one that runs, or ran.
type process struct {
	name  string
	log   string
	proc  *os.Process
	ended chan struct{} // closed when it has ended
	state *os.ProcessState
}

// exits notes how processes ended.
type exits struct {
	dir string

	mu     sync.Mutex
	starts map[string]int
	killed map[string]int // by SIGKILL, by the kind of process
	failed []string       // those that ended by themselves and not well
}

// kind is a process's name without its number.
func kind(name string) string { return strings.TrimRight(name, "-0123456789") }

// begin starts a process; what it says goes to the log of its name. It ends with the suite.
func (e *exits) begin(name string, cmd *exec.Cmd) (*process, error) {
	p := &process{name: name, log: filepath.Join(e.dir, name+".log"), ended: make(chan struct{})}
	e.mu.Lock()
	e.starts[kind(name)]++
	e.mu.Unlock()
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // the process has its own
	if cmd.Stdout == nil {
		cmd.Stdout = log
	}
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	plain.EndWithParent(cmd.SysProcAttr)
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the signal at the parent's end is that of the thread which started it
		defer close(p.ended)
		err := cmd.Start()
		p.proc = cmd.Process
		started <- err
		if err != nil {
			return
		}
		err = cmd.Wait()
		p.state = cmd.ProcessState
		e.end(p, err)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

func (e *exits) end(p *process, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case p.killed():
		e.killed[kind(p.name)]++
	case err != nil:
		e.failed = append(e.failed, fmt.Sprintf("%s: %v: %s", p.name, err, lastLine(p.log)))
	}
}

// killed reports whether SIGKILL was its end.
func (p *process) killed() bool {
	status, ok := p.state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

func (p *process) kill()   { _ = p.proc.Kill() }                  // it may have ended
func (p *process) stop()   { _ = p.proc.Signal(syscall.SIGTERM) } // likewise
func (p *process) freeze() { _ = p.proc.Signal(syscall.SIGSTOP) }
func (p *process) wake()   { _ = p.proc.Signal(syscall.SIGCONT) }

// frozen reports whether the process is stopped, as the system says.
func (p *process) frozen() bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.proc.Pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.HasPrefix(rest, "T")
}

func lastLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// crashes is how many processes were ended by SIGKILL, of all kinds but one.
func (e *exits) crashes(but string) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for kind, killed := range e.killed {
		if kind != but {
			n += killed
		}
	}
	return n
}

// count is how many processes of a kind were ended by SIGKILL.
func (e *exits) count(kind string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.killed[kind]
}
