package tap

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

var errDisk = errors.New("disk on fire")

// A chunk that could not be kept is not passed on, and nothing after it; refused, or kept with the
// answer lost, is the same to the conversation.
func TestJournalFails(t *testing.T) {
	for _, stored := range []bool{false, true} {
		for _, side := range []schema.From{schema.FromClient, schema.FromAgent} {
			j := &memory{}
			j.appending = func(_ context.Context, from schema.From, b []byte) error {
				if from != side || !strings.Contains(string(b), "bad") {
					return nil
				}
				if stored {
					j.keep(from, b)
				}
				return errDisk
			}
			c := runTap(t, j, "lines")
			_, err := c.stdin.WriteString("good\n")
			require.NoError(t, err)
			require.Equal(t, "good", c.line())
			rest := all(c.stdout)
			_, err = c.stdin.WriteString("bad\n")
			require.NoError(t, err)
			_, err = c.wait()
			require.ErrorIs(t, err, errDisk)
			require.ErrorContains(t, err, "record 4 bytes from "+string(side))
			require.Empty(t, <-rest)
			require.Len(t, j.closed, 1)
			require.Contains(t, j.closed[0].Error, "disk on fire")
		}
	}
}

func TestCloseCannotBeRecorded(t *testing.T) {
	c := runTap(t, &memory{closing: errDisk}, "exit", "3")
	r, err := c.wait()
	require.ErrorIs(t, err, errDisk)
	require.Equal(t, 3, r.ExitCode)
}

// A full journal holds the conversation; the end of ctx ends it all the same.
func TestJournalHoldsTheConversation(t *testing.T) {
	held := make(chan struct{})
	j := &memory{appending: func(ctx context.Context, _ schema.From, _ []byte) error {
		close(held)
		<-ctx.Done()
		return ctx.Err()
	}}
	c := runTap(t, j, "echo")
	_, err := c.stdin.WriteString("x")
	require.NoError(t, err)
	<-held
	c.cancel(errors.New("the user gave up"))
	r, err := c.wait()
	require.ErrorContains(t, err, "the user gave up")
	require.Contains(t, []string{"", "SIGTERM"}, r.Signal) // it may see the end of its input first
	require.Contains(t, j.closed[0].Error, "the user gave up")
}

// A full journal holds back what the client says; the agent goes meanwhile. Nobody waits for room then.
func TestAgentExitsWhileInputIsHeld(t *testing.T) {
	j := &memory{appending: func(ctx context.Context, from schema.From, _ []byte) error {
		if from != schema.FromClient {
			return nil
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}}
	c := runTap(t, j, "exit", "3")
	_, err := c.stdin.WriteString("hello")
	require.NoError(t, err)
	r, err := c.wait()
	require.Equal(t, 3, r.ExitCode)
	if err != nil { // unless the agent was gone before the tap had read it
		require.ErrorContains(t, err, "record 5 bytes from client: the agent has exited")
	}
}

func TestStubbornAgentIsKilled(t *testing.T) {
	c := runTap(t, &memory{}, "stubborn")
	require.Equal(t, "ready", c.line())
	c.cancel(errors.New("enough"))
	r, err := c.wait()
	require.ErrorContains(t, err, "enough")
	require.Equal(t, "SIGKILL", r.Signal)
}

// A grandchild holds the agent's output open: the tap waits for its grace, passes on what was
// written, and ends.
func TestGrandchildHoldsTheOutput(t *testing.T) {
	j := &memory{}
	c := runTap(t, j, "parent")
	out, errs := all(c.stdout), all(c.stderr)
	r, err := c.wait()
	require.NoError(t, err)
	require.Equal(t, 4, r.ExitCode)
	require.Len(t, <-out, moreThanAPipe)
	require.Len(t, j.kept(schema.FromAgent), moreThanAPipe)
	pid, err := strconv.Atoi(strings.TrimSpace(<-errs))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

// The agent has exited and its last output waits in the pipes for a client that reads slowly: all of
// it arrives, whatever the grace.
func TestSlowClientGetsEverything(t *testing.T) {
	j := &memory{}
	c := runTap(t, j, "parent")
	pid := make([]byte, 20)
	n, err := c.stderr.Read(pid) // the agent has written everything
	require.NoError(t, err)
	select {
	case <-c.done:
		require.FailNow(t, "the tap did not wait for its client")
	case <-time.After(5 * graceInTests):
	}
	out := all(c.stdout)
	r, err := c.wait()
	require.NoError(t, err)
	require.Equal(t, 4, r.ExitCode)
	require.Len(t, <-out, moreThanAPipe)
	child, err := strconv.Atoi(strings.TrimSpace(string(pid[:n])))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(child, syscall.SIGKILL))
}
