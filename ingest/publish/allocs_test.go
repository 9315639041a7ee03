package publish

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/alloctest"
)

// What becomes of a journal's bytes before they are on their way.
func TestAllocations(t *testing.T) {
	const lines = 16
	chunk := bytes.Repeat(append(bytes.Repeat([]byte{'x'}, 255), '\n'), lines)
	cutter := NewCutter(newTape("j").head)
	e := journal.Entry{From: schema.FromAgent, Type: schema.TypeData, At: began, Data: chunk, Offset: start}
	var cut []schema.Frame

	a, err := NewAppender(AppenderOptions{
		Identity: capture, Partitions: schema.Partitions, Journal: "j", Head: &Head{Frames: 1, Sequence: 1, Chain: strings.Repeat("c", 64)},
	})
	require.NoError(t, err)
	one, many := frames(1), frames(100)
	message := func(frames []schema.Frame) func() {
		return func() {
			if _, _, err := a.messages(t.Context(), frames); err != nil {
				panic(err)
			}
		}
	}
	alloctest.Check(t,
		alloctest.Row{What: "cut a frame of a line", Most: 0.1, Each: lines, Run: func() {
			e.Offset += uint64(len(chunk)) + entryGap
			var err error
			if cut, err = cutter.Cut(cut[:0], e); err != nil {
				panic(err)
			}
		}},
		alloctest.Row{What: "make the message of a frame that goes alone", Most: 14, Run: message(one)},
		alloctest.Row{What: "make the message of a frame in a batch", Most: 10.2, Each: len(many), Run: message(many)},
	)
}
