package topology_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

func TestSeekFindsEveryNumber(t *testing.T) {
	s := natstest.Start(t)
	subject := func(run string) string {
		return schema.RawSubject(schema.Identity{Namespace: "n", Workflow: "w", Run: run, Attempt: 1}, schema.Partitions)
	}
	seek := func(number uint64) (uint64, bool) {
		t.Helper()
		asked := 0
		seq, ok, err := topology.Seek(t.Context(), s.JS, topology.Raw, subject("a"), func(m topology.Message) (bool, error) {
			require.Equal(t, subject("a"), m.Subject)
			asked++
			f, err := schema.FrameFromHeader(m.Header, nil)
			return f.Seq >= number, err
		})
		require.NoError(t, err)
		require.LessOrEqual(t, asked, 9, "it reads too much")
		return seq, ok
	}
	_, ok := seek(1)
	require.False(t, ok, "nothing is stored")

	var at []uint64
	for i := range uint64(120) {
		run := "a"
		if i%7 < 4 { // runs of others between
			run = "b"
		}
		f := schema.Frame{Seq: uint64(len(at)) + 1, From: schema.FromAgent, Type: schema.TypeData, End: schema.EndLF, Data: []byte("x"),
			Salt: fmt.Sprintf("%032x", i), Writer: schema.Writer{Journal: "j", Offset: i}, Chain: fmt.Sprintf("%064x", i)}
		ack, err := s.JS.PublishMsg(context.Background(), &nats.Msg{Subject: subject(run), Header: f.Header(), Data: f.Data})
		require.NoError(t, err)
		if run == "a" {
			at = append(at, ack.Sequence)
		}
	}
	for i, want := range at {
		got, ok := seek(uint64(i) + 1)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	_, ok = seek(uint64(len(at)) + 1)
	require.False(t, ok)
}
