package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

var began = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

var acp = schema.OpenInfo{Protocol: schema.ACP, Labels: map[string]string{"team": "oats"}}

func minute(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// rig is a site on a server of its own.
type rig struct {
	*natstest.Server
	Site
	retried chan error
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{Server: natstest.Start(t), retried: make(chan error, 100)}
	r.Site = Site{Dir: t.TempDir(), Conn: r.NC, Destination: r.URL(), Retry: func(err error) { r.retried <- err }}
	return r
}

func named(run string) schema.Identity {
	return schema.Identity{Namespace: "default", Workflow: "mill", Run: run, Attempt: 1}
}

func (r *rig) open(t *testing.T, run string) *Capture {
	t.Helper()
	c, err := r.Open(named(run), began, acp)
	require.NoError(t, err)
	return c
}

// stored are a capture's frames, as side:data.
func (r *rig) stored(t *testing.T, id schema.Identity) (lines []string) {
	t.Helper()
	blobs, err := topology.OpenBlobs(minute(t), r.JS)
	require.NoError(t, err)
	for f, err := range (topology.Frames{JS: r.JS, Blobs: blobs, Partitions: r.Info.Partitions}).Frames(minute(t), id, 1) {
		require.NoError(t, err)
		require.EqualValues(t, len(lines)+1, f.Seq)
		lines = append(lines, string(f.From)+":"+string(f.Data))
	}
	return lines
}

// running runs a capture until it is told to end.
func running(t *testing.T, c *Capture) (end func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(minute(t))
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	return func() error { cancel(); return <-done }
}

func write(t *testing.T, c *Capture, from schema.From, frame string) {
	t.Helper()
	require.NoError(t, c.Write(minute(t), from, began.Add(time.Second), []byte(frame)))
}

func TestACaptureIsStoredAsItWasWritten(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.open(t, "whole")
	done := make(chan error, 1)
	go func() { done <- c.Run(minute(t)) }()
	large := strings.Repeat("x", 3<<20)
	write(t, c, schema.FromClient, `{"id":0}`)
	write(t, c, schema.FromAgent, "caf\xe9\r")
	write(t, c, schema.FromStderr, "")
	write(t, c, schema.FromAgent, large)
	id, frame, err := c.Stored(minute(t))
	require.NoError(t, err)
	require.Equal(t, named("whole"), id)
	require.EqualValues(t, 5, frame)
	exit := 3
	require.NoError(t, c.Close(began.Add(time.Hour), schema.CloseInfo{ExitCode: &exit}))
	require.NoError(t, c.Close(began, schema.CloseInfo{}), "again")
	require.NoError(t, <-done)

	lines := r.stored(t, id)
	var open schema.OpenInfo
	require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(lines[0], "control:")), &open))
	require.Equal(t, "ingest", open.Tap)
	require.Equal(t, acp.Labels, open.Labels)
	require.Equal(t, []string{`client:{"id":0}`, "agent:caf\xe9\r", "stderr:", "agent:" + large, `control:{"reason":"eof","exit_code":3}`}, lines[1:])
	id, frame, err = c.Stored(minute(t))
	require.NoError(t, err, "it is known afterwards, too")
	require.Equal(t, named("whole"), id)
	require.EqualValues(t, 6, frame)

	require.ErrorIs(t, c.Write(minute(t), schema.FromAgent, began, []byte("late")), journal.ErrClosed)
	require.NoError(t, r.Recover(minute(t)), "there is nothing left")
	require.Len(t, r.stored(t, id), 6)
}

func TestFramesThatAreNone(t *testing.T) {
	t.Parallel()
	c, err := Site{Dir: t.TempDir()}.Open(named("none"), began, acp)
	require.NoError(t, err)
	for name, bad := range map[string]struct {
		from  schema.From
		frame []byte
		says  string
	}{
		"a line feed": {schema.FromAgent, []byte("{}\n"), "a line feed at byte 2"},
		"too long":    {schema.FromClient, make([]byte, MaxFrame+1), "at most 67108864 bytes"},
		"no side":     {schema.FromControl, []byte("{}"), `from "control"`},
	} {
		err := c.Write(minute(t), bad.from, began, bad.frame)
		require.ErrorIs(t, err, ErrFrame, name)
		require.ErrorContains(t, err, bad.says, name)
	}
	require.Error(t, c.Close(began, schema.CloseInfo{Exchange: "x"}))
	ended, cancel := context.WithCancel(minute(t))
	cancel()
	c.turn <- struct{}{} // somebody else writes
	require.ErrorIs(t, c.Write(ended, schema.FromAgent, began, nil), context.Canceled)
	<-c.turn
	require.NoError(t, c.Close(began, schema.CloseInfo{}))
	require.NoError(t, c.Run(minute(t)), "without a connection it only makes the journal durable")
	_, _, err = c.Stored(minute(t))
	require.ErrorIs(t, err, ErrUnpublished)
}

func TestCapturesThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	s := natstest.StartWith(t, natstest.Options{Bare: true})
	file := t.TempDir() + "/file"
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, bad := range []struct {
		site Site
		id   schema.Identity
		acp  schema.OpenInfo
		says string
	}{
		{Site{}, named("r"), acp, "no directory"},
		{Site{Dir: t.TempDir(), Conn: s.NC}, named("r"), acp, "without a destination"},
		{Site{Dir: t.TempDir(), Destination: "nats://x"}, named("r"), acp, "without a connection"},
		{Site{Dir: file}, named("r"), acp, "not a directory"},
		{Site{Dir: t.TempDir()}, named("a.b"), acp, `run "a.b"`},
		{Site{Dir: t.TempDir()}, named("r"), schema.OpenInfo{}, `protocol "": want "acp"`},
		{Site{Dir: t.TempDir()}, named("r"), schema.OpenInfo{Protocol: schema.A2A}, `protocol "a2a": want "acp"`},
	} {
		_, err := bad.site.Open(bad.id, began, bad.acp)
		require.ErrorContains(t, err, bad.says)
	}
	require.ErrorIs(t, Site{Dir: t.TempDir()}.Recover(minute(t)), ErrUnpublished)
	require.Error(t, Site{}.Recover(minute(t)))
}

// Cut off and begun anew, Run stores each frame once.
func TestRunIsBegunAnew(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.open(t, "anew")
	want := []string(nil)
	for i := range 3 {
		frame := fmt.Sprint("frame ", i)
		write(t, c, schema.FromAgent, frame)
		want = append(want, "agent:"+frame)
		end := running(t, c)
		require.Eventually(t, func() bool { // that Run may not have begun yet
			_, n, err := c.Stored(minute(t))
			return err == nil && n == uint64(i+2)
		}, time.Minute, time.Millisecond)
		err := end()
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "what is not stored waits in "+c.Journal())
	}
	write(t, c, schema.FromAgent, "unseen")
	_, _, err := c.Stored(minute(t))
	require.ErrorIs(t, err, ErrUnpublished)
	require.ErrorContains(t, err, "Run has ended")
	require.NoError(t, c.Close(began, schema.CloseInfo{Reason: "enough"}))
	require.NoError(t, c.Run(minute(t)))
	require.Equal(t, append(want, "agent:unseen", `control:{"reason":"enough"}`), r.stored(t, named("anew"))[1:])
}

// What a program that died has left is published by the next one.
func TestRecover(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dead, alive, elsewhere := r.open(t, "dead"), r.open(t, "alive"), r.Site
	write(t, dead, schema.FromAgent, "last words")
	require.NoError(t, dead.journal.Close()) // as the system does for a process that is killed
	elsewhere.Destination = "nats://192.0.2.1"
	other, err := elsewhere.Open(named("other"), began, acp)
	require.NoError(t, err)
	require.NoError(t, other.journal.Close())
	require.NoError(t, r.Recover(minute(t)))
	require.Equal(t, []string{"agent:last words", `control:{"reason":"writer died"}`}, r.stored(t, named("dead"))[1:])
	require.Empty(t, r.stored(t, named("alive")))
	require.Empty(t, r.stored(t, named("other")), "it goes elsewhere")

	require.NoError(t, os.WriteFile(dead.Journal(), []byte("rubbish"), 0o600))
	require.NoError(t, alive.journal.Close())
	err = r.Recover(minute(t))
	require.ErrorContains(t, err, dead.Journal(), "it says which")
	require.Len(t, r.stored(t, named("alive")), 2, "the others are recovered all the same")
}

