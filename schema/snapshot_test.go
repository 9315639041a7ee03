package schema_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

func TestSnapshotComesBack(t *testing.T) {
	id := schema.Identity{Namespace: "n", Workflow: "w", Run: "r", Activity: 3, Attempt: 1}
	s := schema.Snapshot{
		Frame: 12, StreamSeq: 40, Created: time.Unix(1700000000, 5).UTC(), Chain: "c12", Last: schema.Origin{Frame: 11, Part: 2},
		LastChain: "c11", Translator: "acp/1", Held: 2, State: []byte("state"),
	}
	first := s
	first.Last, first.LastChain, first.Held = schema.Origin{}, "", 0
	for _, want := range []schema.Snapshot{s, first} {
		h := want.Header(id)
		got, err := schema.DecodeSnapshot(id, h, want.State)
		require.NoError(t, err)
		require.Equal(t, want, got)

		listed, err := schema.SnapshotFromHeader(h)
		require.NoError(t, err)
		want.State = nil
		require.Equal(t, want, listed)
	}
}

// TestDamagedSnapshot flips each bit of the state and changes, doubles and removes each header.
func TestDamagedSnapshot(t *testing.T) {
	id := schema.Identity{Namespace: "n", Workflow: "w", Run: "r", Attempt: 1}
	s := schema.Snapshot{Frame: 12, StreamSeq: 40, Created: time.Unix(1700000000, 0).UTC(), Chain: "c12",
		Last: schema.Origin{Frame: 11}, LastChain: "c11", Translator: "acp/1", State: []byte("state")}
	refused := func(id schema.Identity, h map[string][]string, state []byte) {
		t.Helper()
		_, err := schema.DecodeSnapshot(id, h, state)
		require.ErrorIs(t, err, schema.ErrSnapshot)
	}
	for i := range len(s.State) * 8 {
		state := []byte("state")
		state[i/8] ^= 1 << (i % 8)
		refused(id, s.Header(id), state)
	}
	refused(id, s.Header(id), s.State[1:])
	other := id
	other.Attempt = 2
	refused(other, s.Header(id), s.State)
	for name, value := range s.Header(id) {
		h := s.Header(id)
		delete(h, name)
		refused(id, h, s.State)
		h[name] = []string{value[0], value[0]}
		refused(id, h, s.State)
		h[name] = []string{value[0] + "1"}
		refused(id, h, s.State)
		h[name] = []string{"1"}
		refused(id, h, s.State)
	}
	h := s.Header(id)
	h["Steno-New"] = []string{"1"}
	refused(id, h, s.State)
}
