package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/steno-io/steno/ingest/group"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// Bounds of terminals.
const (
	maxTerminals = 32          // that are not released
	maxOutput    = 1 << 20     // bytes that are kept of the output of one, also by default
	lastOutput   = time.Second // for the output of what an ended command has left behind
)

// terminal is a command that runs for the agent, in a process group of its own.
type terminal struct {
	leader *group.Leader
	output *os.File // our end
	screen *screen
	exited chan struct{}
	how    syscall.WaitStatus // once it has exited
	lost   error              // likewise: why nobody knows how
	done   chan struct{}      // it has exited, and its output is on the screen
	copied chan struct{}      // nobody can write to its output any more
}

// create starts a command inside the directory. What the command does then, it does with the rights of
// this process.
func (h *host) create(params jsontree.Value) (any, *failure) {
	cmd, bad := h.command(params)
	if bad != nil {
		return nil, bad
	}
	limit, ok := count(params.Get("outputByteLimit"), maxOutput)
	if !ok {
		return nil, refuse(acp.CodeInvalidParams, "outputByteLimit: want a number")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return nil, refuse(acp.CodeInternal, "the run has ended: no terminal is opened any more")
	}
	if len(h.terminals) >= maxTerminals {
		return nil, refuse(acp.CodeInternal, "%d terminals are not released yet, at most %d", len(h.terminals), maxTerminals)
	}
	t, err := startTerminal(cmd, int(min(limit, maxOutput)))
	if err != nil {
		return nil, trouble(err)
	}
	h.made++
	id := "terminal-" + strconv.Itoa(h.made)
	h.terminals[id] = t
	return object{"terminalId": id}, nil
}

func (h *host) command(params jsontree.Value) (*exec.Cmd, *failure) {
	name, ok := params.Get("command").Text()
	if !ok || name == "" {
		return nil, refuse(acp.CodeInvalidParams, "command: want a string")
	}
	cmd := exec.Command(name)
	for v := range params.Get("args").Children() {
		arg, ok := v.Text()
		if !ok {
			return nil, refuse(acp.CodeInvalidParams, "args: want strings")
		}
		cmd.Args = append(cmd.Args, arg)
	}
	cmd.Env = h.env[:len(h.env):len(h.env)]
	for v := range params.Get("env").Children() {
		name, ok := v.Get("name").Text()
		value, ok2 := v.Get("value").Text()
		if !ok || !ok2 {
			return nil, refuse(acp.CodeInvalidParams, "env: want objects of name and value")
		}
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Dir = h.real
	if dir := params.Get("cwd"); dir.Given() {
		place, bad := h.inside(dir)
		if bad != nil {
			return nil, bad
		}
		real, err := filepath.EvalSymlinks(filepath.Join(h.real, place))
		if err != nil {
			return nil, trouble(err)
		}
		if inner, err := filepath.Rel(h.real, real); err != nil || !filepath.IsLocal(inner) {
			return nil, refuse(acp.CodeInvalidParams, "%s leads out of %s", place, h.cwd)
		}
		cmd.Dir = real
	}
	return cmd, nil
}

func startTerminal(cmd *exec.Cmd, limit int) (*terminal, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	leader, err := group.Start(cmd)
	if err != nil {
		return nil, errors.Join(err, r.Close(), w.Close())
	}
	_ = w.Close() // the command has its own
	t := &terminal{
		leader: leader, output: r, screen: &screen{limit: limit},
		exited: make(chan struct{}), done: make(chan struct{}), copied: make(chan struct{}),
	}
	go func() {
		defer close(t.copied)
		_, _ = io.Copy(t.screen, r) // it ends when nobody writes any more, or nobody may
	}()
	go func() {
		defer close(t.done)
		t.how, t.lost = leader.Exited()
		close(t.exited)
		select {
		case <-t.copied:
		case <-time.After(lastOutput): // somebody else holds its output, and may go on
		}
	}()
	return t, nil
}

// kill kills the command and all that it has started.
func (t *terminal) kill() { t.leader.Signal(syscall.SIGKILL) }

// end kills all and waits for it.
func (t *terminal) end() {
	t.kill()
	<-t.exited
	t.kill()               // what it started meanwhile
	_ = t.leader.Release() // what was lost of it, its status says
	_ = t.output.Close()   // it was only read
	<-t.done
}

// status is how the command ended; nil while it runs.
func (t *terminal) status() object {
	select {
	case <-t.done:
	default:
		return nil
	}
	status := object{"exitCode": nil, "signal": nil}
	switch {
	case t.lost != nil: // neither is known
	case t.how.Signaled():
		status["signal"] = unix.SignalName(t.how.Signal())
	default:
		status["exitCode"] = t.how.ExitStatus()
	}
	return status
}

// wait answers when the command has ended, or ctx has: the agent does not wait any more.
func (t *terminal) wait(ctx context.Context) (any, *failure) {
	select {
	case <-t.done:
		return t.status(), nil
	case <-ctx.Done():
		return nil, cancelledOnRequest()
	}
}

// terminal finds the one that a request names.
func (h *host) terminal(params jsontree.Value) (*terminal, *failure) {
	id, _ := params.Get("terminalId").Text()
	h.mu.Lock()
	defer h.mu.Unlock()
	if t, ok := h.terminals[id]; ok {
		return t, nil
	}
	return nil, refuse(acp.CodeResourceNotFound, "there is no terminal %s", cut(params.Get("terminalId").Raw()))
}

func (h *host) output(params jsontree.Value) (any, *failure) {
	t, bad := h.terminal(params)
	if bad != nil {
		return nil, bad
	}
	status := t.status() // before the text, which is whole then
	text, truncated := t.screen.text(status == nil)
	answer := object{"output": text, "truncated": truncated}
	if status != nil {
		answer["exitStatus"] = status
	}
	return answer, nil
}

func (h *host) kill(params jsontree.Value) (any, *failure) {
	t, bad := h.terminal(params)
	if bad != nil {
		return nil, bad
	}
	t.kill()
	return object{}, nil
}

func (h *host) release(params jsontree.Value) (any, *failure) {
	t, bad := h.terminal(params)
	if bad != nil {
		return nil, bad
	}
	id, _ := params.Get("terminalId").Text()
	h.mu.Lock()
	delete(h.terminals, id)
	h.mu.Unlock()
	t.end()
	return object{}, nil
}

// killAll ends all terminals; none is made afterwards.
func (h *host) killAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	for id, t := range h.terminals {
		delete(h.terminals, id)
		t.end()
	}
}
