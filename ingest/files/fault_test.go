package files

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// A disk that fails in the middle of a file is no end of it, wherever it fails.
func TestReadErrorIsNotTheEnd(t *testing.T) {
	broken := errors.New("disk is broken")
	for name, c := range map[string]struct {
		content string
		open    func(path string, in io.Reader) source
	}{
		"capture file": {`{"from":"client","text":"a"}` + "\n" + `{"from":"agent","text":"b"}` + "\n", func(p string, in io.Reader) source { return newCapture(p, in) }},
		"lines":        {ask + "\n" + reply + "\n", func(p string, in io.Reader) source { return newLines(p, in) }},
		"export":       {`{"tool":{},"messages":[` + msg(1, toAgent) + "," + msg(2, toEditor) + `],"a":{}}`, func(p string, in io.Reader) source { return newExport(p, in) }},
	} {
		t.Run(name, func(t *testing.T) {
			whole := drain(c.open("whole", strings.NewReader(c.content)))
			require.ErrorIs(t, whole.err, io.EOF)
			require.Len(t, whole.frames, 2)
			for n := range len(c.content) + 1 {
				src := c.open("cut", io.MultiReader(strings.NewReader(c.content[:n]), iotest.ErrReader(broken)))
				got := drain(src)
				require.ErrorIs(t, got.err, broken, "after %d bytes", n)
				require.NotErrorIs(t, got.err, io.EOF)
				require.ErrorContains(t, got.err, " cut:")
				require.Equal(t, whole.frames[:len(got.frames)], got.frames)
			}
			// One byte a read is the same file.
			require.Equal(t, whole, drain(c.open("whole", iotest.OneByteReader(strings.NewReader(c.content)))))
		})
	}
}

type drained struct {
	frames []schema.Frame
	err    error
}

func drain(src source) drained {
	d := drained{frames: []schema.Frame{}}
	for {
		f, err := src.Next()
		if err != nil {
			d.err = err
			return d
		}
		d.frames = append(d.frames, f)
	}
}
