package journal

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
)

func drawLane(t *rapid.T) Lane {
	if rapid.Bool().Draw(t, "connection") {
		return Lane{}
	}
	return Lane{
		Exchange: uuid.NewSHA1(uuid.Nil, []byte{rapid.Byte().Draw(t, "exchange")}),
		Chan:     rapid.SampledFrom(chans).Draw(t, "chan"),
		Served:   rapid.Bool().Draw(t, "served"),
	}
}

// A chunk is cut where its entry would pass the bound, the exchange's id included, and no byte is lost.
func TestAChunkOfAnExchangeIsCutAtTheBound(t *testing.T) {
	lane := Lane{Exchange: uuid.New(), Chan: schema.ChanResponse}
	w := create(t, Options{Dir: t.TempDir()})
	chunk := bytes.Repeat([]byte("0123456789"), MaxData/10+1)
	require.NoError(t, w.AppendTo(t.Context(), lane, schema.FromAgent, time.Now(), chunk))
	require.NoError(t, w.Close())
	var got []byte
	end := uint64(0)
	for i, e := range readAll(t, open(t, w.Path())) {
		require.Equal(t, lane, e.Lane)
		require.Less(t, e.Start()+entryHead, e.Offset)
		if i > 0 {
			require.Equal(t, end, e.Start())
		}
		end = e.End()
		got = append(got, e.Data...)
	}
	require.Equal(t, chunk, got)
}

func TestAPlaceNeedsAnExchange(t *testing.T) {
	w := create(t, Options{Dir: t.TempDir()})
	require.ErrorContains(t, w.AppendTo(t.Context(), Lane{Chan: schema.ChanPush}, schema.FromAgent, time.Now(), []byte("x")), "without the exchange")
	require.NoError(t, w.Close())
}

// What is not kept is counted for each exchange apart: each has a conversation of its own.
func TestGapsAreCountedByExchange(t *testing.T) {
	dir := t.TempDir()
	w := create(t, Options{Dir: dir, Max: smallBound, WhenFull: Pass})
	filler(t, dir, smallBound)
	one, other := Lane{Exchange: uuid.New(), Chan: schema.ChanStream}, Lane{Exchange: uuid.New(), Chan: schema.ChanStream}
	for range 3 {
		require.NoError(t, w.AppendTo(t.Context(), one, schema.FromAgent, time.Now(), make([]byte, 100)))
		require.NoError(t, w.AppendTo(t.Context(), other, schema.FromAgent, time.Now(), make([]byte, 10)))
	}
	require.NoError(t, w.ControlTo(t.Context(), one, schema.TypeClose, time.Now(), schema.CloseInfo{Reason: schema.ReasonEOF}))
	require.NoError(t, w.Close())
	bytes := map[uuid.UUID]uint64{}
	closes := 0
	for _, e := range readAll(t, open(t, w.Path())) {
		if e.Type == schema.TypeClose {
			closes++
			require.Equal(t, one, e.Lane)
			continue
		}
		var g schema.GapInfo
		require.NoError(t, json.Unmarshal(e.Data, &g))
		bytes[e.Exchange] += g.Bytes
	}
	require.Equal(t, map[uuid.UUID]uint64{one.Exchange: 300, other.Exchange: 30}, bytes)
	require.Equal(t, 1, closes)
}

// Each exchange has word of its gap at once: a writer that is killed in it has said it for all.
func TestEachExchangeHasWordOfItsGapAtOnce(t *testing.T) {
	dir := t.TempDir()
	w := create(t, Options{Dir: dir, Max: smallBound, WhenFull: Pass})
	filler(t, dir, smallBound)
	for n := range 3 {
		lane := Lane{Exchange: uuid.NewSHA1(uuid.Nil, []byte{byte(n)}), Chan: schema.ChanStream}
		require.NoError(t, w.AppendTo(t.Context(), lane, schema.FromAgent, time.Now(), make([]byte, 100)))
		require.NoError(t, w.AppendTo(t.Context(), lane, schema.FromAgent, time.Now(), make([]byte, 100)))
	}
	seen := map[uuid.UUID]bool{}
	for _, e := range readAll(t, copyOf(t, w.Path())) {
		require.Equal(t, schema.TypeGap, e.Type)
		seen[e.Exchange] = true
	}
	require.Len(t, seen, 3)
	require.NoError(t, w.Close())
}

// What cannot be an entry fails alone: others write to the same journal.
func TestWhatCannotBeAnEntryFailsAlone(t *testing.T) {
	for _, policy := range []WhenFull{Block, Pass} {
		w := create(t, Options{Dir: t.TempDir(), WhenFull: policy})
		lane := Lane{Exchange: uuid.New(), Chan: schema.ChanRequest}
		require.ErrorIs(t, w.ControlTo(t.Context(), lane, schema.TypeHTTP, time.Now(), make([]byte, MaxData)), ErrEntry)
		require.ErrorIs(t, w.ControlTo(t.Context(), lane, schema.TypeClose, time.Now(), make([]byte, MaxData)), ErrEntry)
		require.NoError(t, w.AppendTo(t.Context(), lane, schema.FromClient, time.Now(), []byte("x")))
		require.NoError(t, w.Close())
		require.Len(t, readAll(t, open(t, w.Path())), 1)
	}
}
