package journal

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/alloctest"
)

// What a tap does between reading a piece and passing it on, and what follows it.
func TestAllocations(t *testing.T) {
	const n = 200
	w, err := Create(Options{Dir: t.TempDir(), Head: testHead()})
	require.NoError(t, err)
	data, at := bytes.Repeat([]byte("x"), 200), time.Now()
	alloctest.Check(t, alloctest.Row{What: "append a piece", Most: 1, Each: n, Run: func() {
		for range n {
			if err := w.Append(t.Context(), schema.FromAgent, at, data); err != nil {
				panic(err)
			}
		}
	}})
	r, err := Open(w.Path())
	require.NoError(t, err)
	alloctest.Check(t, alloctest.Row{What: "read a piece", Most: 0, Each: n / 2, Run: func() {
		for range n / 2 {
			if _, err := r.Next(t.Context()); err != nil {
				panic(err)
			}
		}
	}})
	require.NoError(t, r.Close())
	require.NoError(t, w.Close())
}
