package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// childEnv makes the test binary a writer in a process of its own.
const childEnv = "STENO_TEST_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := child(dir, os.Args[1:]); err != nil {
			fmt.Println("error:", err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child writes numbered entries until it is killed or an append fails. It prints the journal's path
// and then each number once its append has returned. args: policy, file size limit (0: none), count.
func child(dir string, args []string) error {
	limit, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return err
	}
	count, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	w, err := Create(Options{Dir: dir, Head: testHead(), WhenFull: WhenFull(args[0])})
	if err != nil {
		return err
	}
	if limit > 0 {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ) // the write fails instead
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
	}
	fmt.Println(w.Path())
	for i := 0; i < count; i++ {
		if err := w.Append(context.Background(), schema.FromAgent, time.Now(), numbered(i)); err != nil {
			return errors.Join(err, w.Close())
		}
		fmt.Println(i)
	}
	return w.Close()
}

// numbered is the data of entry i, of different lengths.
func numbered(i int) []byte {
	b := append(strconv.AppendInt(nil, int64(i), 10), ' ')
	for len(b) < 10+i*37%5000 {
		b = append(b, byte('a'+i%26))
	}
	return b
}

func testHead() Head {
	return Head{
		Identity: schema.Identity{Namespace: "default", Workflow: "w", Run: "r", Activity: 0, Attempt: 1},
		Open:     schema.OpenInfo{Protocol: schema.ACP, Tap: "record", Command: []string{"agent", "--acp"}},
	}
}

func create(t testing.TB, o Options) *Writer {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Head.Identity == (schema.Identity{}) {
		o.Head = testHead()
	}
	w, err := Create(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w
}

func open(t testing.TB, path string) *Reader {
	t.Helper()
	r, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// readAll reads a journal whose writer has ended, checks that offsets rise and name the bytes in the
// file, and gives copies.
func readAll(t testing.TB, r *Reader) (list []Entry) {
	t.Helper()
	whole, err := os.ReadFile(r.path)
	require.NoError(t, err)
	last := r.Start()
	for {
		e, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return list
		}
		require.NoError(t, err)
		if e.Lost == 0 {
			require.Greater(t, e.Offset, last)
			require.Equal(t, string(whole[e.Offset:e.End()]), string(e.Data))
		} else {
			require.Equal(t, last, e.Offset)
		}
		require.Equal(t, r.End(), e.End())
		last = e.End()
		e.Data = append([]byte(nil), e.Data...)
		list = append(list, e)
	}
}

// fixture writes a journal with n numbered entries and a close, and gives its path and bytes.
func fixture(t testing.TB, n int) (path string, whole []byte) {
	t.Helper()
	w, err := Create(Options{Dir: t.TempDir(), Head: testHead()})
	require.NoError(t, err)
	for i := 0; i < n; i++ {
		from := []schema.From{schema.FromClient, schema.FromAgent, schema.FromStderr}[i%3]
		require.NoError(t, w.Append(t.Context(), from, time.Unix(1, int64(i)), numbered(i)[:10]))
	}
	require.NoError(t, w.Control(t.Context(), schema.TypeClose, time.Unix(2, 0), schema.CloseInfo{Reason: schema.ReasonEOF}))
	require.NoError(t, w.Close())
	whole, err = os.ReadFile(w.Path())
	require.NoError(t, err)
	return w.Path(), whole
}

// written puts bytes into a file as a journal would stand there.
func written(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x"+suffix)
	require.NoError(t, os.WriteFile(path, b, 0o600))
	return path
}
