package schema_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/alloctest"
)

func TestAllocations(t *testing.T) {
	const n = 100
	event := schema.Event{
		Transcript: schema.Transcript{Identity: schema.Identity{Namespace: "default", Workflow: "w", Run: "r", Attempt: 1}, Session: 1},
		AgentRole:  "agent", EmittedAt: time.Unix(1700000000, 5).UTC(), WorkerSeq: 17,
		Source: schema.Source{Protocol: schema.ACP, Dialect: "1", SessionID: "s", Translator: "acp/1"},
		Frames: []schema.Range{{12, 16}, {17, 17}}, Flags: []schema.Flag{schema.FlagLate},
	}
	message, delta := event, event
	message.Kind = &schema.Message{Role: schema.Assistant, Text: strings.Repeat("all the world's a stage ", 20), MessageID: "m", Channel: schema.Answer, Boundary: schema.BoundaryTurnEnd}
	delta.Kind = &schema.Delta{MessageID: "m", Index: 4, TextFragment: " the whole answer"}
	f := schema.Frame{
		Seq: 17, At: time.Unix(1700000000, 5).UTC(), From: schema.FromAgent, Type: schema.TypeData, End: schema.EndLF,
		Salt: strings.Repeat("5a", 16), Data: []byte(strings.Repeat("x", 200)), Writer: schema.Writer{Journal: "j", Offset: 1234},
	}
	previous := strings.Repeat("c", 64)
	chain, err := schema.ChainHash(previous, &f)
	require.NoError(t, err)
	f.Chain = chain
	header := f.Header()
	stored := message.AppendJSON(nil)
	record := schema.Record{
		Last: event.Origin(), First: map[uint32]uint64{1: 7}, Chain: chain, Translator: "acp/1",
		Open: map[uint32]uint64{1: 3}, Events: [][]byte{stored},
	}
	recordHeader, err := record.Header()
	require.NoError(t, err)

	var buffer []byte
	times := func(do func()) func() {
		return func() {
			for range n {
				do()
			}
		}
	}
	alloctest.Check(t,
		alloctest.Row{What: "encode a message", Most: 1, Each: n, Run: times(func() { buffer = message.AppendJSON(buffer[:0]) })},
		alloctest.Row{What: "encode a delta", Most: 1, Each: n, Run: times(func() { buffer = delta.AppendJSON(buffer[:0]) })},
		alloctest.Row{What: "decode a message", Most: 37, Each: n, Run: times(func() {
			if _, err := schema.DecodeEvent(stored); err != nil {
				panic(err)
			}
		})},
		alloctest.Row{What: "put a number into a stored event", Most: 1, Each: n, Run: times(func() {
			if _, err := schema.WithStoreSeq(stored, 17); err != nil {
				panic(err)
			}
		})},
		alloctest.Row{What: "write a frame's headers", Most: 9, Each: n, Run: times(func() { f.Header() })},
		alloctest.Row{What: "read a frame's headers", Most: 1, Each: n, Run: times(func() {
			if _, err := schema.FrameFromHeader(header, f.Data); err != nil {
				panic(err)
			}
		})},
		alloctest.Row{What: "hash a frame's chain", Most: 2, Each: n, Run: times(func() {
			if _, err := schema.ChainHash(previous, &f); err != nil {
				panic(err)
			}
		})},
		alloctest.Row{What: "write a record's headers", Most: 18, Each: n, Run: times(func() {
			if _, err := record.Header(); err != nil {
				panic(err)
			}
		})},
		alloctest.Row{What: "read a record's headers", Most: 6, Each: n, Run: times(func() {
			if _, err := schema.RecordFromHeader(recordHeader); err != nil {
				panic(err)
			}
		})},
	)
}