// What another process has published while Recover waited for it may be deleted by then.
func TestRecoverPassesOverWhatIsGone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.open(t, "gone")
	require.NoError(t, c.journal.Close())
	release, err := journal.Claim(r.Site.Dir, c.journal.Head().ID)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- r.Recover(minute(t)) }()
	require.ErrorIs(t, <-r.retried, journal.ErrClaimed)
	require.NoError(t, os.Remove(c.Journal()))
	require.NoError(t, release())
	require.NoError(t, <-done)
	err = c.Run(minute(t))
	require.ErrorIs(t, err, os.ErrNotExist, "it does not wait for what does not come back")
}

// Two programs that name a capture alike make two captures.
func TestATakenIdentity(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for attempt := range uint32(2) {
		c, err := r.Open(schema.Identity{Namespace: "default", Workflow: "mill", Run: "twice"}, time.Time{}, acp)
		require.NoError(t, err)
		end := running(t, c)
		id, _, err := c.Stored(minute(t))
		require.NoError(t, err)
		require.Equal(t, attempt+1, id.Attempt)
		require.NoError(t, c.Close(time.Now(), schema.CloseInfo{}))
		_, _, err = c.Stored(minute(t))
		require.NoError(t, err)
		if err := end(); err != nil { // it may have been told to end before it noticed that there is no more
			require.ErrorIs(t, err, context.Canceled)
		}
	}
}

// Streams that are not there yet are waited for.
func TestRunWaitsForItsStreams(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.NoError(t, r.JS.DeleteStream(minute(t), topology.Raw))
	c := r.open(t, "early")
	write(t, c, schema.FromAgent, "hello")
	require.NoError(t, c.Close(began, schema.CloseInfo{}))
	done := make(chan error, 1)
	go func() { done <- c.Run(minute(t)) }()
	require.ErrorIs(t, <-r.retried, topology.ErrMissing)
	waiting, cancel := context.WithCancelCause(minute(t))
	enough := errors.New("enough")
	cancel(enough)
	_, _, err := c.Stored(waiting)
	require.ErrorIs(t, err, enough)
	_, err = topology.Apply(minute(t), r.JS, topology.Config{})
	require.NoError(t, err)
	require.NoError(t, <-done)
	require.Len(t, r.stored(t, named("early")), 3)
}

// A long frame for which there was no room to its end leaves what was kept of it as a frame of its own, and
// the next one whole.
func TestAFrameThatFailsInTheMiddle(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.Max = 5 << 19
	hurry, cancel := context.WithCancel(minute(t))
	r.Report = func(n journal.Notice) {
		if n.What == journal.Blocked {
			cancel()
		}
	}
	c := r.open(t, "full")
	write(t, c, schema.FromAgent, "before")
	require.ErrorIs(t, c.Write(hurry, schema.FromAgent, began, bytes.Repeat([]byte("x"), 3<<20)), journal.ErrFull)
	write(t, c, schema.FromClient, "of another side")
	write(t, c, schema.FromAgent, "behind")
	require.NoError(t, c.Close(began, schema.CloseInfo{}))
	require.NoError(t, c.Run(minute(t)))
	lines := r.stored(t, named("full"))[1:]
	require.Len(t, lines, 5)
	require.Equal(t, "agent:"+strings.Repeat("x", len(lines[2])-len("agent:")), lines[2])
	lines[2] = "what was kept"
	require.Equal(t, []string{"agent:before", "client:of another side", "what was kept", "agent:behind", `control:{"reason":"eof"}`}, lines)
}

// Many writers, long frames among them: each frame arrives whole.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.open(t, "many")
	end := running(t, c)
	var writers sync.WaitGroup
	written := make(chan error, 24)
	want := map[string]int{`control:{"reason":"eof"}`: 1}
	for i := range 8 {
		frame := strings.Repeat(string(rune('a'+i)), 1+i*300_000)
		want["agent:"+frame] = 3
		writers.Go(func() {
			for range 3 {
				written <- c.Write(t.Context(), schema.FromAgent, began, []byte(frame))
			}
		})
	}
	writers.Wait()
	for range 24 {
		require.NoError(t, <-written)
	}
	require.NoError(t, c.Close(began, schema.CloseInfo{}))
	_, n, err := c.Stored(minute(t))
	require.NoError(t, err)
	require.EqualValues(t, 26, n)
	if err := end(); err != nil { // as above
		require.ErrorIs(t, err, context.Canceled)
	}
	got := map[string]int{}
	for _, line := range r.stored(t, named("many"))[1:] {
		got[line]++
	}
	require.Equal(t, len(want), len(got))
	for line, times := range want {
		require.Equal(t, times, got[line], "%.20s", line)
	}
}
