package tap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// said is what a test lets into the agent's input.
func said(line string) func() ([]byte, any, error) {
	return func() ([]byte, any, error) { return []byte(line + "\n"), line, nil }
}

// opened waits until the agent takes input.
func (i *Inlet) opened(t *testing.T) {
	t.Helper()
	require.Eventually(t, i.Open, 20*time.Second, time.Millisecond)
}

func (i *Inlet) waiters() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.waiting)
}

func TestALineOfOthersStandsBetweenTheClients(t *testing.T) {
	t.Parallel()
	j, inlet := &memory{}, &Inlet{}
	require.ErrorIs(t, inlet.Say(t.Context(), said("too early")), ErrNoInput)
	c := runTapWith(t, Options{Journal: j, Inlet: inlet}, "lines")
	inlet.opened(t)
	require.NoError(t, inlet.Say(t.Context(), said("ours, first")))
	require.Equal(t, "ours, first", c.line())

	_, err := c.stdin.WriteString("one\nhal")
	require.NoError(t, err)
	require.Equal(t, "one", c.line())
	done := make(chan error, 2)
	for _, line := range []string{"ours", "ours"} {
		go func() { done <- inlet.Say(t.Context(), said(line)) }()
	}
	require.Eventually(t, func() bool { return inlet.waiters() == 2 }, 20*time.Second, time.Millisecond)
	_, err = c.stdin.WriteString("f\nlast\nthe rest")
	require.NoError(t, err)
	for _, want := range []string{"half", "ours", "ours", "last"} {
		require.Equal(t, want, c.line())
	}
	require.NoError(t, errors.Join(<-done, <-done))

	hurried, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, inlet.Say(hurried, said("never")), ErrInputHeld)
	refused := errors.New("not now")
	_, err = c.stdin.WriteString("\n")
	require.NoError(t, err)
	require.Equal(t, "the rest", c.line())
	require.ErrorIs(t, inlet.Say(t.Context(), func() ([]byte, any, error) { return nil, nil, refused }), refused)

	require.NoError(t, c.stdin.Close())
	_, err = c.wait()
	require.NoError(t, err)
	require.ErrorIs(t, inlet.Say(t.Context(), said("too late")), ErrNoInput)
	require.Equal(t, []string{`"ours, first"`, `"ours"`, `"ours"`}, j.ours, "what was not said is not recorded")
	require.Equal(t, "one\nhalf\nlast\nthe rest\n", j.kept(schema.FromClient), "what the client said is kept as it was")
}

// Nothing is recorded for an agent that does not read, nor for one that is gone.
func TestNoPlaceForALine(t *testing.T) {
	t.Parallel()
	j, inlet := &memory{}, &Inlet{}
	c := runTapWith(t, Options{Journal: j, Inlet: inlet}, "stubborn")
	require.Equal(t, "ready", c.line())
	stdin := c.stdin
	go func() { _, _ = stdin.WriteString(strings.Repeat("x", moreThanAPipe) + "\n") }() // the tap's end breaks it off
	require.Eventually(t, func() bool { return len(j.kept(schema.FromClient)) > chunk }, 20*time.Second, time.Millisecond)
	hurried, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, inlet.Say(hurried, said("never")), ErrInputHeld)
	waiting := make(chan error, 1)
	go func() { waiting <- inlet.Say(t.Context(), said("never")) }()
	require.Eventually(t, func() bool { return inlet.waiters() == 1 }, 20*time.Second, time.Millisecond)
	c.cancel(errors.New("enough"))
	_, err := c.wait()
	require.Error(t, err)
	require.ErrorIs(t, <-waiting, ErrNoInput)

	deaf := &Inlet{}
	c = runTapWith(t, Options{Journal: j, Inlet: deaf}, "deaf")
	require.Equal(t, "closed", c.line())
	require.ErrorIs(t, deaf.Say(t.Context(), said("never")), ErrNoInput)
	c.cancel(errors.New("enough"))
	_, err = c.wait()
	require.Error(t, err)
	require.Empty(t, j.ours)
}

// An agent that goes away between the record of a line and the line is told of as such.
func TestALineThatWasRecordedAndNotWritten(t *testing.T) {
	t.Parallel()
	j, inlet := &memory{}, &Inlet{}
	c := runTapWith(t, Options{Journal: j, Inlet: inlet}, "lines")
	inlet.opened(t)
	require.ErrorIs(t, inlet.Say(t.Context(), func() ([]byte, any, error) {
		c.cancel(errors.New("enough"))
		<-all(c.stdout) // it is closed when everything has been told to end
		return []byte("never\n"), "never", nil
	}), ErrUnwritten)
	_, err := c.wait()
	require.Error(t, err)
	require.Equal(t, []string{`"never"`}, j.ours)
	require.Empty(t, j.kept(schema.FromAgent))
}

// Whoever ends the conversation, a line that waits for room in the journal does not hold the end up.
func TestALineWithoutRoomEndsWithTheConversation(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(c *tapped, signals chan<- os.Signal){
		"the agent leaves":       func(_ *tapped, signals chan<- os.Signal) { signals <- syscall.SIGTERM },
		"the client leaves":      func(c *tapped, _ chan<- os.Signal) { _ = c.stdin.Close() },
		"the tap is told to end": func(c *tapped, _ chan<- os.Signal) { c.cancel(errors.New("enough")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waits, inlet, signals := make(chan struct{}), &Inlet{}, make(chan os.Signal)
			j := &memory{saying: func(ctx context.Context) error {
				close(waits)
				<-ctx.Done() // as a journal that is full
				return context.Cause(ctx)
			}}
			c := runTapWith(t, Options{Journal: j, Inlet: inlet, Signals: signals}, "lines")
			inlet.opened(t)
			done := make(chan error, 1)
			go func() { done <- inlet.Say(t.Context(), said("never")) }()
			<-waits
			end(c, signals)
			_, _ = c.wait() // how it ends is another matter
			require.ErrorIs(t, <-done, ErrNoInput)
			require.Empty(t, j.ours)
		})
	}
}

// However both sides race, each line comes whole, and each once.
func TestLinesOfOthersRaceTheClients(t *testing.T) {
	t.Parallel()
	const each, talkers = 150, 4
	inlet := &Inlet{}
	var mu sync.Mutex
	seen := 0
	c := runTapWith(t, Options{Journal: &memory{}, Inlet: inlet, Watch: func(_ schema.From, b []byte) {
		mu.Lock()
		defer mu.Unlock()
		seen += len(b)
	}}, "echo")
	out := all(c.stdout)
	inlet.opened(t)
	var want []string
	var talk sync.WaitGroup
	for n := range talkers {
		for i := range each {
			want = append(want, fmt.Sprintf("other %d %d", n, i))
		}
		talk.Go(func() {
			for i := range each {
				if err := inlet.Say(t.Context(), said(fmt.Sprintf("other %d %d", n, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	client := 0
	for i := range each {
		line := fmt.Sprintf("client %d %s", i, strings.Repeat("c", i*7))
		want = append(want, line)
		line += "\n"
		client += len(line)
		for len(line) > 0 {
			n := min(len(line), 40)
			_, err := c.stdin.WriteString(line[:n])
			require.NoError(t, err)
			line = line[n:]
		}
	}
	talk.Wait()
	require.NoError(t, c.stdin.Close())
	_, err := c.wait()
	require.NoError(t, err)
	text := <-out
	got := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	slices.Sort(got)
	slices.Sort(want)
	require.Equal(t, want, got)
	require.Equal(t, client+len(text), seen, "what the client says, and all that the agent says")
}
