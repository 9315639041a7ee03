package tap

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
)

// roleEnv makes the test binary an agent or a tap in a process of its own.
const roleEnv = "STENO_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "":
		os.Exit(m.Run())
	case "agent":
		os.Exit(playAgent(os.Args[1], os.Args[2:]))
	case "tap":
		os.Exit(playTap(os.Args[1], os.Args[2:]))
	}
	os.Exit(99)
}

const (
	graceInTests = 100 * time.Millisecond
	// moreThanAPipe is what a client's pipe does not hold, and that and the agent's together do.
	moreThanAPipe = 110_000
)

func agentCommand(args ...string) []string { return append([]string{os.Args[0]}, args...) }

func agentEnv() []string { return append(os.Environ(), roleEnv+"=agent") }

// playTap taps an agent on the process's own stdio with a real journal in dir.
func playTap(dir string, agent []string) int {
	w, err := journal.Create(journal.Options{Dir: dir, Head: journal.Head{
		Identity: schema.Identity{Namespace: "default", Workflow: "w", Run: "r", Attempt: 1},
		Open:     schema.OpenInfo{Protocol: schema.ACP},
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 70
	}
	r, err := Run(context.Background(), Options{
		Command: agentCommand(agent...), Env: agentEnv(), Journal: w, Grace: graceInTests,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err := w.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 71
	}
	return r.ExitCode
}

// playAgent is the small agent of the tests.
func playAgent(what string, args []string) int {
	switch what {
	case "echo":
		if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
			return 1
		}
	case "exit":
		code, _ := strconv.Atoi(args[0])
		return code
	case "die":
		number, _ := strconv.Atoi(args[0])
		signal.Reset()
		_ = syscall.Kill(os.Getpid(), syscall.Signal(number))
		time.Sleep(time.Minute)
	case "tally": // answers only once its input has ended
		n, _ := io.Copy(io.Discard, os.Stdin)
		fmt.Printf("%s\n%d bytes", strings.Repeat("x", 1<<20), n)
	case "both":
		for i := range 1000 {
			fmt.Printf("out %d\n", i)
			fmt.Fprintf(os.Stderr, "err %d\n", i)
		}
	case "early": // closes its output, works on
		fmt.Println("bye")
		_ = os.Stdout.Close()
		_, _ = io.Copy(io.Discard, os.Stdin)
		fmt.Fprintln(os.Stderr, "still here")
		return 7
	case "deaf": // closes its input, works on until it is told to end
		_ = os.Stdin.Close()
		fmt.Println("closed")
		return waitSignal(nil, nil)
	case "flood":
		for {
			if _, err := os.Stdout.Write(make([]byte, 1000)); err != nil {
				return 9
			}
		}
	case "parent": // leaves a child behind that holds its output
		child := exec.Command(os.Args[0], "linger")
		child.Env, child.Stdout, child.Stderr = os.Environ(), os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			return 1
		}
		fmt.Print(strings.Repeat("y", moreThanAPipe))
		fmt.Fprintln(os.Stderr, child.Process.Pid)
		return 4
	case "linger":
		time.Sleep(time.Minute)
	case "full": // exits with more behind it than a pipe holds
		signal.Ignore(syscall.SIGTERM)
		fmt.Print(strings.Repeat("z", moreThanAPipe))
		return 6
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		time.Sleep(time.Minute) // not for ever: without cgo the runtime ends a process in which nobody can wake
	case "signals":
		return waitSignal(func() { fmt.Println("ready") }, args)
	case "eof": // leaves word of how its input ended
		first := make([]byte, 100)
		n, _ := os.Stdin.Read(first)
		_, _ = os.Stdout.Write(first[:n])
		rest, err := io.ReadAll(os.Stdin)
		if err := os.WriteFile(args[0]+".new", fmt.Appendf(nil, "%q %v", rest, err), 0o600); err != nil {
			return 1
		}
		_ = os.Rename(args[0]+".new", args[0])
	case "lines":
		in := bufio.NewReader(os.Stdin)
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return 0
			}
			if _, err := os.Stdout.Write(line); err != nil {
				return 1
			}
		}
	default:
		return 98
	}
	return 0
}

// waitSignal tells every signal that it gets, first in a file if one is named, and ends at SIGTERM.
func waitSignal(ready func(), word []string) int {
	c := make(chan os.Signal, 10)
	signal.Notify(c, passed...)
	if ready != nil {
		ready()
	}
	for s := range c {
		if len(word) > 0 {
			if err := os.WriteFile(word[0], []byte(signalName(s.(syscall.Signal))), 0o600); err != nil {
				return 1
			}
		}
		fmt.Println(signalName(s.(syscall.Signal)))
		if s == syscall.SIGTERM {
			return 5
		}
	}
	return 1
}
