// Package tmuxtest runs programs in a real terminal: tmux, with a server of its own for each.
package tmuxtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// within is how long a screen may take to show what is waited for.
const within = 30 * time.Second

// Terminal is a terminal with a program in it. It ends with its test.
type Terminal struct {
	t      *testing.T
	socket string
	shots  int
}

// Start starts a shell in a terminal of so many columns and rows; its prompt is "$ ". env is added to its
// surroundings, as k=v.
func Start(t *testing.T, width, height int, env ...string) *Terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("tests need tmux; Debian, Ubuntu: apt-get install -y --no-install-recommends tmux")
	}
	dir, err := os.MkdirTemp("", "steno-tmux") // short: the path of a socket is
	if err != nil {
		t.Fatal(err)
	}
	x := &Terminal{t: t, socket: filepath.Join(dir, "s")}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	x.serve()
	rc := filepath.Join(dir, "rc")
	if err := os.WriteFile(rc, []byte("PS1='$ '\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height)}
	for _, v := range append([]string{"TERM=screen-256color"}, env...) {
		args = append(args, "-e", v)
	}
	x.run(append(args, "bash --noprofile --rcfile "+rc)...)
	x.Await("$")
	return x
}

// serve runs tmux's server as a child of the test's, and waits until it answers. It ends with the test, and with the
// test binary however that one ends.
func (x *Terminal) serve() {
	x.t.Helper()
	server := exec.Command("tmux", "-S", x.socket, "-f", "/dev/null", "-D")
	server.SysProcAttr = endWithParent()
	started, ended := make(chan error), make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the signal at the parent's end is that of the thread which started it
		err := server.Start()
		started <- err
		if err == nil {
			ended <- server.Wait()
		}
	}()
	if err := <-started; err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM) // it may have ended
		<-ended
	})
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) { // until it has its socket
		out, err := x.try("list-sessions")
		if err == nil {
			return
		}
		if time.Since(began) > within {
			x.t.Fatalf("tmux does not answer: %v: %s", err, out)
		}
	}
}

// Type types text as it is.
func (x *Terminal) Type(text string) {
	x.t.Helper()
	x.run("send-keys", "-l", "--", text)
}

// Keys presses keys by tmux's names, such as Enter, Up, C-c.
func (x *Terminal) Keys(keys ...string) {
	x.t.Helper()
	x.run(append([]string{"send-keys"}, keys...)...)
}

// Enter types a line.
func (x *Terminal) Enter(text string) {
	x.t.Helper()
	x.Type(text)
	x.Keys("Enter")
}

// Resize changes the terminal's size.
func (x *Terminal) Resize(width, height int) {
	x.t.Helper()
	x.run("resize-window", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
}

// Screen is what stands on the screen.
func (x *Terminal) Screen() string {
	x.t.Helper()
	return x.run("capture-pane", "-p")
}

// Dressed is Screen with the sequences that give colours.
func (x *Terminal) Dressed() string {
	x.t.Helper()
	return x.run("capture-pane", "-p", "-e")
}

// Is gives a variable of tmux for the terminal, such as alternate_on.
func (x *Terminal) Is(variable string) string {
	x.t.Helper()
	return strings.TrimSpace(x.run("display-message", "-p", "#{"+variable+"}"))
}

// Await waits until all parts stand on the screen, and gives the screen, which is kept.
func (x *Terminal) Await(parts ...string) string {
	x.t.Helper()
	return x.AwaitThat("shows "+strings.Join(parts, ", "), func(screen string) bool {
		for _, part := range parts {
			if !strings.Contains(screen, part) {
				return false
			}
		}
		return true
	})
}

// AwaitThat waits until the screen is as is said, and gives it. It is kept.
func (x *Terminal) AwaitThat(said string, is func(screen string) bool) string {
	x.t.Helper()
	for began := time.Now(); ; {
		screen := x.Screen()
		if is(screen) {
			x.keep(screen)
			return screen
		}
		if time.Since(began) > within {
			x.t.Fatalf("the screen never %s; it is\n%s", said, screen)
		}
		time.Sleep(50 * time.Millisecond) // tmux tells nobody that a screen has changed
	}
}

// keep keeps a screen among the test's artifacts.
func (x *Terminal) keep(screen string) {
	x.t.Helper()
	x.shots++
	path := filepath.Join(x.t.ArtifactDir(), fmt.Sprintf("screen-%02d.txt", x.shots))
	if err := os.WriteFile(path, []byte(screen), 0o600); err != nil {
		x.t.Fatal(err)
	}
	x.t.Logf("screen %d\n%s", x.shots, screen)
}

func (x *Terminal) run(args ...string) string {
	x.t.Helper()
	out, err := x.try(args...)
	if err != nil {
		x.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return out
}

func (x *Terminal) try(args ...string) (string, error) {
	out, err := exec.Command("tmux", append([]string{"-N", "-S", x.socket}, args...)...).CombinedOutput()
	return string(out), err
}
