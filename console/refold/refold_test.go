package refold_test

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/consoletest"
	"github.com/steno-io/steno/console/refold"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
)

func source(p *consoletest.Pipeline) *refold.Source {
	stored := topology.Frames{JS: p.JS, Blobs: p.Blobs, Partitions: p.Info.Partitions}
	return &refold.Source{Stored: stored, Versions: p.Ledger, Catalogue: consoletest.Catalogue()}
}

// What is folded again is what was stored, with its numbers, and between it what never was.
func TestFoldGivesWhatIsStored(t *testing.T) {
	p := consoletest.New(t)
	talk := p.Talk("oats", "run")
	talk.Prompt("How many?")
	talk.Thought("Hm")
	talk.Chunk("Four")
	talk.Chunk("teen")
	talk.Stop("end_turn")
	talk.Close()
	p.Stored(talk.Key, consoletest.Ended)
	var typed string
	got := map[uint32][]string{}
	capture, err := source(p).Fold(t.Context(), talk.Key.Identity, func(e *schema.Event) bool {
		if e.Ephemeral {
			require.Zero(t, e.StoreSeq)
			if d, ok := e.Kind.(*schema.Delta); ok {
				typed += d.TextFragment
			}
			return true
		}
		got[e.Session] = append(got[e.Session], string(e.AppendJSON(nil)))
		return true
	})
	require.NoError(t, err)
	require.Equal(t, "Fourteen", typed)
	require.Empty(t, capture.Open().Messages)
	for session, events := range got {
		var stored []string
		for e, err := range p.Ledger.Events(t.Context(), schema.Transcript{Identity: talk.Key.Identity, Session: session}, 0, 0) {
			require.NoError(t, err)
			stored = append(stored, string(e.Bytes))
		}
		require.Equal(t, stored, events)
	}
	require.Len(t, got, 2)

	// It stops where it is told to.
	n := 0
	capture, err = source(p).Fold(t.Context(), talk.Key.Identity, func(*schema.Event) bool { n++; return false })
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.EqualValues(t, 1, capture.Frame())
}

func TestFoldSaysWhyItCannot(t *testing.T) {
	p := consoletest.New(t)
	talk := p.Talk("oats", "run")
	talk.Prompt("How many?")
	talk.Close()
	p.Stored(talk.Key, consoletest.Ended)
	all := func(*schema.Event) bool { return true }

	other := talk.Key.Identity
	other.Run = "none"
	_, err := source(p).Fold(t.Context(), other, all)
	require.ErrorIs(t, err, sink.ErrNotFound)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = source(p).Fold(ctx, talk.Key.Identity, all)
	require.ErrorIs(t, err, context.Canceled)

	stream, err := p.JS.Stream(t.Context(), topology.Raw)
	require.NoError(t, err)
	subject := schema.RawSubject(talk.Key.Identity, p.Info.Partitions)
	require.NoError(t, stream.Purge(t.Context(), jetstream.WithPurgeSubject(subject), jetstream.WithPurgeKeep(1)))
	_, err = source(p).Fold(t.Context(), talk.Key.Identity, all)
	require.ErrorIs(t, err, refold.ErrSealed)
	require.ErrorContains(t, err, talk.Key.Identity.String())
	for _, err := range source(p).Frames(t.Context(), talk.Key.Identity) {
		require.ErrorIs(t, err, refold.ErrSealed)
	}

	// No frame is left, or the last ones are not: the ledger knows how many there were.
	require.NoError(t, stream.Purge(t.Context(), jetstream.WithPurgeSubject(subject)))
	_, err = source(p).Fold(t.Context(), talk.Key.Identity, all)
	require.ErrorIs(t, err, refold.ErrLost)
	require.ErrorContains(t, err, "the last that is left is frame 0")
	n := 0
	for _, err := range source(p).Frames(t.Context(), talk.Key.Identity) {
		require.ErrorIs(t, err, refold.ErrLost)
		n++
	}
	require.Equal(t, 1, n)
}
