package headless

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

var errFull = errors.New("no room")

// tape keeps entries in their order.
type tape struct {
	mu      sync.Mutex
	entries []string
	data    map[schema.From]string
	heard   func(from schema.From, b []byte) error // before a chunk is kept; nil: nothing
	control func(typ schema.FrameType) error
}

func (j *tape) Append(ctx context.Context, from schema.From, _ time.Time, b []byte) error {
	if j.heard != nil {
		if err := j.heard(from, b); errors.Is(err, errFull) {
			<-ctx.Done() // as a journal that is full
			return context.Cause(ctx)
		} else if err != nil {
			return err
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.data == nil {
		j.data = map[schema.From]string{}
	}
	j.data[from] += string(b)
	j.entries = append(j.entries, string(from)+" "+string(b))
	return nil
}

func (j *tape) Control(_ context.Context, typ schema.FrameType, _ time.Time, info any) error {
	if j.control != nil {
		if err := j.control(typ); err != nil {
			return err
		}
	}
	b, err := json.Marshal(info)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, string(typ)+" "+string(b))
	return nil
}

// at is the place of the first entry that begins with from and holds a part; -1 if there is none.
func (j *tape) at(from, part string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, e := range j.entries {
		if strings.HasPrefix(e, from+" ") && strings.Contains(e, part) {
			return i
		}
	}
	return -1
}

// play is a script that has a session and awaits the prompt, then goes on with the steps.
func play(steps ...string) []string {
	return append([]string{
		"await initialize", `answer {"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}`,
		"await session/new", `answer {"sessionId":"s-1"}`,
		"await session/prompt",
	}, steps...)
}

// ended is play with a turn that ends as it should.
func ended(steps ...string) []string {
	// What was awaited last is the prompt, whatever was asked meanwhile.
	return append(play(steps...), `answer {"stopReason":"end_turn"}`)
}

// options of a run with an agent that plays a script.
func options(t *testing.T, script []string) Options {
	t.Helper()
	none, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, none.Close()) })
	return Options{
		Command: append([]string{os.Args[0]}, script...), Env: append(os.Environ(), asAgent+"=1"),
		Cwd: t.TempDir(), Stderr: none, Version: "test",
		Prompt: "How many sacks?", Permissions: Permissions{Policy: Deny}, Journal: &tape{},
		Grace: 20 * time.Second, Cancel: 20 * time.Second,
	}
}

// try runs, and fails a test whose run hangs.
func try(t *testing.T, o Options) (Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := Run(ctx, o)
	require.NoError(t, ctx.Err(), "the run hangs")
	return r, err
}

func kept(o Options) *tape { return o.Journal.(*tape) }

// write makes a file in the run's directory.
func write(t *testing.T, o Options, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(o.Cwd, name), []byte(text), 0o600))
}
