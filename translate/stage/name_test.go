package stage_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/translate/lease"
	"github.com/steno-io/steno/translate/stage"
)

// A worker of whose name another one lives says what it waits for, once, and ends with that and nothing
// else.
func TestANameThatIsTakenEndsTheWorker(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	first, _ := run(t, leased(s.JS, "w"))
	require.Eventually(t, func() bool { _, all := served(t, first); return all == 32 }, within, 10*time.Millisecond)
	for range 3 {
		var said bytes.Buffer
		_, js := s.Connect(t)
		w, err := stage.New(stage.Options{
			JS: js, Catalogue: catalogue(), Leases: &stage.Leases{Worker: "w", TTL: time.Second}, Log: zerolog.New(&said).Level(zerolog.InfoLevel),
		})
		require.NoError(t, err)
		require.ErrorIs(t, w.Run(bounded(t)), lease.ErrName)
		require.Equal(t, 1, bytes.Count(said.Bytes(), []byte("(--name)")), said.String())
	}
}
